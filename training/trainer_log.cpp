// What the trainer writes into log.jsonl and TensorBoard's event files.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/byte_text.h"
#include "training/trainer.h"

namespace dragoman {

nlohmann::ordered_json to_json(const UpdateFacts& facts) {
  nlohmann::ordered_json json{{"type", "update"},
                              {"epoch", facts.epoch},
                              {"update", facts.update},
                              {"loss", facts.loss},
                              {"negative_log_likelihood", std::log(facts.perplexity)},
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
  auto settings = nlohmann::ordered_json::object();
  for (const auto& [name, text] : progress_.settings.values) settings[name] = utf8_of_bytes(text);
  append_log({{"type", "start"},
              {"after_update", progress_.update},
              {"parameters", model_.layout().parameters()},
              {"ranks", progress_.ranks},
              {"precision", progress_.precision},
              {"threads", progress_.threads},
              {"processor", progress_.processor},
              {"settings", settings}});
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
      .outlook = outlook(run_.config, progress_, pace())};
  append_log(to_json(facts));
  observer_.logged(facts, progress_);
  interval_ = {.sums = {},
               .gradient_norm = 0,
               .waited = stream_->waited_seconds(),
               .start = now,
               .updates = 0};
}

}  // namespace dragoman
