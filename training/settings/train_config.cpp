#include "training/settings/train_config.h"

#include <array>
#include <filesystem>

namespace dragoman {

namespace {

void require(bool holds, std::string_view flag, std::string_view rule) {
  if (!holds) throw UsageError("--", flag, " must be ", rule);
}

void check_lr_end(const TrainConfig& config) {
  if (config.lr_end == 0 || config.lr_end > config.warmup_updates) return;
  if (config.lr_end == config.max_updates)  // perhaps nobody has given --lr-end
    throw UsageError(
        "--max-updates ", config.max_updates, ": the learning rate rises for ",
        config.warmup_updates,
        " updates (--warmup-updates) and then has none left to fall in (--lr-scheduler ",
        name_of(config.scheduler), "); give more --max-updates or fewer --warmup-updates");
  throw UsageError("--lr-end must be 0 or above --warmup-updates");
}

bool is_fraction(double value) { return value >= 0 && value < 1; }

}  // namespace

void TrainConfig::apply_preset(Preset chosen) {
  *this = TrainConfig{};
  preset = chosen;
  switch (chosen) {
    case Preset::Tiny:  // rates follow the text: training/settings/automatic_settings.h
    case Preset::Small:
      scheduler = LrScheduler::Wsd;
      break;
    case Preset::Base:
    case Preset::Big:  // batches of about 25,000 pieces, as in section 5.1
      update_freq = 6;
      break;
  }
}

PlanConfig TrainConfig::epoch_plan(std::vector<WeightStage> stages) const {
  return {.max_tokens = max_tokens,
          .max_sentences = max_sentences,
          .lengths = batch_lengths,
          .seed = static_cast<std::uint64_t>(seed),
          .stages = std::move(stages),
          .threads = static_cast<int>(threads)};
}

LossConfig TrainConfig::loss() const {
  return {.label_smoothing = label_smoothing,
          .alignment_weight = guided_alignment_weight,
          .alignment_layer = guided_alignment_layer,
          .alignment_head = guided_alignment_head};
}

double TrainConfig::max_seconds() const {
  if (max_time.empty()) return 0;
  constexpr std::string_view kUnits = "smhd";
  constexpr std::array kSeconds = {1, 60, 60 * 60, 24 * 60 * 60};
  std::string number = max_time;
  double unit = 1;
  if (const std::size_t found = kUnits.find(number.back()); found != std::string_view::npos) {
    unit = kSeconds[found];
    number.pop_back();
  }
  double value = 0;
  try {
    value = parse_number("max-time", number);
  } catch (const UsageError&) {
    throw UsageError("--max-time: '", max_time, "' is none of 90, 90s, 30m, 1.5h, 2d");
  }
  require(value > 0, "max-time", "above 0");
  return value * unit;
}

bool TrainConfig::has_lr_end() const {
  return scheduler == LrScheduler::Cosine || scheduler == LrScheduler::Linear;
}

void TrainConfig::settle_lr_end() {
  if (!has_lr_end() || lr_end > 0) return;
  if (max_updates == 0)
    throw UsageError("--lr-scheduler ", name_of(scheduler),
                     " needs --lr-end or --max-updates: it ends there");
  lr_end = max_updates;
}

void TrainConfig::check_output() const {
  if (output.empty()) throw UsageError("-o/--output: a folder for the run is needed");
}

void TrainConfig::check_rank_timeout() const {
  require(rank_timeout >= 1 && rank_timeout <= 3600, "rank-timeout", "from 1 to 3600");
}

void TrainConfig::check() const {
  check_rank_timeout();
  require(max_tokens > 0, "max-tokens", "above 0, or auto");
  require(max_sentences >= 0, "max-sentences", "0 or more");
  require(update_freq > 0, "update-freq", "above 0");
  require(lr > 0, "lr", "above 0");
  require(min_lr >= 0 && min_lr <= lr, "min-lr", "from 0 to --lr");
  check_lr_end(*this);
  require(warmup_updates >= 0, "warmup-updates", "0 or more");
  require(cooldown > 0 && cooldown < 1, "cooldown", "above 0 and below 1");
  require(is_fraction(adam_beta1), "adam-beta1", "from 0 to below 1");
  require(is_fraction(adam_beta2), "adam-beta2", "from 0 to below 1");
  require(adam_eps > 0, "adam-eps", "above 0");
  require(weight_decay >= 0, "weight-decay", "0 or more");
  require(clip_norm >= 0, "clip-norm", "0 or more");
  require(is_fraction(label_smoothing), "label-smoothing", "from 0 to below 1");
  require(guided_alignment_weight >= 0, "guided-alignment-weight", "0 or more");
  require(guided_alignment_layer >= 0, "guided-alignment-layer", "0 or more");
  require(guided_alignment_head >= 0, "guided-alignment-head", "0 or more");
  require(is_fraction(ema), "ema", "from 0 to below 1");
  require(spike_factor == 0 || spike_factor > 1, "spike-factor", "0 or above 1");
  require(max_rollbacks >= 0, "max-rollbacks", "0 or more");
  require(max_updates >= 0, "max-updates", "0 or more");
  require(max_epochs >= 0, "max-epochs", "0 or more");
  require(patience >= 0, "patience", "0 or more");
  require(valid_every > 0, "valid-every", "above 0");
  require(save_every >= 0, "save-every", "0 or more");
  require(save_minutes > 0, "save-minutes", "above 0");
  require(keep_last > 0, "keep-last", "above 0");
  require(average_last >= 0, "average-last", "0 or more");
  if (average_last > keep_last)
    throw UsageError("--average-last ", average_last, ": --keep-last keeps ", keep_last,
                     " checkpoints; lower the one or raise the other");
  require(log_every > 0, "log-every", "above 0");
  require(valid_beam_size > 0 && valid_beam_size <= 1000, "valid-beam-size", "from 1 to 1000");
  require(keep_tolerance >= 0 && keep_tolerance <= 100, "keep-tolerance", "from 0 to 100");
  require(samples >= 0, "samples", "0 or more");
  max_seconds();
}

bool is_named(const std::string& file, const std::string& asked) {
  return file == asked || std::filesystem::path(file).filename() == asked;
}

}  // namespace dragoman
