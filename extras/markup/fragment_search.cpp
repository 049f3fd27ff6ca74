#include "extras/markup/fragment_search.h"

#include <algorithm>
#include <utility>

namespace dragoman {

FragmentSearch::FragmentSearch(std::string_view text, const std::vector<WordFragment>& fragments,
                               std::vector<std::size_t> places)
    : text_(text), fragments_(fragments), sorted_(std::move(places)) {
  std::ranges::sort(sorted_, {}, [this](std::size_t place) { return text_at(place, kCompared); });
}

std::string_view FragmentSearch::text_at(std::size_t place, std::size_t size) const {
  return text_.substr(fragments_[place].place.begin, size);
}

std::vector<std::size_t> FragmentSearch::places_of(std::string_view wanted) const {
  const std::string_view first = wanted.substr(0, kCompared);
  const auto found = std::ranges::equal_range(
      sorted_, first, {}, [&](std::size_t place) { return text_at(place, first.size()); });
  std::vector<std::size_t> places(found.begin(), found.end());
  std::erase_if(places, [&](std::size_t place) { return text_at(place, wanted.size()) != wanted; });
  std::ranges::sort(places);
  return places;
}

}  // namespace dragoman
