#include "app/commands/plot_explanations.h"

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "app/commands/explanation_pages.h"
#include "app/frame/log.h"
#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"
#include "extras/explanation/explanation_json.h"
#include "model/file/run_folder.h"
#include "tokenizer/byte_piece.h"
#include "tokenizer/space_mark.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

/// Of a run that is named by its folder or its log.
fs::path run_folder_of(const fs::path& run) { return fs::is_directory(run) ? run : folder_of(run); }

/// The text of pieces of SentencePiece.
std::string detokenized(const std::vector<std::string>& pieces) {
  constexpr std::string_view kEnd = "</s>";
  std::string text;
  for (const std::string& piece : pieces) {
    if (piece == kEnd) continue;
    if (const auto byte = byte_of_piece(piece)) {
      text += static_cast<char>(*byte);
      continue;
    }
    std::string_view rest = piece;
    for (std::size_t at = 0; (at = rest.find(kSpaceMark)) != std::string_view::npos;) {
      text.append(rest.substr(0, at)).append(" ");
      rest.remove_prefix(at + kSpaceMark.size());
    }
    text.append(rest);
  }
  return std::string(strip(text));
}

std::string explained(const std::string& folder, const AttentionLine& attention) {
  const ExplainedTranslator run = explained_translator(folder, {}, {});
  const ExplainedModel model{.program_version = DRAGOMAN_VERSION,
                             .name = folder,
                             .weights = run.weights,
                             .search = run.search,
                             .form = ExplanationForm::Page};
  const GivenSentence sentence{.source = detokenized(attention.source),
                               .target = detokenized(attention.target)};
  return explain_all(model, run.tokenizers, {sentence}, {}).json;
}

}  // namespace

void explain_runs(std::vector<PlottedRun>& runs, const std::string& html) {
  ExplanationPages pages(html);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const AttentionLine* attention = runs[run].history.last_attention();
    const fs::path folder = run_folder_of(runs[run].name);
    if (attention == nullptr || !fs::exists(RunFolder{folder}.model())) continue;
    try {
      runs[run].explanation = pages.write(run, 0, explained(folder.string(), *attention));
    } catch (const Error& error) {
      log_warning(join_text(folder.string(), ": its sentence is not explained: ", error.what()));
    }
  }
  pages.remove_others();
}

}  // namespace dragoman
