// dragoman quantize: writes a model file of a quarter of the size, which translates faster on the
// CPU.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "app/commands/commands.h"
#include "app/commands/input_output.h"
#include "app/commands/open_model.h"
#include "app/commands/written_translations.h"
#include "app/frame/log.h"
#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/lines.h"
#include "evaluation/evaluate.h"
#include "inference/translate_text.h"
#include "model/file/derived_models.h"
#include "model/file/model_file.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

namespace {

struct QuantizeConfig {
  std::string model, output;
  std::string source, reference;
  double max_loss = 0.1;
  std::int64_t threads = 0;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Quantize", visit);
    field("model", model, "run folder or model file", {.placeholder = "FILE"});
    field("output", output, "the model file to write", {.placeholder = "FILE"});
    field("src", source,
          "text to translate with both models; with --ref, matrices whose rounding costs too much "
          "keep their precision",
          {.aliases = "source", .placeholder = "FILE"});
    field("ref", reference, "reference translation of --src",
          {.aliases = "reference", .placeholder = "FILE"});
    field("max-loss", max_loss, "points of BLEU or chrF that rounding may cost on --src");
    field("threads", threads, "threads on the CPU; 0: all cores that this process may use");
  }

  void check() const {
    if (model.empty()) throw UsageError("--model: name a run folder or a model file");
    if (output.empty()) throw UsageError("--output: name the model file to write");
    if (source.empty() != reference.empty())
      throw UsageError("--src and --ref belong together: a text and its translation");
    check_standard_input({{"--src", source}, {"--ref", reference}});
    if (!(max_loss >= 0)) throw UsageError("--max-loss ", max_loss, ": must be 0 or more");
  }
};

struct Scores {
  double bleu, chrf;
};

/// Scores models on a text, to compare the rounded model with the original.
class RoundingTrial {
 public:
  explicit RoundingTrial(const QuantizeConfig& config)
      : source_(read_lines(config.source)),
        references_({read_lines(config.reference)}),
        threads_(config.threads) {
    require_lines(config.source, source_.size());
    require_same_lines(config.source, source_.size(), config.reference, references_.front().size());
  }

  /// Returns nothing if a stop was requested.
  std::optional<Scores> score(const std::string& model, ComputeType type) const {
    const EngineChoice choice{{.device = "cpu", .threads = threads_}, type};
    const OpenedTranslator opened = open_translator({model}, choice, no_device_engine);
    TranslationService service = opened.service();
    const std::vector<std::string> lines = best_texts(
        translate_with_progress(service, source_, {.config = opened.search_with({}, {})}));
    if (lines.size() < source_.size()) return std::nullopt;
    EvaluateConfig evaluate;
    evaluate.lowercase = evaluate.chrf.lowercase = lower_cases(*opened.tokenizers.target);
    const auto scores = evaluate_lines(lines, references_, evaluate, "");
    return Scores{scores[0].score, scores[1].score};
  }

 private:
  std::vector<std::string> source_;
  References references_;
  std::int64_t threads_;
};

std::string scores_text(const Scores& scores) {
  return join_text("BLEU ", fixed_text(scores.bleu, 2), ", chrF ", fixed_text(scores.chrf, 2));
}

/// "all 65 matrices rounded"
std::string rounded_text(std::size_t rounded, std::size_t all) {
  const std::string matrices = counted(static_cast<std::int64_t>(all), "matrix", "matrices");
  return rounded == all ? "all " + matrices + " rounded"
                        : join_text(rounded, " of ", matrices, " rounded");
}

/// The matrices to leave unrounded so that the loss of score is small enough: those with the
/// largest errors first, an eighth at a time. Returns nothing if a stop was requested.
std::optional<std::set<std::string>> kept_for_small_loss(const ModelFileReader& model,
                                                         const QuantizeConfig& config) {
  const RoundingTrial trial(config);
  const std::optional<Scores> whole = trial.score(model.path().string(), ComputeType::Float32);
  if (!whole) return std::nullopt;
  log_info("float32: " + scores_text(*whole));
  const std::vector<RoundedMatrix> matrices = rounded_matrices(model);
  const std::size_t portion = (matrices.size() + 7) / 8;
  const ScratchFolder scratch(std::filesystem::temp_directory_path() / "dragoman-quantize-");
  const std::string candidate = (scratch.path() / "model.safetensors").string();
  for (std::set<std::string> kept;;) {
    write_quantized(model, candidate, kept, "");
    const std::optional<Scores> found = trial.score(candidate, ComputeType::Auto);
    if (!found) return std::nullopt;
    log_info(join_text("int8, ", rounded_text(matrices.size() - kept.size(), matrices.size()), ": ",
                       scores_text(*found)));
    const double loss = std::max(whole->bleu - found->bleu, whole->chrf - found->chrf);
    const std::size_t next = kept.size() + portion;
    if (loss > config.max_loss && next < matrices.size()) {
      for (std::size_t i = kept.size(); i < next; ++i) kept.insert(matrices[i].name);
      continue;
    }
    if (loss > config.max_loss)
      log_warning(join_text("rounding even a few matrices costs ", fixed_text(loss, 2),
                            " points, more than --max-loss ", fixed_text(config.max_loss, 2)));
    return kept;
  }
}

int run(const QuantizeConfig& config, const Invocation& invocation) {
  config.check();
  if (config.source.empty() && invocation.given.contains("max-loss"))
    throw UsageError("--max-loss: needs --src and --ref, the text on which the loss is measured");
  const ModelFileReader model(resolve_model_path(config.model));
  check_model_output("--output", config.output,
                     {model.path().string(), config.source, config.reference});
  std::set<std::string> kept;
  if (!config.source.empty()) {
    const auto found = kept_for_small_loss(model, config);
    if (!found) return 0;  // main turns it into the signal's code
    kept = *found;
  }
  const std::size_t size = write_quantized(model, config.output, kept, invocation.command_line);
  log_info(join_text(config.output, ": ", bytes_text(static_cast<std::int64_t>(size)), " (",
                     model.path().string(), " has ",
                     bytes_text(static_cast<std::int64_t>(model.size())), ")"));
  return 0;
}

}  // namespace

Command quantize_command() {
  const auto config = std::make_shared<QuantizeConfig>();
  return {.name = "quantize",
          .summary = "write a model with weights of 8 bits, smaller and faster on the CPU",
          .fields = fields_of(*config),
          .positionals = {"model"},
          .short_flags = {{"m", "model"}, {"o", "output"}},
          .run = [config](const Invocation& call) { return run(*config, call); },
          .examples = {"quantize run/ -o int8.safetensors",
                       "quantize run/ -o int8.safetensors --src valid.en --ref valid.de"}};
}

}  // namespace dragoman
