// The training text as token ids: the pairs that passed the filters, in the order of the text. They
// are read from a memory-mapped file, so a corpus of any size takes next to no memory of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tokenizer/tokenizer.h"
#include "tokenizer/translatable.h"

namespace dragoman {

/// The fate of each line of the training text: read = kept + held_out + all dropped ones.
struct CorpusReport {
  std::int64_t read = 0;               ///< pairs of lines
  std::int64_t kept = 0;               ///< pairs to train on
  std::int64_t held_out = 0;           ///< pairs kept aside for validation
  std::int64_t invalid = 0;            ///< dropped: invalid UTF-8 or NUL
  std::int64_t empty = 0;              ///< dropped: a side without tokens, or of white space alone
  std::int64_t in_validation = 0;      ///< dropped: a pair of --valid-src, or nearly one
  std::int64_t duplicates = 0;         ///< dropped: a copy of an earlier pair
  std::int64_t too_long = 0;           ///< dropped: --max-length
  std::int64_t ratio = 0;              ///< dropped: --max-ratio
  std::int64_t several_sentences = 0;  ///< of the kept pairs: on a side or both
  std::int64_t same_text = 0;          ///< of the kept pairs: both sides are alike
  std::int64_t changed_targets = 0;    ///< of the kept pairs: the tokenizer changes the target line
  /// Of these, a line of the text (counted from 0 over all files), which changes in more than white
  /// space if any does.
  std::int64_t changed_target = 0;
  std::int64_t source_tokens = 0, target_tokens = 0;  ///< of the kept pairs, without </s>
  /// Of the kept pairs, those whose source has nothing to translate. Caches of earlier versions do
  /// not have it.
  std::optional<CopyCounts> copy_counts = {};

  /// The fraction of several_sentences among the kept pairs.
  double several_sentences_fraction() const {
    return kept == 0 ? 0 : static_cast<double>(several_sentences) / static_cast<double>(kept);
  }
  CopiedFractions copied_fractions() const {
    return copy_counts ? dragoman::copied_fractions(*copy_counts) : CopiedFractions{};
  }
  bool operator==(const CorpusReport&) const = default;
};

/// Lengths in tokens, without </s>.
struct PairLengths {
  std::int32_t source, target;
};

/// Copies share the mapping. All calls are safe from several threads at once.
class Corpus {
 public:
  /// The bytes behind a corpus, in the format of corpus_file.h, checked before.
  class Storage;

  Corpus();  ///< no pairs
  explicit Corpus(std::shared_ptr<const Storage> storage);

  std::int64_t pairs() const;
  PairLengths lengths(std::int64_t pair) const;
  std::vector<TokenId> source(std::int64_t pair) const;  ///< without </s>
  std::vector<TokenId> target(std::int64_t pair) const;
  /// The same, appended to `tokens`.
  void append_source(std::int64_t pair, std::vector<TokenId>& tokens) const;
  void append_target(std::int64_t pair, std::vector<TokenId>& tokens) const;
  /// The pair's line in the text, counted from 0 over all files of a side.
  std::int64_t line(std::int64_t pair) const;
  /// The first pair from this line or a later one; pairs() where there is none.
  std::int64_t first_pair_from(std::int64_t line) const;

 private:
  std::shared_ptr<const Storage> storage_;
};

}  // namespace dragoman
