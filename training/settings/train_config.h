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
#include "training/settings/loss_config.h"

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
  BatchLengths batch_lengths = BatchLengths::Similar;
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
  std::string best_valid;  ///< see is_named(); kMeanOfTexts: the mean
  std::int64_t valid_beam_size = 1;
  double keep_tolerance = 1;
  std::int64_t samples = 3;

  Precision precision = Precision::Auto;
  std::string device = "auto";
  bool device_graph = false;
  std::int64_t threads = 0;
  double rank_timeout = 30;

  /// Sets all fields to the preset's values, or to the defaults.
  void apply_preset(Preset chosen);
  /// Whether the learning rate reaches --min-lr at a fixed update (cosine and linear).
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
  /// How an epoch is planned, for a corpus of these stages. A rollback changes the seed.
  PlanConfig epoch_plan(std::vector<WeightStage> stages) const;
  /// --max-time in seconds ("90", "90s", "30m", "1.5h", "2d"); 0: no limit. Throws UsageError.
  double max_seconds() const;

  void for_each_field(const auto& visit) {
    run_fields(fields_under("Run", visit));
    batch_fields(fields_under("Batches", visit));
    optimizer_fields(fields_under("Optimizer", visit));
    loss_fields(fields_under("Optimizer", visit));
    stability_fields(fields_under("Optimizer", visit));
    stopping_fields(fields_under("Stopping", visit));
    validation_fields(fields_under("Validation", visit));
    checkpoint_fields(fields_under("Checkpoints and log", visit));
    hardware_fields(fields_under("Hardware", visit));
  }

 private:
  static constexpr OnResume kAllowed = OnResume::Allowed, kNotExact = OnResume::NotExact;

  void run_fields(const auto& field) {
    field("output", output, "run folder, with the model, the checkpoints and the log",
          {.aliases = "save-dir,model-dir", .on_resume = kAllowed, .placeholder = "FOLDER"});
    field("init-from", init_from,
          "run folder or model file to start from; the run takes over its weights, tokenizer "
          "and architecture; --preset then sets only the training, by default as for that model",
          {.aliases = "pretrained-model,finetune-from-model", .placeholder = "FILE"});
    field("preset", preset,
          "size of the model; auto: the largest that the text can support and that trains "
          "fast enough on this machine",
          {.aliases = "arch"});
    field("seed", seed, "seed of all random numbers", {.aliases = "random-seed"});
  }

  void batch_fields(const auto& field) {
    field("max-tokens", max_tokens,
          "maximum number of source pieces, and of target pieces, in a batch; if not "
          "given, 2,048 for tiny and small, otherwise 4,096; on a GPU 25,000 for a large "
          "text, or with auto the most that fit into its memory, measured when the run starts",
          {.aliases = "mini-batch-words"});
    field("max-sentences", max_sentences, "maximum number of pairs in a batch; 0: no limit",
          {.aliases = "mini-batch"});
    field("batch-lengths", batch_lengths,
          "sentences of a batch: similar lengths, or mixed, so that all batches have one shape; "
          "if not given, mixed on a GPU that needs no padding, otherwise similar");
    field("update-freq", update_freq, "number of batches per rank in one update",
          {.aliases = "optimizer-delay,accumulate,accum-count"});
  }

  void optimizer_fields(const auto& field) {
    field("lr", lr, "peak learning rate (noam: its factor)",
          {.aliases = "learning-rate,learn-rate"});
    field("lr-scheduler", scheduler,
          "schedule of the learning rate; wsd: it rises, stays constant, and falls at the "
          "end (--cooldown)",
          {.aliases = "scheduler,decay-method"});
    field("warmup-updates", warmup_updates,
          "updates over which the learning rate rises to its peak",
          {.aliases = "warmup,lr-warmup,warmup-steps"});
    field("cooldown", cooldown,
          "wsd: fraction of the run, at its end, in which the learning rate falls; the "
          "fall begins when the end is in sight or --patience has run out",
          {.aliases = "decay-share"});
    field("min-lr", min_lr, "lowest rate after the warm-up");
    field("lr-end", lr_end, "update at which cosine and linear reach --min-lr; 0: --max-updates",
          {.aliases = "total-num-update"});
    field("adam-beta1", adam_beta1, "decay of Adam's first moment");
    field("adam-beta2", adam_beta2, "decay of Adam's second moment");
    field("adam-eps", adam_eps, "Adam's epsilon");
    field("weight-decay", weight_decay, "decoupled weight decay, multiplied by the learning rate");
    field("clip-norm", clip_norm, "largest norm of the gradient; 0: no clipping",
          {.aliases = "max-grad-norm,clip-grad-norm"});
  }

  void loss_fields(const auto& field) {
    field("label-smoothing", label_smoothing,
          "probability taken from the target piece and spread over all pieces");
    field("guided-alignment-weight", guided_alignment_weight,
          "weight of the loss that teaches the cross-attention the links of --guided-alignment");
    field("guided-alignment-layer", guided_alignment_layer,
          "decoder layer that learns these links, counted from 1; 0: the last",
          {.aliases = "transformer-guided-alignment-layer,alignment-layer"});
    field("guided-alignment-head", guided_alignment_head,
          "head of that layer that learns them, counted from 1; 0: the mean of all");
  }

  void stability_fields(const auto& field) {
    field("ema", ema,
          "decay of a moving average of the weights, for example 0.999; the average is "
          "validated and becomes the model; 0: no average",
          {.aliases = "ema-decay"});
    field("spike-factor", spike_factor,
          "leave out an update if its loss or gradient norm is more than this many times "
          "the recent mean; 0: only if it is not finite",
          {.on_resume = kNotExact});
    field("max-rollbacks", max_rollbacks,
          "how many times a run that diverges may return to an earlier checkpoint, each "
          "time with half the learning rate",
          {.on_resume = kAllowed});
  }

  void stopping_fields(const auto& field) {
    field("max-updates", max_updates, "stop after this many updates; 0: no limit",
          {.aliases = "max-update,train-steps,updates", .on_resume = kAllowed});
    field("max-epochs", max_epochs, "stop after this many passes over the corpus; 0: no limit",
          {.aliases = "max-epoch,epochs", .on_resume = kAllowed});
    field("max-time", max_time, "stop after this time: 90s, 30m, 12h, 2d; empty: no limit",
          {.on_resume = kAllowed});
    field("patience", patience,
          "stop (wsd: begin the cooldown) after this many validations without a gain in "
          "the mean of the last three scores; 0: never",
          {.aliases = "early-stopping", .on_resume = kAllowed});
  }

  void validation_fields(const auto& field) {
    field("valid-every", valid_every, "updates between validations",
          {.aliases = "valid-freq,valid-steps,validate-interval-updates"});
    field("best-metric", best_metric,
          "metric that decides which checkpoint is the best, and whether --patience "
          "counts a gain",
          {.aliases = "early-stopping-metric"});
    field("best-valid", best_valid,
          "of several validation texts, the one whose --best-metric decides: its file, with or "
          "without the folder; mean: the mean of all; default: all lines as one text",
          {.placeholder = "FILE|mean"});
    field("valid-beam-size", valid_beam_size, "beam size of the translations at validations");
    field("keep-tolerance", keep_tolerance,
          "how much worse --best-metric on --keep-valid-src may become than it was at the "
          "start, in percent");
    field("samples", samples, "translations shown at each validation", {.on_resume = kAllowed});
  }

  void checkpoint_fields(const auto& field) {
    field("save-every", save_every, "updates between checkpoints; 0: at each validation",
          {.aliases = "save-freq,save-interval-updates", .on_resume = kAllowed});
    field("save-minutes", save_minutes,
          "minutes between checkpoints that serve only to resume the run", {.on_resume = kAllowed});
    field("keep-last", keep_last, "number of newest checkpoints to keep; at least --average-last",
          {.aliases = "keep-checkpoint,keep-interval-updates", .on_resume = kAllowed});
    field("average-last", average_last,
          "number of newest checkpoints to average at the end; 0 or 1: no average",
          {.on_resume = kAllowed});
    field("log-every", log_every, "updates between log lines",
          {.aliases = "disp-freq,log-interval,report-every", .on_resume = kAllowed});
  }

  /// A changed precision or number of threads is found by MachineFacts, so these fields are
  /// Allowed.
  void hardware_fields(const auto& field) {
    field("precision", precision, "number type to compute in; the weights stay in fp32",
          {.on_resume = kAllowed});
    field("device", device, "device to compute on: auto, cpu, cuda or cuda:N",
          {.on_resume = kNotExact});
    field(
        "device-graph", device_graph,
        "on one GPU: record the work of an update once, then launch it as a whole (a CUDA graph); "
        "with --batch-lengths mixed; not yet tried on a GPU",
        {.on_resume = kAllowed});
    field("threads", threads,
          "threads on the CPU; 0: all cores that this process may use, divided among the "
          "ranks of a machine",
          {.aliases = "cpu-threads", .on_resume = kAllowed});
    field("rank-timeout", rank_timeout,
          "seconds without a heartbeat after which a rank counts as hung; at the start, "
          "all ranks must connect within ten times as long",
          {.on_resume = kAllowed});
  }
};

inline constexpr std::string_view kMeanOfTexts = "mean";  ///< for --best-valid

/// Whether a text asks for a file: by its path, or by its name without the folder.
bool is_named(const std::string& file, const std::string& asked);

}  // namespace dragoman
