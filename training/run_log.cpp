#include "training/run_log.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/byte_text.h"
#include "base/error.h"
#include "training/checkpoint.h"

namespace dragoman {

namespace {

using Json = nlohmann::ordered_json;

/// With three digits of each weight: a picture needs no more.
Json to_json(const RecordedAttention& attention) {
  Json rows = Json::array();
  const std::size_t keys = attention.source.size();
  for (std::size_t i = 0; i < attention.weights.size(); ++i) {
    if (i % keys == 0) rows.push_back(Json::array());
    rows.back().push_back(std::round(static_cast<double>(attention.weights[i]) * 1e3) / 1e3);
  }
  return {{"source", attention.source}, {"target", attention.target}, {"weights", rows}};
}

Json to_json(const ValidationFacts& facts) {
  const ValidationResult& result = facts.scores.valid;
  Json json{{"type", "validation"},
            {"update", facts.update},
            {"loss", result.loss},
            {"perplexity", result.perplexity},
            {"bleu", result.bleu},
            {"bleu_error", result.bleu_error},
            {"chrf", result.chrf},
            {"chrf_error", result.chrf_error},
            {"seconds", facts.scores.seconds()},
            {"best", facts.new_best},
            {"target_tokens", facts.target_tokens},
            {"elapsed", facts.elapsed}};
  if (const auto& keep = facts.scores.keep) {
    json["keep_loss"] = keep->loss;
    json["keep_bleu"] = keep->bleu;
    json["keep_chrf"] = keep->chrf;
    json["keep_has_fallen"] = facts.scores.keep_has_fallen;
  }
  if (!result.attention.empty()) json["attention"] = to_json(result.attention);
  for (const TranslatedSample& sample : facts.samples)
    json["samples"].push_back({{"source", sample.source},
                               {"translation", sample.translation},
                               {"reference", sample.reference}});
  return json;
}

}  // namespace

Json to_json(const UpdateFacts& facts) {
  const IntervalMeans& means = facts.means;
  Json json{{"type", "update"},
            {"epoch", facts.epoch},
            {"update", facts.update},
            {"loss", means.loss},
            {"negative_log_likelihood", std::log(means.perplexity)},
            {"perplexity", means.perplexity},
            {"gradient_norm", means.gradient_norm},
            {"learning_rate", facts.learning_rate},
            {"source_tokens_per_second", means.source_tokens_per_second},
            {"target_tokens_per_second", means.target_tokens_per_second},
            {"data_wait", means.data_wait},
            {"target_tokens", facts.target_tokens},
            {"elapsed", facts.elapsed}};
  if (means.alignment_loss) json["alignment_loss"] = *means.alignment_loss;
  return json;
}

RunLog::RunLog(RunFolder folder, TrainingObserver& observer)
    : folder_(std::move(folder)), observer_(observer) {}

void RunLog::open(const ProgressRecord& progress, std::int64_t parameters) {
  lines_.emplace(folder_.log(), progress.log_bytes);
  open_events(progress.update + 1);
  const MachineFacts& machine = progress.start.machine;
  auto settings = Json::object();
  for (const auto& [name, text] : progress.start.settings.values)
    settings[name] = utf8_of_bytes(text);
  append({{"type", "start"},
          {"after_update", progress.update},
          {"parameters", parameters},
          {"ranks", machine.ranks},
          {"precision", machine.precision},
          {"threads", machine.threads},
          {"processor", machine.processor},
          {"settings", settings}});
}

void RunLog::logged(const UpdateFacts& facts) { append(to_json(facts)); }

void RunLog::validated(const ValidationFacts& facts) { append(to_json(facts)); }

void RunLog::averaged(const AverageFacts& facts) {
  append({{"type", "average"},
          {"checkpoints", facts.checkpoints},
          {"loss", facts.result.loss},
          {"bleu", facts.result.bleu},
          {"chrf", facts.result.chrf},
          {"kept", facts.kept}});
}

void RunLog::left_out(const LeftOutFacts& facts) {
  append({{"type", "left_out"},
          {"update", facts.update},
          {"reason", facts.is_finite() ? "spike" : "not finite"},
          {"loss", facts.loss},
          {"gradient_norm", facts.gradient_norm},
          {"lines", facts.lines}});
}

void RunLog::rolled_back(std::int64_t from, const ProgressRecord& progress) {
  append({{"type", "rollback"},
          {"update", from},
          {"to_update", progress.update},
          {"rate_factor", progress.rate_factor}});
  if (lines_) open_events(progress.update + 1);
}

std::optional<std::int64_t> RunLog::sync() {
  if (!lines_) return std::nullopt;
  lines_->sync();
  return lines_->bytes();
}

void RunLog::open_events(std::int64_t first_update) {
  try_to_save("TensorBoard's events", "training goes on", observer_,
              [&] { events_.emplace(folder_.tensorboard(), first_update); });
}

void RunLog::append(const Json& line) {
  if (!lines_) return;
  const auto check = [this](bool written, const std::filesystem::path& path) {
    if (!written) observer_.warned(path.string() + ": cannot write; going on");
  };
  check(lines_->append(line.dump() + "\n"), folder_.log());
  check(!events_ || events_->append(line), folder_.tensorboard());
}

}  // namespace dragoman
