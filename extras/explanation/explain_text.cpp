#include "extras/explanation/explain_text.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "inference/split.h"

namespace dragoman {

namespace {

/// The sentences of a text, without those that have no piece.
std::vector<GivenSentence> sentences_of(std::string_view text,
                                        const ExplainedTranslator& translator) {
  const auto cuts =
      splits_sentences(translator.search.split_sentences, translator.several_sentences)
          ? SentenceCuts::InAllLines
          : SentenceCuts::InLongLines;
  // With </s> a sentence has one piece more.
  const std::int64_t most = std::min({translator.search.split_length, Explainer::kMostPieces - 1,
                                      CpuEngine(translator.weights, {}).max_positions() - 1});
  const Encode encode = [&](std::string_view part) {
    return translator.tokenizers.source->encode(part);
  };
  std::vector<GivenSentence> sentences;
  std::int64_t pieces = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (strip(line).empty()) continue;
    for (const LinePart& part : split_line(strip(line), cuts, most, encode))
      if (!part.tokens.empty()) {
        sentences.push_back({.source = std::string(part.text)});
        pieces += std::ssize(part.tokens);
      }
  }
  // The time and the size of the page grow with the square of the pieces.
  if (pieces > Explainer::kMostPieces)
    throw UnfitText("the text has ", pieces, " pieces; an explanation takes ",
                    Explainer::kMostPieces, " at most");
  return sentences;
}

}  // namespace

bool is_flag_of_explain(std::string_view name) {
  return name != "n-best" && name != "batch-size" && name != "seed" && name != "temperature" &&
         name != "translate-all" && !name.starts_with("sampling") && !name.starts_with("split") &&
         name != "unknown-words";
}

Explanation explain_text(const ExplainedTranslator& translator, const std::string& text,
                         ExplanationForm form, const OnStep& on_step) {
  const std::vector<GivenSentence> sentences = sentences_of(text, translator);
  if (sentences.empty()) throw UnfitText("the text has no sentence");
  ExplainedModel model{.program_version = translator.program_version,
                       .name = translator.name,
                       .weights = translator.weights,
                       .search = translator.search,
                       .form = form,
                       .characters = translator.characters};
  model.search.sampling = false;
  model.search.n_best = 1;
  return explain_all(model, translator.tokenizers, sentences, on_step);
}

}  // namespace dragoman
