// Pairs encoded anew in each epoch: changed text (data/augment.h, tokenizer/term_marks.h) and other
// segmentations into pieces (tokenizer/subword_sampler.h). The result is a pure function of the
// seed, the epoch, the round of the pair in that epoch, and the pair.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "data/augment.h"
#include "data/corpus.h"
#include "data/parallel_text.h"
#include "data/source_tags.h"
#include "tokenizer/subword_sampler.h"
#include "tokenizer/terms.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

/// The tokens of both sides, without </s>.
struct EncodedSides {
  std::vector<TokenId> source, target;
};

/// One of the times that a pair is seen: the epoch, and the round of that epoch
/// (data/epoch_plan.h).
struct Turn {
  std::int64_t epoch, round;
};

/// All calls are safe from several threads at once.
class FreshEncoder {
 public:
  /// Whether the settings ask for pairs to be encoded anew.
  static bool is_wanted(const DataConfig& data);

  FreshEncoder(std::shared_ptr<const ParallelText> text, const TokenizerPair& tokenizers,
               const DataConfig& data, std::uint64_t seed);

  /// Throws Error where a file of the text has been written to since it was opened.
  void require_unchanged_text() const { text_->require_unchanged(); }
  /// The pair's new tokens. Returns nothing where the pair stays as the corpus has it. That is also
  /// the case where a side would have more pieces than --max-length.
  std::optional<EncodedSides> encode(const Corpus& corpus, std::int64_t pair, Turn turn) const;

 private:
  std::optional<TextPair> changed_text(const Corpus& corpus, std::int64_t pair,
                                       std::uint64_t key) const;
  std::int64_t another_of_the_file(const Corpus& corpus, std::int64_t pair,
                                   RandomStream& random) const;
  std::optional<std::string> with_terms(const TextPair& pair, RandomStream& random) const;

  std::shared_ptr<const ParallelText> text_;
  TokenizerPair tokenizers_;
  DataConfig data_;
  std::uint64_t seed_;
  SourceTags tags_;
  Terms terms_;                    ///< of --train-terms
  std::vector<std::string> kept_;  ///< user-defined symbols of both tokenizers
  std::optional<SubwordSampler> source_sampler_, target_sampler_;
};

}  // namespace dragoman
