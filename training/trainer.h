// The training loop: updates, validation, checkpoints, and when to stop.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/append_file.h"
#include "data/prepare.h"
#include "training/checkpoint.h"
#include "training/cooldown.h"
#include "training/event_file.h"
#include "training/outlook.h"
#include "training/ranks/communicator.h"
#include "training/running_mean.h"
#include "training/stop_reason.h"
#include "training/train_config.h"
#include "training/training_model.h"
#include "training/validation.h"

namespace dragoman {

/// What the trainer works on; all of it outlives the trainer.
struct TrainingRun {
  TrainConfig config;
  ModelConfig model;
  Precision precision;  ///< resolved
  torch::Device device;
  RunFolder folder;
  ModelOrigin origin;
  const PreparedData& data;
  SettingsRecord settings;         ///< for the progress record
  std::string threads, processor;  ///< likewise
};

/// One line of the log: means over the updates since the last one.
struct UpdateFacts {
  std::int64_t epoch = 0;  ///< from 1
  std::int64_t update = 0;
  double loss = 0;        ///< smoothed, per target piece
  double perplexity = 0;  ///< of the training batches, with dropout, without smoothing
  std::optional<double> alignment_loss = {};  ///< of guided alignment, per linked target piece
  double gradient_norm = 0;
  double learning_rate = 0;
  double source_tokens_per_second = 0, target_tokens_per_second = 0;
  double data_wait = 0;            ///< share of the time spent waiting for batches
  std::int64_t target_tokens = 0;  ///< seen since the run began
  double elapsed = 0;  ///< seconds of training and validation since then, over all starts
  Outlook outlook = {};
};

/// As log.jsonl has it; of the facts only those that stay true.
nlohmann::ordered_json to_json(const UpdateFacts& facts);

struct ValidationFacts {
  std::int64_t update = 0;  ///< 0: the model of --init-from, before the first update
  const ValidationResult& result;
  const ValidationResult* keep = nullptr;  ///< on the text of --keep-valid-src; null without it
  bool keep_has_fallen = false;            ///< by more than --keep-tolerance since update 0
  double seconds = 0;                      ///< of both
  bool new_best = false;
  std::int64_t without_gain = 0;  ///< validations, for --patience
};

class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  /// After each update; the outlook is of the pace of this start's updates so far.
  virtual void updated(const ProgressRecord& progress, double loss, const Outlook& outlook) = 0;
  virtual void logged(const UpdateFacts& facts, const ProgressRecord& progress) = 0;
  virtual void validated(const ValidationFacts& facts) = 0;
  virtual void noticed(const std::string& text) = 0;
  virtual void warned(const std::string& text) = 0;
};

/// Several ranks train as one: each takes its share of every update's batches, and all decide
/// alike, from what they have summed or rank 0 has said. Rank 0 alone validates, writes, and reads
/// checkpoints.
class Trainer {
 public:
  Trainer(TrainingRun run, Communicator& ranks, TrainingObserver& observer);

  /// Starts with the weights of a model file of this architecture; on rank 0, as resume().
  void start_from(const std::filesystem::path& model);
  /// Goes on from a checkpoint of this run; on rank 0, whose state train() hands to all ranks.
  void resume(const FoundCheckpoint& checkpoint);
  const ProgressRecord& progress() const { return progress_; }

  /// Trains until a limit or a stop request; then, unless stopped by request, validates the last
  /// weights, averages checkpoints and leaves the best model in the folder. Throws Error where the
  /// last state cannot be saved, or training has diverged.
  StopReason train(std::stop_token stop);

 private:
  /// What a signal or the clock asks for on any rank.
  struct Wishes {
    bool stop = false;
    double seconds = 0;  ///< of the run so far: the mean of the ranks' clocks
  };
  Wishes agree(const std::stop_token& stop);
  /// All ranks get rank 0's weights, moments and progress record.
  void share_state();
  /// Rank 0 works; then all ranks have its progress record and its answer.
  bool by_leader(const std::function<bool()>& work);
  std::optional<StopReason> reason_to_stop(const Wishes& wishes) const;
  /// With the wsd schedule.
  void cool_down_if_due(const Wishes& wishes);
  /// In a run that goes on, with limits that may have been raised.
  void end_cooldown_if_limit_is_raised(std::int64_t patience_before);
  RunPosition position(double seconds) const;
  void open_stream();
  void update();
  double learning_rate_at(std::int64_t update) const;
  BatchLoss sum_over_ranks(const BatchLoss& sums);
  /// The gradient of the next update. Where memory runs out the batches are split, and so are
  /// larger ones from then on. Throws Error where no split helps.
  BatchLoss accumulate(const std::vector<PackedBatch>& batches);
  void leave_out(const std::vector<std::int64_t>& sentences, double loss, double norm);
  /// To the last sound checkpoint, with half the rate and another order. Throws Error where there
  /// is none, or --max-rollbacks are used up.
  void roll_back();
  void return_to_sound_checkpoint();  // of rank 0
  void log_update();
  double epochs() const;  ///< passes over the corpus, with the part of the last one
  RunPace pace() const;   ///< of this start
  /// Validations and checkpoints that are due at this update; false where a stop was requested
  /// during a validation, which is then still due when the run goes on.
  bool do_what_is_due(std::stop_token stop);
  bool validation_is_due() const;
  bool validate(std::stop_token stop);
  /// Scores of weights on both validation texts.
  struct Scores {
    ValidationResult valid;
    std::optional<ValidationResult> keep;  ///< of --keep-valid-src
    bool keep_has_fallen = false;
  };
  Scores scores_of(const torch::Tensor& weights, std::stop_token stop);
  /// Whether the model in the folder is to give way to one with these scores.
  bool beats_the_best(const Scores& scores) const;
  /// Both throw Error, for a full disk, say.
  void save(const std::filesystem::path& path);
  void write_model(const std::filesystem::path& path, const torch::Tensor& weights,
                   const ValidationResult& result);
  /// Warns and goes on where `save` fails: the next one may succeed.
  bool try_to(std::string_view what, const std::function<void()>& save);
  void save_start();
  void save_stopped();
  void save_numbered();
  void finish(std::stop_token stop);
  /// Of the newest --average-last numbered checkpoints that are readable.
  struct Mean {
    torch::Tensor weights;           ///< undefined where there is none
    std::vector<std::string> names;  ///< of the files, by rising update
  };
  Mean mean_of_last_checkpoints();
  /// Keeps the average as the model where it scores better; else, or with a stop requested, none.
  std::optional<ValidationResult> average(std::stop_token stop);
  void take_as_best(const ValidationResult& average);
  void check_model();
  /// Log and event file go on behind the progress.
  void open_log();
  void open_events();
  /// One line of the log, and the same to the event file; of rank 0.
  void append_log(const nlohmann::ordered_json& line);
  double seconds_here() const;

  TrainingRun run_;
  Communicator& ranks_;
  TrainingObserver& observer_;
  TrainingModel model_;
  Validator validator_, keep_validator_;
  ProgressRecord progress_;
  std::optional<AppendFile> log_;  // of rank 0, as the next
  std::optional<EventFile> events_;
  std::optional<BatchStream> stream_;

  struct Interval {  // since the last log line
    BatchLoss sums;
    double gradient_norm = 0, waited = 0, start = 0;
    std::int64_t updates = 0;
  } interval_;
  std::chrono::steady_clock::time_point start_;  // of train()
  double seconds_before_ = 0;                    // of earlier starts
  double last_save_ = 0;
  RunningMean update_seconds_, validation_seconds_;  // of this start
  std::int64_t numbered_update_ = 0;                 // of the last checkpoint at an update count
};

}  // namespace dragoman
