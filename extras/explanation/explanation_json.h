// Explanations as JSON. docs/explanation.md describes the form for programs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/character_set.h"
#include "extras/explanation/explainer.h"
#include "inference/search/decode_config.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

enum class ExplanationForm {
  Numbers,  ///< all numbers, for programs, as lists
  Packed,   ///< all numbers as blocks of base64, which are smaller (number_blocks.h)
  Page,     ///< what the page draws, as exact as it shows it (page_blocks.h)
};

/// What all sentences have in common.
struct ExplainedModel {
  std::string program_version;
  std::string name;  ///< of the model, as it was given
  std::shared_ptr<const CpuModel> weights;
  DecodeConfig search;
  ExplanationForm form = ExplanationForm::Numbers;
  std::optional<SeenCharacters> characters = std::nullopt;  ///< see Provenance
};

/// The JSON object of a sentence. `target` made the explanation.
std::string sentence_json(const ExplainedModel& model, const SentenceExplanation& sentence,
                          const Tokenizer& target);

/// The whole JSON object, with `sentences` as sentence_json() gives them.
std::string explanation_json(const ExplainedModel& model,
                             const std::vector<std::string>& sentences);

/// A sentence and the translation to look at, if one is given.
struct GivenSentence {
  std::string source;
  std::optional<std::string> target = std::nullopt;
  std::int64_t line = 0;  ///< of its file, from 1; 0: it is of no file
};

struct Explanation {
  std::string json;
  std::int64_t target_tokens;  ///< of all sentences, with </s>
};

/// Explains each sentence. Throws the errors of Explainer, with the line or else the number of the
/// sentence where there are several, and what `on_step` throws.
/// Several threads call `on_step`.
Explanation explain_all(const ExplainedModel& model, const TokenizerPair& tokenizers,
                        const std::vector<GivenSentence>& sentences, const OnStep& on_step,
                        int threads = 1);

}  // namespace dragoman
