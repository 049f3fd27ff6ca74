// dragoman plot: training runs as one HTML page with curves, samples and settings.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands/input_output.h"
#include "app/frame/command_line.h"
#include "app/frame/log.h"
#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/utf8.h"
#include "extras/explanation/explanation_json.h"
#include "extras/report/commands/written_pages.h"
#include "extras/report/training_page.h"
#include "model/file/run_folder.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

struct PlotConfig {
  std::vector<std::string> runs;
  std::string output;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Plot", visit);
    field("runs", runs, "run folders, or their log.jsonl",
          {.aliases = "inputs", .placeholder = "FILE"});
    field("output", output, "the HTML page to write; - for standard output",
          {.placeholder = "FILE"});
  }
};

fs::path log_of(const fs::path& run) {
  if (!fs::is_directory(run)) return run;
  if (fs::path log = RunFolder{run}.log(); fs::exists(log)) return log;
  throw Error(run.string(),
              ": there is no log.jsonl; name the folder of a training run (train -o)");
}

/// Reads the file instead of mapping it, as a running training may cut its log meanwhile.
std::string read_log(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(path.string(), ": cannot read: ", std::strerror(errno));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw Error(path.string(), ": cannot read");
  return text;
}

PlottedRun read_run(std::string name) {
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  const fs::path log = log_of(name);
  PlottedRun run{.name = name, .history = read_history(read_log(log))};
  const auto damaged = static_cast<std::int64_t>(run.history.damaged_lines);
  if (damaged > 0 && run.history.empty() && !run.history.parameters)
    throw Error(log.string(),
                ": is not the log of a training run; name the folder of a run (train -o)");
  if (damaged > 0)
    log_warning(join_text(log.string(), ": ", counted(damaged, "damaged line"), " skipped"));
  if (run.history.empty())
    throw Error(log.string(),
                ": has no update yet; a running training writes a line every --log-every updates");
  return run;
}

/// The runs that have data, with a warning for each of the others. Throws Error if no run has data.
std::vector<PlottedRun> read_runs(const std::vector<std::string>& names) {
  std::vector<PlottedRun> runs;
  std::vector<std::string> problems;
  for (const std::string& name : names) {
    try {
      runs.push_back(read_run(name));
    } catch (const Error& problem) {
      problems.emplace_back(problem.what());
    }
  }
  if (runs.empty()) throw Error(problems.front());
  for (const std::string& problem : problems) log_warning("left out: " + problem);
  return runs;
}

/// The folder of a run, from its own path or that of its log.
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
  ExplainedModel model = explained_model(folder, {}, {});
  model.form = ExplanationForm::Page;
  const GivenSentence sentence{.source = detokenized(attention.source),
                               .target = detokenized(attention.target)};
  return explain_all(model, {sentence}, {}).json;
}

/// Writes a page for each run about the sentence whose attention its log has, with its reference,
/// and names the page in the run. A run without a model, or without attention in its log, gets
/// none. Runs have the names of their folders or logs. The pages stand in a folder beside the page
/// at the path `html`. Pages of an earlier call that are not written again are removed.
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

int run(const PlotConfig& config) {
  if (config.runs.empty()) throw UsageError("--runs: name one run folder or more");
  if (config.output.empty())
    throw UsageError("--output: name the page to write, or - for standard output");
  if (config.output != "-") check_page_output("--output", config.output, {});
  std::vector<PlottedRun> runs = read_runs(config.runs);
  if (!is_stream(config.output)) explain_runs(runs, config.output);
  const std::string page = training_page(runs);
  if (config.output == "-") {
    std::cout << page;
    return 0;
  }
  write_file(config.output, page);
  const auto explained =
      std::ranges::count_if(runs, [](const PlottedRun& run) { return !run.explanation.empty(); });
  log_page(config.output, counted(std::ssize(runs), "run"), explained);
  return 0;
}

}  // namespace

Command plot_command() {
  const auto config = std::make_shared<PlotConfig>();
  return {.name = "plot",
          .summary = "draw training runs: one HTML page with curves, samples and settings",
          .fields = fields_of(*config),
          .positionals = {"runs"},
          .short_flags = {{"o", "output"}},
          .run = [config](const Invocation&) { return run(*config); },
          .examples = {"plot run/ -o run.html", "plot run/ other-run/ -o comparison.html"}};
}

}  // namespace dragoman
