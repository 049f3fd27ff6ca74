// dragoman average: one model from several checkpoints.
#include <filesystem>
#include <memory>

#include "app/commands/commands.h"
#include "app/commands/input_output.h"
#include "app/frame/log.h"
#include "base/error.h"
#include "base/formatted_text.h"
#include "model/file/derived_models.h"
#include "model/file/run_folder.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

struct AverageConfig {
  std::vector<std::string> models;
  std::string output;
  std::int64_t last = 5;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Average", visit);
    field("models", models, "model files, or one run folder for its newest checkpoints",
          {.aliases = "inputs", .placeholder = "FILE"});
    field("output", output, "the model file to write", {.placeholder = "FILE"});
    field("last", last,
          "number of newest checkpoints of a run folder to average; without this flag, fewer if "
          "there are fewer",
          {.aliases = "num-update-checkpoints"});
  }
};

/// The reaction if there are fewer checkpoints.
enum class Fewer { Taken, Refused };

/// The newest checkpoints made at update counts, oldest first.
std::vector<fs::path> newest_checkpoints(const RunFolder& run, std::int64_t count, Fewer fewer) {
  std::vector<fs::path> paths = run.numbered();
  const auto found = std::ssize(paths);
  if (found == 0)
    throw Error(run.root.string(), ": has no checkpoints (", run.checkpoints().string(),
                "/update-*.safetensors) to average; name model files instead");
  if (found < count && fewer == Fewer::Refused)
    throw Error(run.root.string(), ": ", counted(found, "checkpoint"), found == 1 ? " is" : " are",
                " there, but --last asks for ", count);
  if (found > count) paths.erase(paths.begin(), paths.end() - count);
  return paths;
}

std::vector<fs::path> models_of(const AverageConfig& config, Fewer fewer) {
  if (config.models.empty())
    throw UsageError("--models: name the model files, or a run folder, to average");
  if (config.models.size() == 1 && fs::is_directory(config.models.front()))
    return newest_checkpoints({config.models.front()}, config.last, fewer);
  if (fewer == Fewer::Refused)
    throw UsageError("--last: counts the checkpoints of one run folder; leave it out, or name one");
  std::vector<fs::path> paths;
  for (const std::string& model : config.models) paths.push_back(resolve_model_path(model));
  return paths;
}

int run(const AverageConfig& config, const Invocation& invocation) {
  if (config.output.empty()) throw UsageError("--output: name the file to write");
  if (config.last < 1) throw UsageError("--last: must be at least 1");
  const std::vector<fs::path> models =
      models_of(config, invocation.given.contains("last") ? Fewer::Refused : Fewer::Taken);
  check_model_output("--output", config.output, {models.begin(), models.end()});
  write_average(models, config.output, invocation.command_line);
  if (models.size() == 1 && config.last == 1)
    log_info(join_text(config.output, ": a copy of ", models.front().string()));
  else if (models.size() == 1)
    log_warning(join_text(config.output, ": a copy of ", models.front().string(),
                          ", the only model that is there to average"));
  else
    log_info(join_text(config.output, ": the average of ", counted(std::ssize(models), "model")));
  return 0;
}

}  // namespace

Command average_command() {
  const auto config = std::make_shared<AverageConfig>();
  return {.name = "average",
          .summary = "average the parameters of several checkpoints",
          .fields = fields_of(*config),
          .positionals = {"models"},
          .short_flags = {{"o", "output"}},
          .run = [config](const Invocation& call) { return run(*config, call); },
          .examples = {"average -o average.safetensors run/ --last 5",
                       "average -o average.safetensors a.safetensors b.safetensors"}};
}

}  // namespace dragoman
