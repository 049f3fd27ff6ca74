#include "training/validation.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <utility>

#include "base/machine.h"
#include "evaluation/evaluate.h"
#include "inference/cpu/cpu_engine.h"
#include "inference/scheduler.h"
#include "inference/torch/torch_device_model.h"
#include "inference/translate_text.h"
#include "training/update.h"

namespace dragoman {

TextScores mean_of(const std::vector<TextScores>& parts) {
  TextScores mean{.name = std::string(kMeanOfTexts)};
  const auto count = static_cast<double>(parts.size());
  for (const TextScores& part : parts) {
    mean.bleu += part.bleu / count;
    mean.chrf += part.chrf / count;
    mean.bleu_error = std::hypot(mean.bleu_error, part.bleu_error / count);
    mean.chrf_error = std::hypot(mean.chrf_error, part.chrf_error / count);
  }
  return mean;
}

double ValidationResult::value(BestMetric metric) const {
  if (metric == BestMetric::Loss) return loss;
  return metric == BestMetric::Bleu ? decisive().bleu : decisive().chrf;
}

double ValidationResult::standard_error(BestMetric metric) const {
  if (metric == BestMetric::Loss) return 0;
  return metric == BestMetric::Bleu ? decisive().bleu_error : decisive().chrf_error;
}

namespace {

/// A BLEU or chrF as it is compared with others.
double value_to_compare(BestMetric metric, double value) {
  constexpr double kLowestBleu = 1, kLowestChrf = 5;
  return value < (metric == BestMetric::Bleu ? kLowestBleu : kLowestChrf) ? 0 : value;
}

}  // namespace

bool is_better(BestMetric metric, const ValidationScore& score, const ValidationScore& than) {
  if (metric == BestMetric::Loss) return score.value < than.value;
  const double shown = std::round(100 * value_to_compare(metric, score.value));
  const double to_beat = std::round(100 * value_to_compare(metric, than.value));
  return shown > to_beat || (shown == to_beat && score.loss < than.loss);
}

bool has_fallen(BestMetric metric, double value, double from, double tolerance) {
  const double room = from * tolerance / 100;
  return metric == BestMetric::Loss ? value > from + room : value < from - room;
}

// ---- the scores of both texts -------------------------------------------------------------------

double Scores::seconds() const { return valid.seconds + (keep ? keep->seconds : 0); }

bool Scores::beat(const BestModel& best, BestMetric metric) const {
  if (keep_has_fallen) return false;
  return !best.exists() || is_better(metric, valid.score(metric), {best.value, best.loss});
}

PatienceScore Scores::for_patience(BestMetric metric) const {
  const bool by_loss = metric == BestMetric::Loss;
  return {.score = by_loss ? -valid.loss : value_to_compare(metric, valid.value(metric)),
          .standard_error = valid.standard_error(metric),
          .loss = by_loss ? 0 : valid.loss,
          .counts = !keep_has_fallen};
}

// ---- the cross-attention of a pair --------------------------------------------------------------

namespace {

constexpr std::size_t kLines = 1000;  ///< that are looked at

std::vector<std::string> pieces_of(const Tokenizer& tokenizer, const std::vector<TokenId>& tokens) {
  std::vector<std::string> pieces;
  for (const TokenId token : tokens) pieces.push_back(tokenizer.piece(token));
  return pieces;
}

}  // namespace

AttentionRecorder::AttentionRecorder(const TokenizerPair& tokenizers,
                                     const std::vector<std::string>& source,
                                     const std::vector<std::string>& target) {
  std::size_t longest = 1;  // </s> alone is not a sentence
  for (std::size_t line = 0; line < std::min(source.size(), kLines); ++line) {
    std::vector<TokenId> source_tokens = tokenizers.source_tokens(source[line]);
    std::vector<TokenId> target_tokens = tokenizers.target_tokens(target[line]);
    const std::size_t least = std::min(source_tokens.size(), target_tokens.size());
    if (std::max(source_tokens.size(), target_tokens.size()) > kMostPieces || least <= longest)
      continue;
    longest = least;
    source_tokens_ = std::move(source_tokens);
    target_tokens_ = std::move(target_tokens);
  }
  source_ = pieces_of(*tokenizers.source, source_tokens_);
  target_ = pieces_of(*tokenizers.target, target_tokens_);
}

RecordedAttention AttentionRecorder::record(Engine& engine) const {
  RecordedAttention recorded{.source = source_, .target = target_};
  const auto longest = static_cast<std::int64_t>(std::max(source_.size(), target_.size()));
  if (longest == 0 || longest > engine.max_positions()) return recorded;
  // The search must begin with the target. Its last token, </s>, gives way to another one: what a
  // position attends to depends on the tokens before it alone.
  RequiredPrefix read{.tokens = target_tokens_};
  read.tokens.back() = read.tokens.front();
  SourceSentence sentence{.line = 0, .part = 0, .tokens = source_tokens_};
  sentence.settings = std::make_shared<const SearchSettings>(
      SearchSettings{.config = {.beam_size = 1, .max_length = std::ssize(target_)},
                     .tokens = {.eos = target_tokens_.back()}});
  sentence.needs_attention = true;
  sentence.required.prefix = std::move(read);
  const auto scheduler = scheduler_of(engine, 1);
  scheduler->admit({&sentence, 1});
  std::vector<SourceSentence> finished;
  while (finished.empty()) finished = scheduler->step();
  if (finished.front().error) std::rethrow_exception(finished.front().error);
  recorded.weights = std::move(finished.front().hypotheses.front().attention);
  recorded.weights.resize(source_.size() * target_.size());
  return recorded;
}

// ---- the loss of each training file -------------------------------------------------------------

CorpusLosses::CorpusLosses(const PreparedData& data) {
  constexpr std::int64_t kPairs = 256;
  constexpr std::size_t kPairsOfBatch = 16;
  if (data.sections.size() < 2) return;
  for (const CorpusSection& section : data.sections) {
    std::vector<std::uint32_t> pairs;
    const std::int64_t count = std::min(kPairs, section.pairs);
    for (std::int64_t i = 0; i < count; ++i)
      pairs.push_back(static_cast<std::uint32_t>(section.first_pair + i * section.pairs / count));
    std::ranges::stable_sort(pairs, {}, [&](auto pair) { return data.train.lengths(pair).target; });
    Sample sample{section.name, {}};
    for (std::size_t i = 0; i < pairs.size(); i += kPairsOfBatch)
      sample.batches.push_back(pack_batch(
          data.train, std::span(pairs).subspan(i, std::min(kPairsOfBatch, pairs.size() - i)),
          end_ids(data.tokenizers)));
    if (!pairs.empty()) samples_.push_back(std::move(sample));
  }
}

std::vector<CorpusLoss> CorpusLosses::run(TrainingModel& model,
                                          const torch::Tensor& weights) const {
  const ScopedWeights in_place(model, weights);
  std::vector<CorpusLoss> losses;
  for (const Sample& sample : samples_) {
    const BatchLoss sums = evaluate_in_parts(model, sample.batches);
    losses.push_back(
        {sample.name, sums.negative_log_likelihood / static_cast<double>(sums.target_tokens)});
  }
  return losses;
}

// ---- a validation -------------------------------------------------------------------------------

namespace {

constexpr std::int64_t kBootstrapSamples = 200;
/// Half of a 95 % interval, in standard errors.
constexpr double kErrorsInInterval = 1.96;

/// Engines with these weights. On the CPU there is one for each thread, in fp32 like the module
/// tree. On other devices there is one of the module tree, and `fewer_rows` becomes the number of
/// rows that are left if memory runs out.
std::vector<std::unique_ptr<Engine>> engines_of(TrainingModel& model, const torch::Tensor& weights,
                                                const std::vector<TokenId>& never_emitted,
                                                std::int64_t& fewer_rows) {
  std::vector<std::unique_ptr<Engine>> engines;
  if (weights.is_cpu()) {
    const ParametersInMemory parameters(model.config(), model.layout().tensors(weights));
    for (auto& engine : cpu_engines(std::make_shared<CpuModel>(parameters, ComputeType::Float32),
                                    never_emitted, at::get_num_threads()))
      engines.push_back(std::move(engine));
    return engines;
  }
  engines.push_back(device_engine({model.master()}, never_emitted,
                                  [&fewer_rows](std::int64_t rows) { fewer_rows = rows; }));
  return engines;
}

}  // namespace

Validator::Validator(const PreparedData& data, const ValidSet& set, const TrainConfig& config,
                     const TextRecord& record)
    : data_(data),
      set_(set),
      record_(record),
      deciding_(config.best_valid),
      beam_size_(config.valid_beam_size),
      batches_(all_batches(set.tokens, config.max_tokens, end_ids(data.tokenizers))),
      recorder_(data.tokenizers, set.source_lines, set.target_lines) {
  const auto decides = [this](const ValidPart& part) { return is_named(part.name, deciding_); };
  if (!deciding_.empty() && deciding_ != kMeanOfTexts && !set.parts.empty() &&
      std::ranges::none_of(set.parts, decides))
    throw Error("--best-valid ", deciding_, ": none of its pairs is left to validate with");
}

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
  const auto engines =
      engines_of(model, weights, data_.tokenizers.target->never_emitted(), result.fewer_rows);
  result.attention = recorder_.record(*engines.front());
  TranslationService service(pointers_to(engines), data_.tokenizers, {.record = record_});
  result.translations =
      best_texts(translate_lines(service, set_.source_lines, {.config = decode}, stop));
  if (result.translations.size() == set_.target_lines.size()) score(result);
  result.seconds = watch.seconds();
  return result;
}

void Validator::score(ValidationResult& result) const {
  EvaluateConfig evaluate;
  evaluate.confidence = true;
  evaluate.confidence_n = kBootstrapSamples;
  evaluate.lowercase = evaluate.chrf.lowercase = lower_cases(*data_.tokenizers.target);
  const auto scores_of = [&](const ValidPart& part) {
    const auto lines_of = [&](const std::vector<std::string>& lines) {
      return std::vector<std::string>(lines.begin() + static_cast<std::ptrdiff_t>(part.first),
                                      lines.begin() + static_cast<std::ptrdiff_t>(part.end));
    };
    const auto scores =
        evaluate_lines(lines_of(result.translations), {lines_of(set_.target_lines)}, evaluate, "");
    return TextScores{.name = part.name,
                      .bleu = scores[0].score,
                      .chrf = scores[1].score,
                      .bleu_error = scores[0].interval.value_or(0) / kErrorsInInterval,
                      .chrf_error = scores[1].interval.value_or(0) / kErrorsInInterval};
  };
  static_cast<TextScores&>(result) = scores_of({"", 0, set_.target_lines.size()});
  for (const ValidPart& part : set_.parts) result.parts.push_back(scores_of(part));
  if (result.parts.empty() || deciding_.empty()) return;
  if (deciding_ == kMeanOfTexts) result.deciding = mean_of(result.parts);
  for (const TextScores& part : result.parts)
    if (is_named(part.name, deciding_)) result.deciding = part;
}

}  // namespace dragoman
