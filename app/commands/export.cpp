// dragoman export: a model in another system's format.
#include <array>
#include <memory>

#include "app/commands/commands.h"
#include "app/frame/log.h"
#include "base/error.h"
#include "formats/ctranslate2.h"
#include "formats/hf_marian.h"

namespace dragoman {

namespace {

enum class ExportFormat { Ctranslate2, HfMarian };
constexpr std::array<std::string_view, 2> names_of(ExportFormat) {
  return {"ctranslate2", "hf-marian"};
}

struct ExportConfig {
  std::string model, output;
  ExportFormat format = ExportFormat::Ctranslate2;
  ExportType type = ExportType::Float32;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    visit({.name = "model",
           .help = "run folder or model file",
           .group = "Export",
           .placeholder = "FILE"},
          model);
    visit({.name = "output",
           .help = "the folder to make; it must not exist, or be empty",
           .group = "Export",
           .aliases = "output-dir",
           .placeholder = "FOLDER"},
          output);
    visit({.name = "format", .help = "format to write", .group = "Export"}, format);
    visit({.name = "type",
           .help = "number type of the stored weights",
           .group = "Export",
           .aliases = "quantization"},
          type);
  }
};

int run(const ExportConfig& config) {
  if (config.model.empty()) throw UsageError("--model: name a run folder or a model file");
  if (config.output.empty()) throw UsageError("--output: name the folder to make");
  const ModelFileReader model(resolve_model_path(config.model));
  if (config.format == ExportFormat::HfMarian) {
    if (config.type != ExportType::Float32)
      throw UsageError("--type: a folder of MarianMTModel has float32 weights here");
    write_hf_marian(model, config.output);
    log_info(config.output +
             ": model.safetensors, config.json, vocab.json, source.spm and target.spm");
    return 0;
  }
  write_ctranslate2(model, config.output, config.type);
  log_info(config.output + ": model.bin, config.json, vocabulary, source.spm and target.spm");
  return 0;
}

}  // namespace

Command export_command() {
  const auto config = std::make_shared<ExportConfig>();
  return {
      .name = "export",
      .summary = "write a model in another system's format: CTranslate2's or Hugging Face's",
      .fields = fields_of(*config),
      .positionals = {"model", "output"},
      .short_flags = {{"m", "model"}, {"o", "output"}},
      .run = [config] { return run(*config); },
      .examples = {"export --format ctranslate2 run/ en-de.ct2",
                   "export run/ en-de.ct2 --type int8", "export --format hf-marian run/ en-de-hf"}};
}

}  // namespace dragoman
