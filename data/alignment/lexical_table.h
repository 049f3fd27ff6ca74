// How often each source word and each target word translate each other, as far as is known: the
// expected links of a corpus. One table serves both directions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/alignment/words.h"

namespace dragoman {

/// Pairs of a text as numbers of words.
class NumberedPairs {
 public:
  void add(std::span<const WordId> source, std::span<const WordId> target);

  std::size_t size() const { return sides_[0].ends.size(); }
  std::span<const WordId> source(std::size_t pair) const { return sides_[0].words(pair); }
  std::span<const WordId> target(std::size_t pair) const { return sides_[1].words(pair); }
  WordId source_numbers() const { return sides_[0].numbers; }  ///< the largest number plus 1
  WordId target_numbers() const { return sides_[1].numbers; }

 private:
  struct Side {
    std::vector<WordId> ids;
    std::vector<std::uint64_t> ends;
    WordId numbers = 1;

    void add(std::span<const WordId> words);
    std::span<const WordId> words(std::size_t pair) const {
      const std::uint64_t begin = pair == 0 ? 0 : ends[pair - 1];
      return {ids.data() + begin, ends[pair] - begin};
    }
  };
  Side sides_[2];
};

/// What is known of the links between a source and a target word.
struct LexicalEntry {
  WordId target;
  float links;                    ///< expected number in the last round
  mutable std::uint32_t counted;  ///< of the round under way, in units
};

class LexicalTable {
 public:
  /// The first round of IBM model 1 in both directions at once: the links of a pair of I and J
  /// words have the weight 1 / ((I + 1) (J + 1)). Words that meet only once get no entry, unless
  /// one of them is rare. Uses the pairs from `chosen` alone.
  LexicalTable(const NumberedPairs& pairs, std::span<const std::uint32_t> chosen, int threads);
  LexicalTable(LexicalTable&&) = default;

  /// Fetches the place of an entry into the cache.
  void prefetch(WordId source, WordId target) const;
  /// Null if there is none.
  const LexicalEntry* find(WordId source, WordId target) const;

  /// Adds to the count of the round; from any thread, in any order with the same result.
  void count(const LexicalEntry& entry, float links);
  /// What was counted becomes what is known.
  void finish_round(int threads);

  float source_links(WordId source) const { return of(source_links_, source); }
  float target_links(WordId target) const { return of(target_links_, target); }
  /// Relative frequency of a word in the text; for a word that it lacks, that of half an
  /// occurrence.
  float source_frequency(WordId source) const { return of(source_frequency_, source); }
  float target_frequency(WordId target) const { return of(target_frequency_, target); }

  std::size_t sources() const { return rows_.size(); }
  /// The entries of a source word in the order of their targets.
  std::vector<LexicalEntry> entries(WordId source) const;

 private:
  /// Open addressing with linear probing; an empty place has kUnknownWord.
  struct Row {
    LexicalEntry* places = nullptr;
    std::uint32_t size = 0;
  };

  static float of(const std::vector<float>& values, WordId word) {
    return values[word < values.size() ? word : kUnknownWord];
  }
  static std::size_t first_place(const Row& row, WordId target);
  void build_rows(const NumberedPairs& pairs, std::span<const std::uint32_t> chosen, int threads);
  void add_up(int threads);

  std::vector<Row> rows_;                           ///< [sources]
  std::vector<std::vector<LexicalEntry>> storage_;  ///< of some rows each
  std::vector<std::uint32_t> source_times_, target_times_;
  std::vector<float> source_links_, target_links_;
  std::vector<float> source_frequency_, target_frequency_;
  float unit_ = 1;  ///< links
};

}  // namespace dragoman
