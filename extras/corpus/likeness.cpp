#include "extras/corpus/likeness.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include "base/bytes.h"
#include "base/random.h"
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

}  // namespace dragoman
