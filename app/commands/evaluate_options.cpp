#include "app/commands/evaluate_options.h"

#include <algorithm>
#include <filesystem>

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
  if (metrics.sentence_level && count > 1)
    throw UsageError("--sentence-level: name one system alone");
  std::sort(systems.begin(), systems.end());
  if (const auto twice = std::adjacent_find(systems.begin(), systems.end()); twice != systems.end())
    throw UsageError(*twice, " is named twice among the systems to score");
}

/// Returns the files that are read.
std::vector<std::string> check_files(const EvaluateFiles& files) {
  if (files.references.empty()) throw UsageError("--ref: name a file of references");
  std::vector<InputFlag> flags{{"--src", files.source}};
  for (const std::string& hypotheses : files.hypotheses) flags.push_back({"--hyp", hypotheses});
  for (const std::string& reference : files.references) flags.push_back({"--ref", reference});
  check_standard_input(flags);
  std::vector<std::string> inputs;
  for (const InputFlag& input : flags) inputs.push_back(input.file);
  return inputs;
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

std::vector<const EvaluationPage*> EvaluateOptions::check(const Origins& origins) const {
  refuse_metrics_as_models(files);
  check_systems(files, metrics);
  if (files.tune && (files.models.size() != 1 || !files.hypotheses.empty() || decode.sampling))
    throw UsageError("--tune: name one model with -m, and neither --hyp nor --sampling");
  if (!files.models.empty() && files.source.empty())
    throw UsageError("--src: name the text that the model translates");
  if (files.models.empty()) refuse_search(decode, origins);
  decode.check();
  const std::vector<std::string> inputs = check_files(files);
  std::vector<const EvaluationPage*> asked;
  for (const EvaluationPage& page : pages)
    if (page.is_asked_for(*this, inputs)) asked.push_back(&page);
  metrics.check();
  return asked;
}

std::vector<Field> EvaluateOptions::fields() {
  std::vector<Field> all = fields_of(files);
  for (const EvaluationPage& page : pages)
    all.insert(all.end(), page.fields.begin(), page.fields.end());
  for (auto group : {fields_of(hardware), fields_of(metrics), fields_of(decode)})
    all.insert(all.end(), group.begin(), group.end());
  std::erase_if(all, [](const Field& field) { return field.info.name == "n-best"; });
  return all;
}

}  // namespace dragoman
