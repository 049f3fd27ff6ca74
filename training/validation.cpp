#include "training/validation.h"

#include <ATen/Parallel.h>

#include <cmath>
#include <memory>

#include "base/error.h"
#include "base/stopwatch.h"
#include "evaluation/evaluate.h"
#include "inference/cpu/cpu_engine.h"
#include "inference/torch/torch_engine.h"
#include "inference/translate_text.h"
#include "tokenizer/text_rule.h"
#include "training/split_update.h"

namespace dragoman {

namespace {

constexpr std::int64_t kBootstrapSamples = 200;
/// Half of a 95 % interval, in standard errors.
constexpr double kErrorsInInterval = 1.96;

/// Engines with these weights. On the CPU there is one for each thread, in fp32 like the module
/// tree; on other devices the module tree is the engine, and `fewer_rows` becomes the number of
/// rows that are left where memory runs out.
std::vector<std::unique_ptr<Engine>> engines_of(TrainingModel& model, const torch::Tensor& weights,
                                                const std::vector<TokenId>& never_emitted,
                                                std::int64_t& fewer_rows) {
  if (weights.is_cpu()) {
    const ParametersInMemory parameters(model.config(), model.layout().tensors(weights));
    return cpu_engines(std::make_shared<CpuModel>(parameters, ComputeType::Float32), never_emitted,
                       at::get_num_threads());
  }
  std::vector<std::unique_ptr<Engine>> engines;
  engines.push_back(
      std::make_unique<TorchEngine>(model.master(), never_emitted, SearchPlace::Auto,
                                    [&fewer_rows](std::int64_t rows) { fewer_rows = rows; }));
  return engines;
}

}  // namespace

double ValidationResult::value(BestMetric metric) const {
  switch (metric) {
    case BestMetric::Loss:
      return loss;
    case BestMetric::Bleu:
      return bleu;
    case BestMetric::Chrf:
      return chrf;
  }
  return loss;
}

double ValidationResult::standard_error(BestMetric metric) const {
  switch (metric) {
    case BestMetric::Loss:
      return 0;
    case BestMetric::Bleu:
      return bleu_error;
    case BestMetric::Chrf:
      return chrf_error;
  }
  return 0;
}

ScoreOrder score_order(BestMetric metric, double chrf_floor) {
  switch (metric) {
    case BestMetric::Loss:
      return {metric};
    case BestMetric::Bleu:
      return {metric, kBleuFloor};
    case BestMetric::Chrf:
      return {metric, chrf_floor};
  }
  return {metric};
}

bool is_better(const ScoreOrder& order, const ValidationScore& score, const ValidationScore& than) {
  if (order.metric == BestMetric::Loss) return score.value < than.value;
  const double shown = std::round(100 * order.value_to_compare(score.value));
  const double to_beat = std::round(100 * order.value_to_compare(than.value));
  return shown > to_beat || (shown == to_beat && score.loss < than.loss);
}

bool has_fallen(BestMetric metric, double value, double from, double tolerance) {
  const double room = from * tolerance / 100;
  return metric == BestMetric::Loss ? value > from + room : value < from - room;
}

Validator::Validator(const PreparedData& data, const ValidSet& set, const TrainConfig& config)
    : data_(data),
      set_(set),
      beam_size_(config.valid_beam_size),
      batches_(all_batches(set.tokens, config.max_tokens, end_ids(data.tokenizers))),
      recorder_(data.tokenizers, set.source_lines, set.target_lines) {}

void Validator::require_memory(TrainingModel& model, std::string_view text) const {
  require_memory_to_evaluate(model, batches_, text);
}

ValidationResult Validator::run(TrainingModel& model, const torch::Tensor& weights,
                                std::stop_token stop) const {
  const ScopedWeights in_place(model, weights);
  const Stopwatch watch;
  ValidationResult result;
  const BatchLoss sums = evaluate_in_parts(model, batches_);
  if (sums.target_tokens > 0)
    result.loss = sums.negative_log_likelihood / static_cast<double>(sums.target_tokens);
  if (!std::isfinite(result.loss))
    throw LossNotFinite("the loss on the validation text is not finite");
  result.perplexity = std::exp(result.loss);

  DecodeConfig decode;
  decode.beam_size = beam_size_;
  decode.translate_all = !data_.report.copy_counts;  // as runs of earlier versions have begun
  const auto engines =
      engines_of(model, weights, data_.tokenizers.target->never_emitted(), result.fewer_rows);
  result.attention = recorder_.record(*engines.front());
  TranslationService service(pointers_to(engines), data_.tokenizers,
                             {.several_sentences = data_.report.several_sentences_fraction(),
                              .copied_fractions = data_.report.copied_fractions(),
                              .characters = data_.characters});
  result.translations =
      best_texts(translate_lines(service, set_.source_lines, {.config = decode}, stop));
  if (result.translations.size() == set_.target_lines.size()) {
    EvaluateConfig evaluate;
    evaluate.confidence = true;
    evaluate.confidence_n = kBootstrapSamples;
    evaluate.lowercase = evaluate.chrf_lowercase = lower_cases(*data_.tokenizers.target);
    const auto scores = evaluate_lines(result.translations, {set_.target_lines}, evaluate, "");
    result.bleu = scores[0].score;
    result.chrf = scores[1].score;
    result.bleu_error = scores[0].interval.value_or(0) / kErrorsInInterval;
    result.chrf_error = scores[1].interval.value_or(0) / kErrorsInInterval;
  }
  result.seconds = watch.seconds();
  return result;
}

}  // namespace dragoman
