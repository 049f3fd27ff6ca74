// dragoman export: writes a model in another system's format.
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "app/frame/command_line.h"
#include "app/frame/log.h"
#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "extras/formats/commands/parity.h"
#include "extras/formats/ctranslate2.h"
#include "extras/formats/exported_folder.h"
#include "extras/formats/hf_marian.h"
#include "extras/formats/import_model.h"
#include "extras/formats/marian.h"
#include "inference/model_settings.h"

namespace dragoman {

namespace {

enum class ExportFormat { Ctranslate2, HfMarian, Marian };
constexpr std::array<std::string_view, 3> names_of(ExportFormat) {
  return {"ctranslate2", "hf-marian", "marian"};
}

struct ExportConfig {
  std::string model, output;
  ExportFormat format = ExportFormat::Ctranslate2;
  ExportType type = ExportType::Float32;
  bool drop_search = false;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Export", visit);
    field("model", model, "run folder or model file", {.placeholder = "FILE"});
    field("output", output, "the folder to make; it must not exist, or be empty",
          {.aliases = "output-dir", .placeholder = "FOLDER"});
    field("format", format,
          "format to write; hf-marian needs a model of train --norm after, marian one of --norm "
          "after --positions marian");
    field("type", type, "number type of the stored weights", {.aliases = "quantization"});
    field("drop-search", drop_search,
          "leave out settings of the model's search that the format does not have, and name them; "
          "else they are an error");
  }
};

/// Whether quantize --type int8 wrote the file.
bool has_whole_weights(const ModelFileReader& model) {
  return std::ranges::any_of(model.tensors(),
                             [](const TensorData& tensor) { return tensor.dtype == Dtype::I8; });
}

struct Written {
  const char* files;                     ///< for the message
  std::vector<std::string> unsupported;  ///< search settings that the folder does not have
};

Written write(const ModelFileReader& model, const ExportConfig& config) {
  const Unsupported unsupported = config.drop_search ? Unsupported::LeftOut : Unsupported::Refused;
  switch (config.format) {
    case ExportFormat::Ctranslate2:
      write_ctranslate2(model, config.output, config.type);
      return {"model.bin, config.json, vocabulary, source.spm and target.spm",
              settings_for_callers(model.decode_defaults())};
    case ExportFormat::HfMarian:
      return {"model.safetensors, config.json, vocab.json, source.spm and target.spm",
              write_hf_marian(model, config.output, unsupported)};
    case ExportFormat::Marian:
      return {"model.npz, decoder.yml and vocabulary",
              write_marian(model, config.output, unsupported)};
  }
  throw Error("an unknown format");
}

void warn_of_unsupported(const std::string& folder, const std::vector<std::string>& settings,
                         ExportFormat format) {
  if (settings.empty()) return;
  const bool is_for_callers = format == ExportFormat::Ctranslate2;
  log_warning(join_text(folder,
                        is_for_callers
                            ? ": CTranslate2 keeps no settings of the search; ask it for "
                            : ": leaves out the model's search settings ",
                        joined(settings, ", ")));
}

/// Reads the folder as if another system had written it, computes that model by its own formulas,
/// and compares it with ours. Throws Error that says how they differ, or why the folder cannot be
/// read.
void check(const ModelFileReader& model, const ExportConfig& config) {
  const ForeignModel theirs = import_model(config.output);
  const Parity parity = parity_of(theirs, model, load_tokenizers(model));
  if (config.type == ExportType::Float32 && !parity.is_same(kParityTolerance))
    throw Error(parity.text());
  log_info("check against " + theirs.kind + "'s formulas: " + parity.text());
}

int run(const ExportConfig& config) {
  if (config.model.empty()) throw UsageError("--model: name a run folder or a model file");
  if (config.output.empty()) throw UsageError("--output: name the folder to make");
  if (config.format != ExportFormat::Ctranslate2 && config.type != ExportType::Float32)
    throw UsageError("--type: only folders of CTranslate2 have other weights than float32");
  const ModelFileReader model(resolve_model_path(config.model));
  if (config.type == ExportType::Float32 && has_whole_weights(model))
    log_info(
        join_text(config.model, " has weights of 8 bits; the export has them as float32",
                  config.format == ExportFormat::Ctranslate2 ? " (--type int8 rounds again)" : ""));
  const Written written = write(model, config);
  try {
    check(model, config);
  } catch (const std::bad_alloc&) {
    log_warning(config.output + ": not checked: too little memory to read it again");
  } catch (const std::exception& problem) {
    std::filesystem::remove_all(resolved_links(config.output));
    throw Error(config.output, ": the check failed, and the folder was removed: ", problem.what());
  }
  log_info(config.output + ": " + written.files);
  warn_of_unsupported(config.output, written.unsupported, config.format);
  return 0;
}

}  // namespace

Command export_command() {
  const auto config = std::make_shared<ExportConfig>();
  return {
      .name = "export",
      .summary =
          "write a model in another system's format: CTranslate2's, Hugging Face's or Marian's",
      .fields = fields_of(*config),
      .positionals = {"model", "output"},
      .short_flags = {{"m", "model"}, {"o", "output"}},
      .run = [config](const Invocation&) { return run(*config); },
      .examples = {"export --format ctranslate2 run/ en-de.ct2",
                   "export run/ en-de.ct2 --type int8", "export --format hf-marian run/ en-de-hf",
                   "export --format marian run/ en-de-marian"}};
}

}  // namespace dragoman
