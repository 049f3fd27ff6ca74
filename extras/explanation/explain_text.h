// Explanations of a text of several sentences, for serve and evaluate.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "extras/explanation/explanation_json.h"
#include "inference/search/decode_config.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

/// A model as it translates.
struct ExplainedTranslator {
  std::string program_version;
  std::string name;  ///< shown on the page
  TokenizerPair tokenizers;
  std::shared_ptr<const CpuModel> weights;
  DecodeConfig search;                                      ///< explanations draw no samples
  std::optional<double> several_sentences;                  ///< see Provenance
  std::optional<SeenCharacters> characters = std::nullopt;  ///< see Provenance
};

/// Whether `dragoman explain` has this flag of the search: it draws no samples, splits no sentence,
/// and shows one translation.
bool is_flag_of_explain(std::string_view name);

/// Explains each sentence of the text. Lines are split where the translator splits them. Throws
/// Error where a sentence cannot be explained, or the text has more than Explainer::kMostPieces
/// pieces, and passes on the exceptions of `on_step`.
Explanation explain_text(const ExplainedTranslator& translator, const std::string& text,
                         ExplanationForm form, const OnStep& on_step);

}  // namespace dragoman
