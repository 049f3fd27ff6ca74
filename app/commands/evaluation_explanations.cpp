#include "app/commands/evaluation_explanations.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <set>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/commands/explain_text.h"
#include "app/commands/open_translator.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "base/error.h"
#include "base/files.h"
#include "base/shell_word.h"
#include "inference/model_tokenizers.h"
#include "report/explanation_page.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

/// The lines with a source whose scores are the worst, worst first.
std::vector<std::size_t> worst_lines(const std::vector<std::string>& source,
                                     const SystemCounts& counts, std::size_t system,
                                     std::size_t most) {
  const Metric& metric = counts.metric;
  std::vector<double> goodness(source.size());
  for (std::size_t line = 0; line < source.size(); ++line) {
    const double score = metric.score(counts.systems[system].line(line));
    goodness[line] = metric.lower_is_better ? -score : score;
  }
  std::vector<std::size_t> lines(source.size());
  std::iota(lines.begin(), lines.end(), std::size_t{0});
  std::erase_if(lines, [&](std::size_t line) { return source[line].empty(); });
  std::ranges::stable_sort(lines, {}, [&](std::size_t line) { return goodness[line]; });
  lines.resize(std::min(lines.size(), most));
  return lines;
}

ExplainedTranslator translator_of(const std::string& model, const DecodeConfig& decode,
                                  const Origins& origins) {
  const ModelFileReader file(resolve_model_path(model), Verify::Header);
  return {.name = model,
          .tokenizers = load_tokenizers(file),
          .weights = std::make_shared<const CpuModel>(file, ComputeType::Float32),
          .search = search_with(decode, origins, file.decode_defaults()),
          .several_sentences = file.provenance().several_sentences};
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directory(folder, error);
  if (error) throw Error(folder.string(), ": ", error.message());
}

/// "2-31.html": of the second system, line 31.
std::string page_name(std::size_t system, std::size_t line) {
  return join_text(system + 1, '-', line + 1, ".html");
}

bool is_page_name(std::string_view name) {
  constexpr std::string_view kEnd = ".html";
  if (!name.ends_with(kEnd)) return false;
  name.remove_suffix(kEnd.size());
  const std::size_t dash = name.find('-');
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return dash != std::string_view::npos && is_number(name.substr(0, dash)) &&
         is_number(name.substr(dash + 1));
}

/// Removes the pages of an earlier call that are not among `written`.
void remove_others(const fs::path& folder, const std::vector<ExplainedLine>& written) {
  std::set<std::string> names;
  for (const ExplainedLine& page : written) names.insert(page_name(page.system, page.line));
  std::error_code error;
  for (const fs::directory_entry& file : fs::directory_iterator(folder, error)) {
    const std::string name = file.path().filename().string();
    if (!is_page_name(name) || names.contains(name)) continue;
    std::error_code removal;
    if (!fs::remove(file.path(), removal))
      log_warning(file.path().string() + ": is of an earlier call and cannot be removed");
  }
}

}  // namespace

std::optional<std::string> search_flags(DecodeConfig decode, const Origins& origins) {
  if (decode.sampling) return std::nullopt;
  std::string flags;
  for (const Field& field : fields_of(decode)) {
    if (!is_flag_of_explain(field.info.name) || !is_given(origins, field.info.name)) continue;
    flags += join_text(flags.empty() ? "" : " ", "--", field.info.name);
    for (const std::string& value : field.values()) flags += " " + shell_word(value);
  }
  return flags;
}

std::string explanations_folder(const std::string& html) {
  return fs::path(html).replace_extension("explanations").string();
}

std::vector<ExplainedLine> write_explanations(const EvaluatedTexts& texts,
                                              const SystemCounts& counts,
                                              const EvaluateOptions& options,
                                              const Origins& origins) {
  const std::stop_token stop = listen_for_stop();
  const std::size_t first = options.files.hypotheses.size();  // models stand behind them
  const std::vector<std::size_t> lines =
      worst_lines(texts.source, counts, first, static_cast<std::size_t>(options.files.explain));
  const fs::path folder = explanations_folder(options.files.html);
  make_folder(folder);
  std::vector<ExplainedLine> written;
  for (std::size_t system = first; system < texts.systems.size(); ++system) {
    const ExplainedTranslator translator =
        translator_of(texts.systems[system], options.decode, origins);
    for (const std::size_t line : lines) {
      if (stop.stop_requested()) return written;
      const std::string name = page_name(system, line);
      try {
        write_file(
            folder / name,
            explanation_page(
                explain_text(translator, texts.source[line], ExplanationForm::Page, {}).json));
      } catch (const Error& error) {
        log_warning(join_text("line ", line + 1, " is not explained: ", error.what()));
        continue;
      }
      written.push_back({system, line, (folder.filename() / name).string()});
    }
  }
  remove_others(folder, written);
  return written;
}

}  // namespace dragoman
