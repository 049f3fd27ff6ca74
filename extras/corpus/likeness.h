// How alike texts are: the fraction of their groups of three letters that they share (Jaccard's
// coefficient), found among many texts by MinHash with one permutation (Li, Owen, Zhang 2012;
// Shrivastava and Li 2014) and bands of its values (Broder 1997; Leskovec, Rajaraman and Ullman,
// "Mining of Massive Datasets", section 3.4).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace dragoman {

/// The distinct groups of three letters of a line, as sorted hashes. Letters count in NFKC, without
/// case and accents; digits, signs and white space are left out. Empty for fewer than three
/// letters. The line must be valid UTF-8.
struct LetterGroups {
  std::uint64_t text = 0;  ///< hash of all letters in order; of the folded line if it has none
  std::vector<std::uint64_t> groups = {};
};
LetterGroups letter_groups(std::string_view line);

/// The groups of both sides of a pair; no group of one side equals one of the other.
LetterGroups of_both(const LetterGroups& source, const LetterGroups& target);

/// Jaccard's coefficient, 0 to 1; 0 if both are empty.
double likeness(const LetterGroups& a, const LetterGroups& b);

/// What is kept of a text to find texts that are like it.
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

/// Finds, among many texts, those that equal a text or nearly do.
class SimilarTexts {
 public:
  /// The sketches must outlive it. Takes 80 bytes for each text.
  SimilarTexts(std::span<const LikenessSketch> sketches, int threads);

  /// The number of the first text that equals this one.
  std::optional<std::int64_t> find_equal(const LikenessSketch& sketch) const;

  /// The number of a text before number `end` whose estimated_likeness() is at least `least`, or
  /// nearly, and that `is_like` confirms. Of texts that equal each other it knows the first, and of
  /// very many that are like each other the first few. The same for each number of threads.
  std::optional<std::int64_t> find_similar(
      const LikenessSketch& sketch, std::int64_t end, double least,
      const std::function<bool(std::int64_t number)>& is_like) const;

 private:
  using Entry = std::pair<std::uint32_t, std::uint32_t>;  // hash of a band, number

  std::span<const LikenessSketch> sketches_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> texts_;    // sorted: text, number
  std::array<std::vector<Entry>, LikenessSketch::kBands> bands_;  // sorted
};

}  // namespace dragoman
