// Finds texts that equal a text, or nearly, among many.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "extras/corpus/likeness.h"

namespace dragoman {

class LikeTexts {
 public:
  /// For so many texts at most; the sketches must outlive it. Takes 80 bytes for each text.
  LikeTexts(std::span<const LikenessSketch> sketches, int threads);

  /// The number of the first text that equals this one.
  std::optional<std::int64_t> find_equal(const LikenessSketch& sketch) const;

  /// The number of a text before number `end` whose estimated_likeness() is at least `least`, or
  /// nearly, and that `is_like` confirms. Of texts that equal each other it knows the first, and of
  /// very many that are like each other the first few. The same for each number of threads.
  std::optional<std::int64_t> find_like(
      const LikenessSketch& sketch, std::int64_t end, double least,
      const std::function<bool(std::int64_t number)>& is_like) const;

 private:
  using Entry = std::pair<std::uint32_t, std::uint32_t>;  // hash of a band, number

  std::span<const LikenessSketch> sketches_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> texts_;    // sorted: text, number
  std::array<std::vector<Entry>, LikenessSketch::kBands> bands_;  // sorted
};

}  // namespace dragoman
