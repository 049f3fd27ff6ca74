// What the trainer writes into log.jsonl and TensorBoard's event files, and how much is left to do.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "training/trainer.h"

namespace dragoman {

nlohmann::ordered_json to_json(const UpdateFacts& facts) {
  nlohmann::ordered_json json{{"type", "update"},
                              {"epoch", facts.epoch},
                              {"update", facts.update},
                              {"loss", facts.loss},
                              {"perplexity", facts.perplexity},
                              {"gradient_norm", facts.gradient_norm},
                              {"learning_rate", facts.learning_rate},
                              {"source_tokens_per_second", facts.source_tokens_per_second},
                              {"target_tokens_per_second", facts.target_tokens_per_second},
                              {"data_wait", facts.data_wait},
                              {"target_tokens", facts.target_tokens},
                              {"elapsed", facts.elapsed}};
  if (facts.alignment_loss) json["alignment_loss"] = *facts.alignment_loss;
  return json;
}

void Trainer::open_log() {
  log_.emplace(run_.folder.log(), progress_.log_bytes);
  open_events();
  append_log({{"type", "start"},
              {"after_update", progress_.update},
              {"parameters", model_.layout().parameters()},
              {"ranks", progress_.ranks},
              {"precision", progress_.precision},
              {"threads", progress_.threads},
              {"processor", progress_.processor}});
}

void Trainer::open_events() {
  try_to("TensorBoard's events",
         [this] { events_.emplace(run_.folder.tensorboard(), progress_.update + 1); });
}

void Trainer::append_log(const nlohmann::ordered_json& line) {
  if (!log_) return;
  const auto check = [this](bool written, const std::filesystem::path& path) {
    if (!written) observer_.warned(path.string() + ": cannot write; going on");
  };
  check(log_->append(line.dump() + "\n"), run_.folder.log());
  check(!events_ || events_->append(line), run_.folder.tensorboard());
}

void Trainer::log_update() {
  if (interval_.updates == 0) return;  // all were left out, and said so
  const double now = seconds_here();
  const double seconds = std::max(1e-9, now - interval_.start);
  const auto tokens = static_cast<double>(interval_.sums.target_tokens);
  const auto updates = static_cast<double>(interval_.updates);
  const UpdateFacts facts{
      .epoch = progress_.epoch + 1,
      .update = progress_.update,
      .loss = interval_.sums.smoothed / tokens,
      .perplexity = std::exp(interval_.sums.negative_log_likelihood / tokens),
      .alignment_loss = interval_.sums.linked_tokens > 0
                            ? std::optional(interval_.sums.alignment / interval_.sums.linked_tokens)
                            : std::nullopt,
      .gradient_norm = interval_.gradient_norm / updates,
      .learning_rate = learning_rate_at(progress_.update),
      .source_tokens_per_second = static_cast<double>(interval_.sums.source_tokens) / seconds,
      .target_tokens_per_second = tokens / seconds,
      .data_wait = (stream_->waited_seconds() - interval_.waited) / seconds,
      .target_tokens = progress_.target_tokens,
      .elapsed = seconds_before_ + now,
      .seconds_left = seconds_left(seconds / updates)};
  append_log(to_json(facts));
  observer_.logged(facts);
  interval_ = {.sums = {},
               .gradient_norm = 0,
               .waited = stream_->waited_seconds(),
               .start = now,
               .updates = 0};
}

double Trainer::seconds_left(double seconds_per_update) const {
  const TrainConfig& config = run_.config;
  double left = 0;
  const auto limit = [&left](double seconds) {
    left = left == 0 ? std::max(0.0, seconds) : std::min(left, std::max(0.0, seconds));
  };
  if (config.max_updates > 0)
    limit(static_cast<double>(config.max_updates - progress_.update) * seconds_per_update);
  if (config.max_epochs > 0) {
    const auto batches =
        (config.max_epochs - progress_.epoch) * stream_->batches_in_epoch() - progress_.batch;
    limit(static_cast<double>(batches) / static_cast<double>(config.update_freq * ranks_.size()) *
          seconds_per_update);
  }
  if (config.max_seconds() > 0) limit(config.max_seconds() - progress_.seconds);
  return left;
}

}  // namespace dragoman
