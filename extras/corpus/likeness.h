// How alike texts are: the fraction of their groups of three letters that they share (Jaccard's
// coefficient), found among many texts by MinHash with one permutation (Li, Owen, Zhang 2012;
// Shrivastava and Li 2014) and bands of its values (Broder 1997; Leskovec, Rajaraman and Ullman,
// "Mining of Massive Datasets", section 3.4).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace dragoman {

/// The different groups of three letters of a line, as sorted hashes. Letters count in NFKC,
/// without case and accents; digits, signs and white space are left out. Empty for fewer than three
/// letters. The line must be valid UTF-8.
struct LetterGroups {
  std::uint64_t text = 0;  ///< hash of all letters in their order; of the folded line if none has
  std::vector<std::uint64_t> groups = {};
};
LetterGroups letter_groups(std::string_view line);

/// The groups of both sides of a pair; those of the sides differ.
LetterGroups of_both(const LetterGroups& source, const LetterGroups& target);

/// Jaccard's coefficient, 0 to 1; 0 if both are empty.
double likeness(const LetterGroups& a, const LetterGroups& b);

/// What is kept of a text to find those that are like it.
struct LikenessSketch {
  static constexpr std::size_t kBands = 8, kRows = 5;

  std::uint64_t text = 0;                             ///< LetterGroups::text
  std::array<std::uint32_t, kBands> bands{};          ///< hashes of kRows values each
  std::array<std::uint8_t, kBands * kRows> values{};  ///< the lowest bits of all
  bool is_long = false;  ///< has enough groups; of a short text only `text` counts
};
LikenessSketch sketch_of(const LetterGroups& groups);

/// The fraction of equal values, an estimate of likeness() with a standard error of 0.08 or less.
double estimated_likeness(const LikenessSketch& a, const LikenessSketch& b);

}  // namespace dragoman
