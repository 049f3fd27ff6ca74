// Pairs that are encoded again in each epoch, from changed text or in other pieces. Text is changed
// to forms that users write: all in upper case, as a title, without the last punctuation mark, with
// two sentences on a line, mistyped, with an inline tag, with a code that is copied, or with terms
// marked (tokenizer/terms.h). A model that sees such pairs in training can translate such text.
// tokenizer/subword_sampler.h makes the other pieces.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "data/corpus.h"
#include "data/data_config.h"
#include "data/parallel_text.h"
#include "tokenizer/subword_sampler.h"
#include "tokenizer/terms.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

struct TextPair {
  std::string source, target;

  bool operator==(const TextPair&) const = default;
};

enum class CaseChange {
  Upper,  ///< every letter
  Title,  ///< the first letter of every word; the others do not change
};

/// Changes the case of both sides alike, except occurrences of `kept`. Returns nothing if the
/// source would not change, as the model could then not know when to change the target.
std::optional<TextPair> change_case(const TextPair& pair, CaseChange change,
                                    std::span<const std::string> kept);

/// Both sides without full stops, exclamation and question marks (also Chinese, Arabic and Indian
/// ones) and white space at their ends. Returns nothing if the source has none, or a side would be
/// empty.
std::optional<TextPair> drop_end_punctuation(const TextPair& pair);

/// The first pair and then the second, with a space between them, or without one in scripts that
/// have none.
TextPair concatenated(const TextPair& first, const TextPair& second);

/// The text with mistyped words: one letter in 40 characters, and at least one, changes places with
/// the next, is missing or doubled, or becomes another letter of the text. Words of one letter,
/// `kept`, and scripts without spaces between words stay. Returns nothing if nothing changes.
std::optional<std::string> mistyped(std::string_view text, std::span<const std::string> kept,
                                    RandomStream& random);

/// Both sides with the same inline tag, <b>like this</b>: around a word that each side has once, or
/// around the whole text if there is none. Empty sides stay.
TextPair with_inline_tag(const TextPair& pair, RandomStream& random);

/// Both sides with the same code of three to ten letters and digits, like x7Kq2, at their beginning
/// or end.
TextPair with_copied_text(const TextPair& pair, RandomStream& random);

/// The tokens of both sides, without </s>.
struct EncodedSides {
  std::vector<TokenId> source, target;
};

/// One of the times that a pair is seen: the epoch, and the round of that epoch
/// (data/epoch_plan.h).
struct Turn {
  std::int64_t epoch, round;
};

/// Its results are a pure function of the seed, the turn and the pair. All calls are safe from
/// several threads at once.
class FreshEncoder {
 public:
  /// Whether the settings ask for pairs to be encoded in each epoch.
  static bool is_wanted(const DataConfig& data);

  FreshEncoder(std::shared_ptr<const ParallelText> text, const TokenizerPair& tokenizers,
               const DataConfig& data, std::uint64_t seed);

  /// Throws Error if a file of the text has been written to since it was opened.
  void require_unchanged_text() const { text_->require_unchanged(); }

  /// The pair's new tokens. Returns nothing if the pair stays as the corpus has it: no setting
  /// changes it in this turn, or a side would have more pieces than --max-length.
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
