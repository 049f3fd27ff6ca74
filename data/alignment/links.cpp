#include "data/alignment/links.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>

#include "base/bytes.h"
#include "base/error.h"
#include "base/formatted_text.h"
#include "data/alignment/words.h"

namespace dragoman {

namespace {

WordLink parse_link(std::string_view text) {
  const std::size_t dash = std::min(text.find('-'), text.size());
  const auto source = number_from<std::int64_t>(text.substr(0, dash));
  const auto target = number_from<std::int64_t>(text.substr(std::min(dash + 1, text.size())));
  if (!source || !target || *target < 0)
    throw Error("'", text, "' is not a pair of word numbers like 0-2");
  return {*source, *target};
}

void sort_links(std::vector<WordLink>& links) {
  std::ranges::sort(links);
  links.erase(std::unique(links.begin(), links.end()), links.end());
}

/// The intersection, which grows.
class GrowingLinks {
 public:
  explicit GrowingLinks(const std::vector<WordLink>& links) {
    for (const WordLink& link : links) add(link);
  }

  /// Adds neighbours of links, diagonal ones too, that are among `candidates` and link a word that
  /// has no link yet, until there are no more. Links are visited in order, new ones in the next
  /// round.
  void grow(const std::set<WordLink>& candidates) {
    std::vector<WordLink> visited(links_.begin(), links_.end());
    while (!visited.empty()) {
      std::vector<WordLink> added;
      for (const WordLink& link : visited)
        for (const auto& [down, right] : kNeighbours) {
          const WordLink next{link.source + down, link.target + right};
          if (!candidates.contains(next) || (has_source(next) && has_target(next))) continue;
          add(next);
          added.push_back(next);
        }
      visited = std::move(added);
    }
  }

  /// Adds the links whose words both have no link.
  void add_free(const std::vector<WordLink>& candidates) {
    for (const WordLink& link : candidates)
      if (!has_source(link) && !has_target(link)) add(link);
  }

  std::vector<WordLink> sorted() const { return {links_.begin(), links_.end()}; }

 private:
  static constexpr std::array<WordLink, 8> kNeighbours = {
      WordLink{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}};

  void add(const WordLink& link) {
    links_.insert(link);
    sources_.insert(link.source);
    targets_.insert(link.target);
  }
  bool has_source(const WordLink& link) const { return sources_.contains(link.source); }
  bool has_target(const WordLink& link) const { return targets_.contains(link.target); }

  std::set<WordLink> links_;
  std::set<std::int64_t> sources_, targets_;
};

}  // namespace

std::vector<WordLink> parse_links(std::string_view line) {
  std::vector<WordLink> links;
  for (const ByteRange& word : word_places(line)) links.push_back(parse_link(word.of(line)));
  return links;
}

std::string pharaoh_text(std::span<const WordLink> links) {
  return joined(links, " ", [](const WordLink& link) {
    return std::to_string(link.source) + "-" + std::to_string(link.target);
  });
}

std::vector<WordLink> symmetrised(std::vector<WordLink> forward, std::vector<WordLink> backward,
                                  Symmetrization how) {
  sort_links(forward);
  sort_links(backward);
  if (how == Symmetrization::Forward) return forward;
  if (how == Symmetrization::Backward) return backward;
  std::vector<WordLink> result;
  if (how == Symmetrization::Union) {
    std::ranges::set_union(forward, backward, std::back_inserter(result));
    return result;
  }
  std::ranges::set_intersection(forward, backward, std::back_inserter(result));
  if (how == Symmetrization::Intersection) return result;
  GrowingLinks links(result);
  std::set<WordLink> candidates(forward.begin(), forward.end());
  candidates.insert(backward.begin(), backward.end());
  links.grow(candidates);
  if (how == Symmetrization::GrowDiagFinalAnd) {
    links.add_free(forward);
    links.add_free(backward);
  }
  return links.sorted();
}

}  // namespace dragoman
