// dragoman import: makes a model file from another system's model. Also registers the commands of
// this extra.

#include <filesystem>
#include <memory>

#include "app/commands/commands.h"
#include "app/commands/input_output.h"
#include "app/frame/command_line.h"
#include "app/frame/log.h"
#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "extras/formats/commands/parity.h"
#include "extras/formats/import_model.h"
#include "model/file/model_file.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

struct ImportConfig {
  std::string model, output;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Import", visit);
    field("model", model,
          "a folder of Hugging Face's MarianMTModel (OPUS-MT), Marian, CTranslate2 or JoeyNMT, a "
          "model.npz of Marian, or a checkpoint of fairseq, JoeyNMT or OpenNMT-py",
          {.placeholder = "PATH"});
    field("output", output, "the model file to write", {.placeholder = "FILE"});
  }
};

/// In the folder that is read, only a model that an earlier import wrote may be replaced. Any other
/// file could be one that the importer reads.
void check_beside_model(const std::string& model, const std::string& output) {
  std::error_code none;
  const fs::path folder = fs::is_directory(model, none) ? fs::path(model) : folder_of(model);
  if (!fs::exists(output, none) || !fs::equivalent(folder, folder_of(output), none)) return;
  try {
    const ModelFileReader ours(output, Verify::Header);
  } catch (const Error&) {
    throw UsageError("--output: ", output,
                     " is a file of the folder that is read, and not a model of ",
                     "dragoman; name another file");
  }
}

int run(const ImportConfig& config, const Invocation& invocation) {
  if (config.model.empty()) throw UsageError("--model: name the folder or the file to import");
  if (config.output.empty()) throw UsageError("--output: name the file to write");
  check_beside_model(config.model, config.output);
  check_model_output("--output", config.output, {config.model});
  const ForeignModel theirs = import_model(config.model);
  const ImportedModel model = to_imported(theirs);
  const Parity parity =
      parity_of(theirs, ParametersInMemory(model.config, tensors_of(model)), tokenizers_of(model));
  if (!parity.is_same(kParityTolerance))
    throw Error(config.model, ": the check failed, and nothing was written: ", parity.text());
  write_imported(model, config.output, invocation.command_line);
  std::int64_t parameters = 0;
  for (const auto& [name, values] : model.parameters)
    parameters += static_cast<std::int64_t>(values.size());
  log_info(join_text(config.output, ": a model of ", model.kind, ", ", with_separators(parameters),
                     " parameters"));
  if (!theirs.search.left_out.empty())
    log_warning(join_text(theirs.search.file, ": we have no setting like ",
                          joined(theirs.search.left_out, ", "), ": the model leaves it out"));
  log_info("check against " + model.kind + "'s formulas: " + parity.text());
  return 0;
}

Command import_command() {
  const auto config = std::make_shared<ImportConfig>();
  return {.name = "import",
          .summary = "make a model file from another system's model",
          .fields = fields_of(*config),
          .positionals = {"model"},
          .short_flags = {{"m", "model"}, {"o", "output"}},
          .run = [config](const Invocation& call) { return run(*config, call); },
          .examples = {"import opus-mt-en-de/ -o en-de.safetensors",
                       "import marian/model.npz -o en-de.safetensors"}};
}

}  // namespace

Command export_command();  // export.cpp

Extra formats_extra(const MakeDeviceEngine&) {
  return {.commands = {export_command(), import_command()}};
}

}  // namespace dragoman
