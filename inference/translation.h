// A line's translation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dragoman {

/// A word between white space.
struct TranslatedWord {
  std::string text;
  double sum = 0;  ///< of its pieces' log-probabilities
  /// Attention to each word of the source line, where asked for; the mean over its pieces.
  std::vector<float> attention = {};
  bool operator==(const TranslatedWord&) const = default;
};

struct TranslatedText {
  std::string text;                        ///< one line, valid UTF-8
  double score = 0;                        ///< normalized_score, with the coverage penalty
  double sum = 0;                          ///< of log-probabilities
  std::vector<TranslatedWord> words = {};  ///< where asked for
  bool operator==(const TranslatedText&) const = default;
};

/// The most pieces of a word that are translated. A word is what stands between white space, in
/// scripts that have it between words.
inline constexpr std::int64_t kMostPiecesOfWord = 5000;

/// Counts over lines, for a summary.
struct TranslationFacts {
  std::int64_t lines = 0;
  std::int64_t empty = 0;       ///< lines without text, whose translation is empty
  std::int64_t copied = 0;      ///< lines with nothing to translate, which are their translations
  std::int64_t split = 0;       ///< lines translated in parts: sentence by sentence, or long
  std::int64_t repaired = 0;    ///< lines with invalid UTF-8, which was replaced
  std::int64_t cut = 0;         ///< lines whose translation ends without </s> (Hypothesis::cut)
  std::int64_t long_words = 0;  ///< words that were cut after kMostPiecesOfWord pieces
  std::int64_t unmet = 0;       ///< lines whose translation lacks a text that it should have
  std::int64_t unknown = 0;     ///< lines with text that was copied, as the model has not seen it
  std::int64_t source_tokens = 0;
  std::int64_t target_tokens = 0;  ///< of the best translations

  TranslationFacts& operator+=(const TranslationFacts& more) {
    lines += more.lines;
    empty += more.empty;
    copied += more.copied;
    split += more.split;
    repaired += more.repaired;
    cut += more.cut;
    long_words += more.long_words;
    unmet += more.unmet;
    unknown += more.unknown;
    source_tokens += more.source_tokens;
    target_tokens += more.target_tokens;
    return *this;
  }
};

struct Translation {
  std::int64_t line;                      ///< its number
  std::vector<TranslatedText> n_best;     ///< best first, at least one
  std::vector<std::string> unmet = {};    ///< texts that the best one should have but lacks
  std::vector<std::string> unknown = {};  ///< texts of the source that were copied (UnseenText)
  TranslationFacts facts = {};            ///< of this line
};

}  // namespace dragoman
