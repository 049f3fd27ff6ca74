// The request for a translation, and the translation of a line. Each line may have a request of its
// own: lines with different settings share an engine's rows and do not change each other's
// translations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "inference/demands.h"
#include "inference/search/decode_config.h"
#include "inference/search/search.h"
#include "tokenizer/terms.h"

namespace dragoman {

struct TranslationRequest {
  DecodeConfig config = {};                     ///< batch_size is ignored: see Workers::Limits
  std::shared_ptr<const Demands> demands = {};  ///< null: none
  bool reports_words = false;
  bool reports_attention = false;    ///< of each word; implies reports_words
  bool words_of_best_alone = false;  ///< the others of the n best get none
};

/// A request that has been checked, with its texts as tokens; made by TranslationService::prepare.
struct PreparedRequest {
  std::shared_ptr<const SearchSettings> settings;
  std::shared_ptr<const Demands> demands;  ///< not null
  bool reports_words, reports_attention;
  bool words_of_best_alone = false;
};

/// A line to be translated.
struct LineInput {
  std::string text;  ///< any bytes
  /// Valid UTF-8; the translation begins with it. If white space ends it, its last word is
  /// complete.
  std::string prefix = {};
  Terms terms = {};  ///< for this line alone, before those of its request; none with sampling
  /// Stretches of the text, in order, that the caller writes into the translation: the model reads
  /// them, and nothing of them is copied.
  std::vector<ByteRange> kept = {};
  std::shared_ptr<const PreparedRequest> request = {};  ///< null: Submission::request
};

/// A word between white space.
struct TranslatedWord {
  std::string text;
  double sum = 0;  ///< of its pieces' log-probabilities
  /// Attention to each word of the source line, if asked for; the mean over its pieces.
  std::vector<float> attention = {};
  bool operator==(const TranslatedWord&) const = default;
};

struct TranslatedText {
  std::string text;                        ///< one line, valid UTF-8
  double score = 0;                        ///< normalized_score, with the coverage penalty
  double sum = 0;                          ///< of log-probabilities
  std::vector<TranslatedWord> words = {};  ///< if asked for
  bool operator==(const TranslatedText&) const = default;
};

/// The most pieces of a word that are translated. White space separates words, and in scripts
/// without it each character is one.
inline constexpr std::int64_t kMostPiecesOfWord = 5000;

/// Counts over lines, for a summary.
struct TranslationFacts {
  std::int64_t lines = 0;
  std::int64_t empty = 0;       ///< lines without text, whose translation is empty
  std::int64_t copied = 0;      ///< lines with nothing to translate, which are copied
  std::int64_t split = 0;       ///< lines translated in parts: sentence by sentence, or long
  std::int64_t repaired = 0;    ///< lines with invalid UTF-8, which was replaced
  std::int64_t cut = 0;         ///< lines whose translation ends without </s> (Hypothesis::cut)
  std::int64_t long_words = 0;  ///< words that were cut after kMostPiecesOfWord pieces
  std::int64_t unmet = 0;       ///< lines whose translation lacks a text that it should have
  std::int64_t unknown = 0;     ///< lines with text that was copied, as the model has not seen it
  std::int64_t source_tokens = 0;
  std::int64_t target_tokens = 0;  ///< of the best translations

  static constexpr std::int64_t TranslationFacts::*kAll[] = {
      &TranslationFacts::lines,         &TranslationFacts::empty,        &TranslationFacts::copied,
      &TranslationFacts::split,         &TranslationFacts::repaired,     &TranslationFacts::cut,
      &TranslationFacts::long_words,    &TranslationFacts::unmet,        &TranslationFacts::unknown,
      &TranslationFacts::source_tokens, &TranslationFacts::target_tokens};
  TranslationFacts& operator+=(const TranslationFacts& more) {
    for (const auto fact : kAll) this->*fact += more.*fact;
    return *this;
  }
};

struct Translation {
  std::int64_t line;                        ///< its number
  std::vector<TranslatedText> n_best = {};  ///< best first, at least one
  std::vector<std::string> unmet = {};      ///< texts that the best one should have but lacks
  std::vector<std::string> unknown = {};    ///< texts of the source that were copied (UnseenText)
  TranslationFacts facts = {};              ///< of this line
};

}  // namespace dragoman
