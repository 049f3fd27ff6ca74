// The settings of training: loss, optimizer, schedule, stopping, checkpoints, hardware.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "data/epoch_plan.h"
#include "model/file/model_config.h"
#include "training/loss/loss_config.h"

namespace dragoman {

enum class Precision { Auto, Fp32, Bf16 };
constexpr std::array<std::string_view, 3> names_of(Precision) { return {"auto", "fp32", "bf16"}; }

enum class LrScheduler { InverseSqrt, Noam, Cosine, Linear, Wsd };
constexpr std::array<std::string_view, 5> names_of(LrScheduler) {
  return {"inverse-sqrt", "noam", "cosine", "linear", "wsd"};
}

/// The number that decides which checkpoint is the best, and that patience looks at.
enum class BestMetric { Loss, Bleu, Chrf };
constexpr std::array<std::string_view, 3> names_of(BestMetric) { return {"loss", "bleu", "chrf"}; }

struct TrainConfig {
  std::string output;
  std::string init_from;
  Preset preset = Preset::Base;
  std::int64_t seed = 1;

  std::int64_t max_tokens = 4096;
  std::int64_t max_sentences = 0;
  std::int64_t update_freq = 1;

  double lr = 7e-4;
  LrScheduler scheduler = LrScheduler::InverseSqrt;
  std::int64_t warmup_updates = 4000;
  double cooldown = 0.25;
  double min_lr = 0;
  std::int64_t lr_end = 0;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.98;
  double adam_eps = 1e-9;
  double weight_decay = 0;
  double clip_norm = 1;
  double label_smoothing = 0.1;
  double r_drop = 0;
  double guided_alignment_weight = 0.1;
  std::int64_t guided_alignment_layer = 0;
  std::int64_t guided_alignment_head = 1;
  double ema = 0;
  double spike_factor = 10;
  std::int64_t max_rollbacks = 5;

  std::int64_t max_updates = 0;
  std::int64_t max_epochs = 0;
  std::string max_time;
  std::int64_t patience = 10;

  std::int64_t valid_every = 1000;
  std::int64_t save_every = 0;
  double save_minutes = 10;
  std::int64_t log_every = 100;
  std::int64_t keep_last = 5;
  std::int64_t average_last = 5;
  BestMetric best_metric = BestMetric::Bleu;
  std::int64_t valid_beam_size = 1;
  double keep_tolerance = 1;
  std::int64_t samples = 3;

  Precision precision = Precision::Auto;
  std::string device = "auto";
  std::int64_t threads = 0;
  double rank_timeout = 30;

  /// Sets all fields to the preset's values, or to the defaults.
  void apply_preset(Preset chosen);
  /// Whether the learning rate comes to --min-lr at a fixed update (cosine and linear).
  bool has_lr_end() const;
  /// Replaces a `lr_end` of 0 by the update that it stands for. Throws UsageError if there is
  /// none.
  void settle_lr_end();
  /// Throws UsageError naming the flag. The next two functions check one flag each.
  void check() const;
  void check_output() const;
  void check_rank_timeout() const;
  /// Updates between checkpoints: save_every, or valid_every if that is 0.
  std::int64_t save_interval() const { return save_every > 0 ? save_every : valid_every; }
  LossConfig loss() const;
  /// How an epoch is planned, for a corpus of these weights. A rollback changes the seed.
  PlanConfig epoch_plan(std::vector<WeightedPairs> weights) const;
  /// --max-time in seconds; 0: no limit.
  double max_seconds() const;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    const auto in_group = [&visit](std::string_view group) {
      return [&visit, group](FieldInfo info, auto& value) {
        info.group = group;
        visit(info, value);
      };
    };
    run_fields(in_group("Run"));
    batch_fields(in_group("Batches"));
    optimizer_fields(in_group("Optimizer"));
    loss_fields(in_group("Optimizer"));
    stability_fields(in_group("Optimizer"));
    stopping_fields(in_group("Stopping"));
    validation_fields(in_group("Validation"));
    checkpoint_fields(in_group("Checkpoints and log"));
    hardware_fields(in_group("Hardware"));
  }

 private:
  static constexpr OnResume kAllowed = OnResume::Allowed, kNotExact = OnResume::NotExact;

  void run_fields(const auto& visit) {
    visit({.name = "output",
           .help = "run folder, with the model, the checkpoints and the log",
           .aliases = "save-dir,model-dir",
           .on_resume = kAllowed,
           .placeholder = "FOLDER"},
          output);
    visit(
        {.name = "init-from",
         .help =
             "run folder or model file to start from; the run takes over its weights, tokenizer "
             "and architecture; --preset then sets only the training, by default as for that model",
         .aliases = "pretrained-model,finetune-from-model",
         .placeholder = "FILE"},
        init_from);
    visit({.name = "preset",
           .help = "size of the model; auto: the largest that the text can support and that trains "
                   "fast enough on this machine",
           .aliases = "arch"},
          preset);
    visit({.name = "seed", .help = "seed of all random numbers", .aliases = "random-seed"}, seed);
  }

  void batch_fields(const auto& visit) {
    visit({.name = "max-tokens",
           .help = "maximum number of source pieces, and of target pieces, in a batch; if not "
                   "given, 2,048 for tiny and small, otherwise 4,096; auto: the smallest number "
                   "with nearly the highest speed, measured when the run starts",
           .aliases = "mini-batch-words"},
          max_tokens);
    visit({.name = "max-sentences",
           .help = "maximum number of pairs in a batch; 0: no limit",
           .aliases = "mini-batch"},
          max_sentences);
    visit({.name = "update-freq",
           .help = "number of batches per rank in one update",
           .aliases = "optimizer-delay,accumulate,accum-count"},
          update_freq);
  }

  void optimizer_fields(const auto& visit) {
    visit({.name = "lr",
           .help = "peak learning rate (noam: its factor)",
           .aliases = "learning-rate,learn-rate"},
          lr);
    visit({.name = "lr-scheduler",
           .help = "schedule of the learning rate; wsd: it rises, stays constant, and falls at the "
                   "end (--cooldown)",
           .aliases = "scheduler,decay-method"},
          scheduler);
    visit({.name = "warmup-updates",
           .help = "updates over which the learning rate rises to its peak",
           .aliases = "warmup,lr-warmup,warmup-steps"},
          warmup_updates);
    visit({.name = "cooldown",
           .help = "wsd: fraction of the run, at its end, in which the learning rate falls; the "
                   "fall begins when the end is in sight or --patience has run out",
           .aliases = "decay-share"},
          cooldown);
    visit({.name = "min-lr", .help = "lowest rate after the warm-up"}, min_lr);
    visit({.name = "lr-end",
           .help = "update at which cosine and linear reach --min-lr; 0: --max-updates",
           .aliases = "total-num-update"},
          lr_end);
    visit({.name = "adam-beta1", .help = "decay of Adam's first moment"}, adam_beta1);
    visit({.name = "adam-beta2", .help = "decay of Adam's second moment"}, adam_beta2);
    visit({.name = "adam-eps", .help = "Adam's epsilon"}, adam_eps);
    visit(
        {.name = "weight-decay", .help = "decoupled weight decay, multiplied by the learning rate"},
        weight_decay);
    visit({.name = "clip-norm",
           .help = "largest norm of the gradient; 0: no clipping",
           .aliases = "max-grad-norm,clip-grad-norm"},
          clip_norm);
  }

  void loss_fields(const auto& visit) {
    visit({.name = "label-smoothing",
           .help = "probability taken from the target piece and spread over all pieces"},
          label_smoothing);
    visit(
        {.name = "r-drop",
         .help = "alpha of R-Drop: two passes with different dropout must agree (1 to 5, for small "
                 "corpora; an update takes twice the time); 0: off",
         .aliases = "reg-alpha,rdrop-alpha"},
        r_drop);
    visit(
        {.name = "guided-alignment-weight",
         .help =
             "weight of the loss that teaches the cross-attention the links of --guided-alignment"},
        guided_alignment_weight);
    visit({.name = "guided-alignment-layer",
           .help = "decoder layer that learns these links, counted from 1; 0: the last",
           .aliases = "transformer-guided-alignment-layer,alignment-layer"},
          guided_alignment_layer);
    visit({.name = "guided-alignment-head",
           .help = "head of that layer that learns them, counted from 1; 0: the mean of all"},
          guided_alignment_head);
  }

  void stability_fields(const auto& visit) {
    visit({.name = "ema",
           .help = "decay of a moving average of the weights, for example 0.999; the average is "
                   "validated and becomes the model; 0: no average",
           .aliases = "ema-decay"},
          ema);
    visit({.name = "spike-factor",
           .help = "leave out an update if its loss or gradient norm is more than this many times "
                   "the recent mean; 0: only if it is not finite",
           .on_resume = kNotExact},
          spike_factor);
    visit({.name = "max-rollbacks",
           .help = "how many times a run that diverges may return to an earlier checkpoint, each "
                   "time with half the learning rate",
           .on_resume = kAllowed},
          max_rollbacks);
  }

  void stopping_fields(const auto& visit) {
    visit({.name = "max-updates",
           .help = "stop after this many updates; 0: no limit",
           .aliases = "max-update,train-steps,updates",
           .on_resume = kAllowed},
          max_updates);
    visit({.name = "max-epochs",
           .help = "stop after this many passes over the corpus; 0: no limit",
           .aliases = "max-epoch,epochs",
           .on_resume = kAllowed},
          max_epochs);
    visit({.name = "max-time",
           .help = "stop after this time: 90s, 30m, 12h, 2d; empty: no limit",
           .on_resume = kAllowed},
          max_time);
    visit({.name = "patience",
           .help = "stop (wsd: begin the cooldown) after this many validations without a gain in "
                   "the mean of the last three scores; 0: never",
           .aliases = "early-stopping",
           .on_resume = kAllowed},
          patience);
  }

  void validation_fields(const auto& visit) {
    visit({.name = "valid-every",
           .help = "updates between validations",
           .aliases = "valid-freq,valid-steps,validate-interval-updates"},
          valid_every);
    visit({.name = "best-metric",
           .help = "metric that decides which checkpoint is the best, and whether --patience "
                   "counts a gain",
           .aliases = "early-stopping-metric"},
          best_metric);
    visit({.name = "valid-beam-size", .help = "beam size of the translations at validations"},
          valid_beam_size);
    visit({.name = "keep-tolerance",
           .help = "how much worse --best-metric on --keep-valid-src may become than it was at the "
                   "start, in percent"},
          keep_tolerance);
    visit(
        {.name = "samples", .help = "translations shown at each validation", .on_resume = kAllowed},
        samples);
  }

  void checkpoint_fields(const auto& visit) {
    visit({.name = "save-every",
           .help = "updates between checkpoints; 0: at each validation",
           .aliases = "save-freq,save-interval-updates",
           .on_resume = kAllowed},
          save_every);
    visit({.name = "save-minutes",
           .help = "minutes between checkpoints that serve only to resume the run",
           .on_resume = kAllowed},
          save_minutes);
    visit({.name = "keep-last",
           .help = "number of newest checkpoints to keep; at least --average-last",
           .aliases = "keep-checkpoint,keep-interval-updates",
           .on_resume = kAllowed},
          keep_last);
    visit({.name = "average-last",
           .help = "number of newest checkpoints to average at the end; 0 or 1: no average",
           .on_resume = kAllowed},
          average_last);
    visit({.name = "log-every",
           .help = "updates between log lines",
           .aliases = "disp-freq,log-interval,report-every",
           .on_resume = kAllowed},
          log_every);
  }

  /// A changed precision or number of threads is found by MachineFacts, so these fields are
  /// Allowed.
  void hardware_fields(const auto& visit) {
    visit({.name = "precision",
           .help = "number type to compute in; the weights stay in fp32",
           .on_resume = kAllowed},
          precision);
    visit({.name = "device",
           .help = "device to compute on: auto, cpu, cuda or cuda:N",
           .on_resume = kNotExact},
          device);
    visit({.name = "threads",
           .help = "threads on the CPU; 0: all cores that this process may use, divided among the "
                   "ranks of a machine",
           .aliases = "cpu-threads",
           .on_resume = kAllowed},
          threads);
    visit({.name = "rank-timeout",
           .help = "seconds without a heartbeat after which a rank counts as hung; at the start, "
                   "all ranks must connect within ten times as long",
           .on_resume = kAllowed},
          rank_timeout);
  }
};

/// "90", "90s", "30m", "1.5h", "2d" in seconds; "" is 0. Throws UsageError naming the flag.
double parse_duration(std::string_view flag, const std::string& text);

}  // namespace dragoman
