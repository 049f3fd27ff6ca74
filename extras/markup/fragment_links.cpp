#include "extras/markup/fragment_links.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/utf8.h"

namespace dragoman {

// ---- fragments ----------------------------------------------------------------------------------

namespace {

/// The most fragments of a word; further characters belong to its last one. A line of signs is one
/// word.
constexpr std::size_t kMostFragments = 32;

bool is_letter(char32_t code_point) {
  const char kind = general_category(code_point).front();
  return kind == 'L' || kind == 'N' || kind == 'M';
}

/// Characters of one kind make up a fragment.
enum class CharacterKind { Letter, Digit, Alone };

CharacterKind kind_of(char32_t code_point) {
  const char category = general_category(code_point).front();
  if (category == 'N') return CharacterKind::Digit;
  return category == 'L' && !is_unspaced(code_point) ? CharacterKind::Letter : CharacterKind::Alone;
}

}  // namespace

std::vector<WordFragment> fragments_of(std::string_view text, std::span<const ByteRange> words,
                                       std::span<const std::size_t> cuts) {
  std::vector<WordFragment> fragments;
  for (std::size_t w = 0; w < words.size(); ++w) {
    CharacterKind last = CharacterKind::Alone;
    const std::size_t first = fragments.size();
    for (std::size_t offset = words[w].begin; offset < words[w].end;) {
      const std::size_t begin = offset;
      const char32_t code_point = next_code_point(text, offset);
      const bool is_mark = general_category(code_point).front() == 'M';  // of the character before
      const CharacterKind kind = is_mark ? last : kind_of(code_point);
      const bool continues = is_mark || (kind == last && kind != CharacterKind::Alone);
      const bool is_cut = std::ranges::binary_search(cuts, begin);
      const std::size_t number = fragments.size() - first;
      if (number == 0 || ((!continues || is_cut) && number < kMostFragments))
        fragments.push_back(
            {.place = {begin, begin}, .word = w, .has_letters = is_letter(code_point)});
      fragments.back().place.end = offset;
      last = kind;
    }
  }
  return fragments;
}

// ---- links --------------------------------------------------------------------------------------

namespace {

constexpr double kLeastInside = 0.1;
/// The affinity of equal fragments; it outweighs all others of a word without blanks.
constexpr double kSame = 32;

/// The words of a translation; without an alignment those between white space, linked by their
/// place in the text.
AlignedText with_links(const AlignedText& translation, std::size_t source_words) {
  if (!translation.words.empty() || source_words == 0) return translation;
  AlignedText linked;
  const std::vector<ByteRange> words = words_between_spaces(translation.text);
  for (std::size_t w = 0; w < words.size(); ++w)
    linked.words.push_back(
        {.place = words[w], .links = {{(2 * w + 1) * source_words / (2 * words.size()), 1}}});
  return linked;
}

/// The fraction of a fragment that lies in a range.
double fraction_in(const ByteRange& fragment, const ByteRange& range) {
  const std::size_t begin = std::max(fragment.begin, range.begin);
  const std::size_t end = std::min(fragment.end, range.end);
  return end <= begin ? 0 : static_cast<double>(end - begin) / static_cast<double>(fragment.size());
}

}  // namespace

FragmentLinks::FragmentLinks(std::string_view source, const AlignedText& translation,
                             const Cuts& cuts)
    : source_text_(source), target_text_(translation.text) {
  const std::vector<ByteRange> source_words = words_between_spaces(source);
  source_ = fragments_of(source, source_words, cuts.source);
  const AlignedText linked = with_links(translation, source_words.size());
  std::vector<ByteRange> target_words;
  for (const AlignedWord& word : linked.words) target_words.push_back(word.place);
  target_ = fragments_of(translation.text, target_words, cuts.target);
  for (std::size_t s = 0; s < source_.size(); ++s)
    if (source_[s].word == first_of_word_.size()) first_of_word_.push_back(s);
  first_of_word_.push_back(source_.size());
  targets_.resize(source_.size());
  weights_.resize(target_.size());
  for (std::size_t t = 0; t < target_.size(); ++t)
    for (const SourceLink& word : linked.words[target_[t].word].links)
      if (word.source_word + 1 < first_of_word_.size()) link(t, word);
}

double FragmentLinks::affinity(const WordFragment& target, const WordFragment& source) const {
  if (target.place.of(target_text_) == source.place.of(source_text_)) return kSame;
  if (target.has_letters != source.has_letters) return 0;
  return target.has_letters ? 1 : 0.25;
}

void FragmentLinks::link(std::size_t target_fragment, const SourceLink& word) {
  const std::size_t begin = first_of_word_[word.source_word];
  const std::size_t end = first_of_word_[word.source_word + 1];
  double sum = 0;
  for (std::size_t s = begin; s < end; ++s) sum += affinity(target_[target_fragment], source_[s]);
  if (sum <= 0) return;
  weights_[target_fragment] += word.weight;
  for (std::size_t s = begin; s < end; ++s)
    if (const double own = affinity(target_[target_fragment], source_[s]); own > 0)
      targets_[s].push_back({target_fragment, word.weight * own / sum});
}

std::optional<FragmentLinks::Stretch> FragmentLinks::best_stretch(
    const ByteRange& text, const std::vector<std::size_t>& owners, std::size_t owner) const {
  std::map<std::size_t, double> inside;  // of target fragments
  const auto ends_before = [](const WordFragment& fragment, std::size_t begin) {
    return fragment.place.end <= begin;
  };
  for (auto s = std::lower_bound(source_.begin(), source_.end(), text.begin, ends_before);
       s != source_.end() && s->place.begin < text.end; ++s)
    for (const Link& link : targets_[static_cast<std::size_t>(s - source_.begin())])
      if (owners[link.fragment] == owner)
        inside[link.fragment] += link.weight * fraction_in(s->place, text);
  if (inside.empty()) return std::nullopt;

  std::optional<Stretch> best;
  Stretch run{.begin = 0, .end = 0, .gain = 0};
  for (std::size_t t = inside.begin()->first; t <= inside.rbegin()->first; ++t) {
    if (run.gain <= 0 || owners[t] != owner) run = {.begin = t, .end = t, .gain = 0};
    if (owners[t] != owner) continue;
    const auto found = inside.find(t);
    run.gain += (found == inside.end() ? 0 : 2 * found->second) - weights_[t];
    run.end = t + 1;
    if (run.gain > 0 && (!best || run.gain > best->gain)) best = run;
  }
  if (best) return best;
  const auto most =
      std::ranges::max_element(inside, {}, [](const auto& fragment) { return fragment.second; });
  if (most->second < kLeastInside) return std::nullopt;
  return Stretch{.begin = most->first, .end = most->first + 1, .gain = 0};
}

std::optional<std::size_t> FragmentLinks::best_target(std::size_t source_fragment) const {
  const std::vector<Link>& links = targets_[source_fragment];
  const auto best = std::ranges::max_element(links, {}, &Link::weight);
  if (best == links.end()) return std::nullopt;
  return best->fragment;
}

// ---- search -------------------------------------------------------------------------------------

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
