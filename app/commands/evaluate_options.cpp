#include "app/commands/evaluate_options.h"

#include <algorithm>
#include <filesystem>

#include "app/commands/output_file.h"
#include "app/commands/standard_input.h"
#include "base/error.h"

namespace dragoman {

namespace {

void check_systems(const EvaluateFiles& files, const EvaluateConfig& metrics) {
  std::vector<std::string> systems = files.hypotheses;
  systems.insert(systems.end(), files.models.begin(), files.models.end());
  if (systems.empty())
    throw UsageError("name what to score: --hyp FILE, or -m MODEL with --src FILE");
  const std::size_t count = files.tune ? 2 : systems.size();
  if ((metrics.paired_bootstrap || metrics.paired_approximate_randomization) && count < 2)
    throw UsageError(
        metrics.paired_bootstrap ? "--paired-bootstrap" : "--paired-approximate-randomization",
        ": name two or more systems with --hyp or -m, the baseline first");
  if (metrics.sentence_level && (count > 1 || !files.html.empty()))
    throw UsageError("--sentence-level: name one system alone, without --html");
  std::sort(systems.begin(), systems.end());
  if (const auto twice = std::adjacent_find(systems.begin(), systems.end()); twice != systems.end())
    throw UsageError(*twice, " is named twice among the systems to score");
}

/// The pages take a megabyte or more each.
void check_explain(const EvaluateFiles& files) {
  constexpr std::int64_t kMost = 100;
  if (files.explain == 0) return;
  if (files.explain < 0) throw UsageError("--explain: ", files.explain, " is below 0");
  if (files.explain > kMost)
    throw UsageError("--explain: ", files.explain, " sentences are too many: ", kMost,
                     " at most, as each has a page of about a megabyte");
  if (files.html.empty() || files.models.empty() || files.tune)
    throw UsageError("--explain: needs --html and a model (-m), and no --tune");
  if (is_stream(files.html)) throw UsageError("--explain: --html must name a file");
}

void check_files(const EvaluateFiles& files) {
  if (files.references.empty()) throw UsageError("--ref: name a file of references");
  std::vector<InputFlag> flags{{"--src", files.source}};
  for (const std::string& hypotheses : files.hypotheses) flags.push_back({"--hyp", hypotheses});
  for (const std::string& reference : files.references) flags.push_back({"--ref", reference});
  check_standard_input(flags);
  std::vector<std::string> inputs;
  for (const InputFlag& input : flags) inputs.push_back(input.file);
  if (!files.html.empty()) check_page_output("--html", files.html, inputs);
}

/// Throws UsageError for "-m bleu", which is sacreBLEU's flag for metrics.
void refuse_metrics_as_models(const EvaluateFiles& files) {
  for (const std::string& model : files.models)
    if (std::ranges::find(kMetricNames, model) != kMetricNames.end() &&
        !std::filesystem::exists(model))
      throw UsageError("--model: no model is named ", model, "; metrics are chosen by --metrics ",
                       model);
}

void refuse_search(DecodeConfig decode, const Origins& origins) {
  for (const Field& field : fields_of(decode)) {
    const auto origin = origins.find(std::string(field.info.name));
    if (origin != origins.end() && origin->second == Origin::CommandLine)
      throw UsageError("--", field.info.name,
                       ": is about how a model translates and needs -m; translations that are "
                       "there already are only scored");
  }
}

}  // namespace

void EvaluateOptions::check(const Origins& origins) const {
  refuse_metrics_as_models(files);
  check_systems(files, metrics);
  if (files.tune && (files.models.size() != 1 || !files.hypotheses.empty() || decode.sampling))
    throw UsageError("--tune: name one model with -m, and neither --hyp nor --sampling");
  if (!files.models.empty() && files.source.empty())
    throw UsageError("--src: name the text that the model translates");
  if (files.models.empty()) refuse_search(decode, origins);
  decode.check();
  check_files(files);
  check_explain(files);
  metrics.check();
}

std::vector<Field> EvaluateOptions::fields() {
  std::vector<Field> all;
  for (auto group : {fields_of(files), fields_of(hardware), fields_of(metrics), fields_of(decode)})
    all.insert(all.end(), group.begin(), group.end());
  std::erase_if(all, [](const Field& field) { return field.info.name == "n-best"; });
  return all;
}

}  // namespace dragoman
