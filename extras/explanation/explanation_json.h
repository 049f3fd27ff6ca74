// Explanations as JSON, in a form for programs (docs/explanation.md) and one for the page
// (extras/report/page/explanation_blocks.js): the numbers in lists or blocks, a sentence, a text.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/unicode.h"
#include "extras/explanation/explainer.h"
#include "inference/search/decode_config.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// Lists of `size` numbers, each with five significant digits.
nlohmann::ordered_json number_rows(std::span<const float> numbers, std::int64_t size);

/// The weights as lists [heads, queries, keys], with five significant digits.
nlohmann::ordered_json weights_of_heads(const AttentionWeights& weights);

/// The sum of the whole numbers that represent a row of attention weights.
inline constexpr std::int64_t kWholeRow = 65535;

/// Whole numbers in proportion to the weights of a row, which are 0 or more and sum to 1. Their sum
/// is kWholeRow, because the largest remainders are rounded up; a weight of 0 stays 0.
std::vector<std::uint16_t> whole_weights(std::span<const float> row);

/// {"shape": [heads, queries, keys], "data"}: the rows of whole_weights(), little-endian, in
/// base64.
nlohmann::ordered_json weights_block(const AttentionWeights& weights);

/// {"shape": [count, size], "data"}: the numbers as half_of() rounds them, at most 65504, the
/// largest; little-endian, in base64.
nlohmann::ordered_json vectors_block(std::span<const float> vectors, std::int64_t size);

// The blocks of the page. Their text writes a number with one or three of base64's 64 digits (RFC
// 4648, table 1), the most significant first; 32 (one digit) or 131,072 (three) represents 0.

/// {"shape": [heads, queries, keys], "causal", "scales": [heads], "data"}: the scores behind the
/// weights, in three digits each; a number times the scale of its head is the score. In a causal
/// block a query has the scores of its own key and of those before it.
nlohmann::ordered_json scores_block(const AttentionWeights& weights);

/// {"shape": [count, size], "scales": [count], "data"}: vectors as strips of colours, with one
/// digit for each number; a number times the scale of its vector is the element. The number with
/// the largest magnitude in a vector is 31 or -31.
nlohmann::ordered_json strips_block(std::span<const float> vectors, std::int64_t size);

enum class ExplanationForm {
  Numbers,  ///< all numbers as lists, for programs
  Packed,   ///< all numbers as blocks of base64, which are smaller
  Page,     ///< what the page draws, as exactly as it shows it
};

/// A model as it translates, and the form of what is said about it.
struct ExplainedModel {
  std::string program_version;
  std::string name;  ///< the model, as the user named it; shown on the page
  TokenizerPair tokenizers;
  std::shared_ptr<const CpuModel> weights;
  DecodeConfig search;
  std::optional<double> several_sentences = std::nullopt;   ///< see Provenance
  std::optional<SeenCharacters> characters = std::nullopt;  ///< see Provenance
  ExplanationForm form = ExplanationForm::Numbers;
};

/// The JSON object of a sentence.
std::string sentence_json(const ExplainedModel& model, const SentenceExplanation& sentence);

/// The whole JSON object. `sentences` are those of sentence_json().
std::string explanation_json(const ExplainedModel& model,
                             const std::vector<std::string>& sentences);

/// A sentence and the translation to look at, if one is given.
struct GivenSentence {
  std::string source;
  std::optional<std::string> target = std::nullopt;
  std::int64_t line = 0;  ///< in its file, from 1; 0: it is from no file
};

struct Explanation {
  std::string json;
  std::int64_t target_tokens;  ///< in all sentences, with </s>
};

/// Explains each sentence. Throws the errors of Explainer; if there are several sentences, they
/// name the line or else the number of the sentence. Passes on the exceptions of `on_step`, which
/// several threads call.
Explanation explain_all(const ExplainedModel& model, const std::vector<GivenSentence>& sentences,
                        const OnStep& on_step, int threads = 1);

/// Whether `dragoman explain` has this flag of the search. It draws no samples, splits no sentence,
/// and shows one translation.
bool is_flag_of_explain(std::string_view name);

/// Explains each sentence of a text, for `serve` and `evaluate`, without drawing samples. Lines are
/// split where the translator splits them. Throws Error if a sentence cannot be explained, or if
/// the text has more than Explainer::kMostPieces pieces. Passes on the exceptions of `on_step`.
Explanation explain_text(ExplainedModel model, const std::string& text, ExplanationForm form,
                         const OnStep& on_step);

}  // namespace dragoman
