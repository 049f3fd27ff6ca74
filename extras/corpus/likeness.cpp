#include "extras/corpus/likeness.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include "base/bytes.h"
#include "base/error.h"
#include "base/random.h"
#include "base/threads.h"
#include "base/unicode.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

void sort_unique(std::vector<std::uint64_t>& hashes) {
  std::ranges::sort(hashes);
  hashes.erase(std::ranges::unique(hashes).begin(), hashes.end());
}

}  // namespace

LetterGroups letter_groups(std::string_view line) {
  std::u32string letters = code_points(letters_and_digits(line));
  std::erase_if(letters, [](char32_t c) {
    return c < 0x80 ? c >= '0' && c <= '9' : general_category(c)[0] == 'N';
  });
  LetterGroups found;
  found.text = letters.empty() ? xxh3(folded(line))
                               : xxh3(letters.data(), letters.size() * sizeof letters[0]);
  constexpr std::size_t kLetters = 3;
  constexpr int kBits = 21;  // of a code point
  for (std::size_t i = 0; i + kLetters <= letters.size(); ++i)
    found.groups.push_back(mix64(std::uint64_t{letters[i]} << (2 * kBits) |
                                 std::uint64_t{letters[i + 1]} << kBits | letters[i + 2]));
  sort_unique(found.groups);
  return found;
}

LetterGroups of_both(const LetterGroups& source, const LetterGroups& target) {
  LetterGroups both{.text = mix64(source.text) ^ target.text, .groups = source.groups};
  for (const std::uint64_t group : target.groups) both.groups.push_back(mix64(~group));
  sort_unique(both.groups);
  return both;
}

double likeness(const LetterGroups& a, const LetterGroups& b) {
  std::size_t shared = 0;
  for (auto i = a.groups.begin(), j = b.groups.begin();
       i != a.groups.end() && j != b.groups.end();) {
    shared += *i == *j ? 1 : 0;
    const bool steps_first = *i <= *j, steps_second = *j <= *i;
    i += steps_first ? 1 : 0;
    j += steps_second ? 1 : 0;
  }
  const std::size_t all = a.groups.size() + b.groups.size() - shared;
  return all == 0 ? 0 : static_cast<double>(shared) / static_cast<double>(all);
}

LikenessSketch sketch_of(const LetterGroups& groups) {
  constexpr std::size_t kValues = LikenessSketch::kBands * LikenessSketch::kRows;
  constexpr std::size_t kFewGroups = 20;
  LikenessSketch sketch{.text = groups.text, .is_long = groups.groups.size() >= kFewGroups};
  if (!sketch.is_long) return sketch;
  constexpr auto kNone = std::numeric_limits<std::uint64_t>::max();
  std::array<std::uint64_t, kValues> least;
  least.fill(kNone);
  for (const std::uint64_t group : groups.groups) {
    std::uint64_t& value = least[group % kValues];
    value = std::min(value, group / kValues);
  }
  // A place without a group takes the value of the next place that has one.
  for (std::size_t i = 2 * kValues; i-- > 0;)
    if (std::uint64_t& value = least[i % kValues]; value == kNone)
      if (const std::uint64_t next = least[(i + 1) % kValues]; next != kNone)
        value = mix64(next + i % kValues);
  for (std::size_t band = 0; band < LikenessSketch::kBands; ++band) {
    std::uint64_t hash = band;
    for (std::size_t row = 0; row < LikenessSketch::kRows; ++row) {
      const std::uint64_t value = least[band * LikenessSketch::kRows + row];
      hash = mix64(hash ^ value);
      sketch.values[band * LikenessSketch::kRows + row] = static_cast<std::uint8_t>(mix64(value));
    }
    sketch.bands[band] = static_cast<std::uint32_t>(hash >> 32);
  }
  return sketch;
}

double estimated_likeness(const LikenessSketch& a, const LikenessSketch& b) {
  int equal = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) equal += a.values[i] == b.values[i] ? 1 : 0;
  return static_cast<double>(equal) / static_cast<double>(a.values.size());
}

// ---- among many texts ----

SimilarTexts::SimilarTexts(std::span<const LikenessSketch> sketches, int threads)
    : sketches_(sketches) {
  if (sketches.size() >= std::numeric_limits<std::uint32_t>::max())
    throw Error("more than ", std::numeric_limits<std::uint32_t>::max(),
                " lines; look at a part of the text");
  texts_.reserve(sketches.size());
  for (std::size_t i = 0; i < sketches.size(); ++i)
    texts_.emplace_back(sketches[i].text, static_cast<std::uint32_t>(i));
  std::ranges::sort(texts_);
  std::vector<std::uint32_t> first_ones;  // of each text
  for (std::size_t i = 0; i < texts_.size(); ++i)
    if ((i == 0 || texts_[i].first != texts_[i - 1].first) && sketches[texts_[i].second].is_long)
      first_ones.push_back(texts_[i].second);
  parallel_for(std::ssize(bands_), threads, [&](std::int64_t number) {
    const auto band = static_cast<std::size_t>(number);
    std::vector<Entry>& entries = bands_[band];
    entries.reserve(first_ones.size());
    for (const std::uint32_t text : first_ones)
      entries.emplace_back(sketches[text].bands[band], text);
    std::ranges::sort(entries);
  });
}

std::optional<std::int64_t> SimilarTexts::find_equal(const LikenessSketch& sketch) const {
  const auto found = std::ranges::lower_bound(texts_, std::pair(sketch.text, std::uint32_t{0}));
  if (found == texts_.end() || found->first != sketch.text) return std::nullopt;
  return found->second;
}

std::optional<std::int64_t> SimilarTexts::find_similar(
    const LikenessSketch& sketch, std::int64_t end, double least,
    const std::function<bool(std::int64_t)>& is_like) const {
  constexpr int kMostOfGroup = 8;
  constexpr double kDoubt = 0.15;  // two standard errors of the estimate
  if (!sketch.is_long) return std::nullopt;
  std::vector<std::uint32_t> tried;
  for (std::size_t band = 0; band < bands_.size(); ++band) {
    auto entry = std::ranges::lower_bound(bands_[band], Entry(sketch.bands[band], 0));
    for (int i = 0; i < kMostOfGroup && entry != bands_[band].end(); ++i, ++entry) {
      if (entry->first != sketch.bands[band] || entry->second >= end) break;
      if (std::ranges::find(tried, entry->second) != tried.end()) continue;
      tried.push_back(entry->second);
      if (estimated_likeness(sketch, sketches_[entry->second]) >= least - kDoubt &&
          is_like(entry->second))
        return entry->second;
    }
  }
  return std::nullopt;
}

}  // namespace dragoman
