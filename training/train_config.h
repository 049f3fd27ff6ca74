// The settings of training: loss, optimizer, schedule, stopping, checkpoints, hardware.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fields.h"
#include "model/file/model_config.h"
#include "training/loss_config.h"
#include "training/schedule.h"

namespace dragoman {

enum class Precision { Auto, Fp32, Bf16 };
constexpr std::array<std::string_view, 3> names_of(Precision) { return {"auto", "fp32", "bf16"}; }

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

  /// Sets rate, warm-up and batch to the preset's.
  void apply_preset(Preset chosen);
  /// Whether the learning rate comes to --min-lr at an update.
  bool has_lr_end() const;
  /// Replaces a `lr_end` of 0 by the update that it stands for. Throws UsageError where there is
  /// none.
  void settle_lr_end();
  /// Throws UsageError naming the flag. The next two functions check one flag each.
  void validate() const;
  void check_output() const;
  void check_rank_timeout() const;
  /// Updates between checkpoints: save_every, or valid_every where that is 0.
  std::int64_t save_interval() const { return save_every > 0 ? save_every : valid_every; }
  LossConfig loss() const;
  /// --max-time in seconds; 0: no limit.
  double max_seconds() const;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    constexpr OnResume kAllowed = OnResume::Allowed, kNotExact = OnResume::NotExact;
    visit({.name = "output",
           .help = "run folder: the model, checkpoints, log (-o)",
           .group = "Run",
           .aliases = "save-dir,model-dir",
           .on_resume = kAllowed},
          output);
    visit({.name = "init-from",
           .help = "run folder or model file whose weights, tokenizer and architecture the run "
                   "starts with; --preset then sets the training alone, and is by default that of "
                   "the model's run",
           .group = "Run",
           .aliases = "pretrained-model,finetune-from-model"},
          init_from);
    visit(
        {.name = "preset",
         .help = "size of the model and what fits it; auto, or left open: what the text is enough "
                 "for and the machine can train",
         .group = "Run",
         .aliases = "arch"},
        preset);
    visit(
        {.name = "seed", .help = "of everything random", .group = "Run", .aliases = "random-seed"},
        seed);

    visit({.name = "max-tokens",
           .help = "source and target pieces of a batch, each at most; auto: as many as make "
                   "updates faster here, measured when the run starts",
           .group = "Batches",
           .aliases = "mini-batch-words"},
          max_tokens);
    visit({.name = "max-sentences",
           .help = "pairs of a batch, at most; 0: no limit",
           .group = "Batches",
           .aliases = "mini-batch"},
          max_sentences);
    visit({.name = "update-freq",
           .help = "batches of each rank behind one update",
           .group = "Batches",
           .aliases = "optimizer-delay,accumulate,accum-count"},
          update_freq);

    visit({.name = "lr",
           .help = "highest learning rate (noam: factor)",
           .group = "Optimizer",
           .aliases = "learning-rate,learn-rate"},
          lr);
    visit({.name = "lr-scheduler",
           .help = "shape of the learning rate; wsd: warm-up, constant, then --cooldown",
           .group = "Optimizer",
           .aliases = "scheduler,decay-method"},
          scheduler);
    visit({.name = "warmup-updates",
           .help = "updates of increase",
           .group = "Optimizer",
           .aliases = "warmup,lr-warmup,warmup-steps"},
          warmup_updates);
    visit({.name = "cooldown",
           .help = "wsd: share of the run in which the rate falls from its peak, at the end; it "
                   "begins when an end is in sight, or --patience is over",
           .group = "Optimizer",
           .aliases = "decay-share"},
          cooldown);
    visit({.name = "min-lr", .help = "lowest rate after warm-up", .group = "Optimizer"}, min_lr);
    visit({.name = "lr-end",
           .help = "update at which cosine and linear come to --min-lr; 0: --max-updates",
           .group = "Optimizer",
           .aliases = "total-num-update"},
          lr_end);
    visit({.name = "adam-beta1", .help = "decay of Adam's first moment", .group = "Optimizer"},
          adam_beta1);
    visit({.name = "adam-beta2", .help = "decay of Adam's second moment", .group = "Optimizer"},
          adam_beta2);
    visit({.name = "adam-eps", .help = "Adam's epsilon", .group = "Optimizer"}, adam_eps);
    visit({.name = "weight-decay", .help = "decoupled, times the rate", .group = "Optimizer"},
          weight_decay);
    visit({.name = "clip-norm",
           .help = "longest gradient; 0: no clipping",
           .group = "Optimizer",
           .aliases = "max-grad-norm,clip-grad-norm"},
          clip_norm);
    visit({.name = "label-smoothing",
           .help = "share of the target spread over all pieces",
           .group = "Optimizer"},
          label_smoothing);
    visit({.name = "r-drop",
           .help = "alpha of R-Drop: two passes with unlike dropout must agree (1 to 5, for small "
                   "corpora; an update takes twice the time); 0: off",
           .group = "Optimizer",
           .aliases = "reg-alpha,rdrop-alpha"},
          r_drop);
    visit({.name = "guided-alignment-weight",
           .help = "of the loss that teaches the cross-attention the links of --guided-alignment",
           .group = "Optimizer"},
          guided_alignment_weight);
    visit({.name = "guided-alignment-layer",
           .help = "layer of the decoder that is taught, from 1; 0: the last",
           .group = "Optimizer",
           .aliases = "transformer-guided-alignment-layer,alignment-layer"},
          guided_alignment_layer);
    visit({.name = "guided-alignment-head",
           .help = "its head that is taught, from 1; 0: the mean of all",
           .group = "Optimizer"},
          guided_alignment_head);
    visit({.name = "ema",
           .help = "decay of a moving average of the weights, which is validated and kept as the "
                   "model: 0.999, for example; 0: none",
           .group = "Optimizer",
           .aliases = "ema-decay"},
          ema);
    visit({.name = "spike-factor",
           .help = "leave out updates whose loss or gradient norm is more than this times the "
                   "recent mean; 0: only what is not finite",
           .group = "Optimizer",
           .on_resume = kNotExact},
          spike_factor);
    visit({.name = "max-rollbacks",
           .help = "returns to an earlier checkpoint, with half the rate, after a divergence",
           .group = "Optimizer",
           .on_resume = kAllowed},
          max_rollbacks);

    visit({.name = "max-updates",
           .help = "stop after so many updates; 0: no limit",
           .group = "Stopping",
           .aliases = "max-update,train-steps,updates",
           .on_resume = kAllowed},
          max_updates);
    visit({.name = "max-epochs",
           .help = "stop after so many passes over the corpus; 0: no limit",
           .group = "Stopping",
           .aliases = "max-epoch,epochs",
           .on_resume = kAllowed},
          max_epochs);
    visit({.name = "max-time",
           .help = "stop after this time: 90s, 30m, 12h, 2d; empty: no limit",
           .group = "Stopping",
           .on_resume = kAllowed},
          max_time);
    visit({.name = "patience",
           .help = "stop (wsd: begin to cool down) after so many validations in which the mean of "
                   "the last three scores has not risen beyond its noise; 0: never",
           .group = "Stopping",
           .aliases = "early-stopping",
           .on_resume = kAllowed},
          patience);

    visit({.name = "valid-every",
           .help = "updates between validations",
           .group = "Validation",
           .aliases = "valid-freq,valid-steps,validate-interval-updates"},
          valid_every);
    visit({.name = "best-metric",
           .help = "decides the best checkpoint, and patience",
           .group = "Validation",
           .aliases = "early-stopping-metric"},
          best_metric);
    visit({.name = "valid-beam-size",
           .help = "beam of validation's translations",
           .group = "Validation"},
          valid_beam_size);
    visit({.name = "keep-tolerance",
           .help =
               "percent that the --best-metric of --keep-valid-src may be worse than at the start",
           .group = "Validation"},
          keep_tolerance);
    visit({.name = "samples",
           .help = "translations shown at each validation",
           .group = "Validation",
           .on_resume = kAllowed},
          samples);

    visit({.name = "save-every",
           .help = "updates between checkpoints; 0: at each validation",
           .group = "Checkpoints and log",
           .aliases = "save-freq,save-interval-updates",
           .on_resume = kAllowed},
          save_every);
    visit({.name = "save-minutes",
           .help = "minutes between checkpoints that only a resume uses",
           .group = "Checkpoints and log",
           .on_resume = kAllowed},
          save_minutes);
    visit({.name = "keep-last",
           .help = "checkpoints kept (at least as many as are averaged)",
           .group = "Checkpoints and log",
           .aliases = "keep-checkpoint,keep-interval-updates",
           .on_resume = kAllowed},
          keep_last);
    visit({.name = "average-last",
           .help = "checkpoints averaged at the end; 0: none",
           .group = "Checkpoints and log"},
          average_last);
    visit({.name = "log-every",
           .help = "updates between log lines",
           .group = "Checkpoints and log",
           .aliases = "disp-freq,log-interval,report-every",
           .on_resume = kAllowed},
          log_every);

    visit({.name = "precision",
           .help = "of the arithmetic; weights are kept in fp32",
           .group = "Hardware",
           .on_resume = kNotExact},
          precision);
    visit({.name = "device",
           .help = "auto, cpu, cuda or cuda:N",
           .group = "Hardware",
           .on_resume = kNotExact},
          device);
    visit({.name = "threads",
           .help = "of the CPU; 0: all that this process may use, shared by the ranks of a machine",
           .group = "Hardware",
           .aliases = "cpu-threads",
           .on_resume = kNotExact},
          threads);
    visit(
        {.name = "rank-timeout",
         .help = "seconds without a sign of life after which one of several ranks counts as hung; "
                 "at the start, ten times as long for all to come",
         .group = "Hardware",
         .on_resume = kAllowed},
        rank_timeout);
  }
};

/// "90", "90s", "30m", "1.5h", "2d" in seconds; "" is 0. Throws UsageError naming the flag.
double parse_duration(std::string_view flag, const std::string& text);

}  // namespace dragoman
