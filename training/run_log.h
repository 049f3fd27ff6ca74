// The log of a run: log.jsonl, and the same as TensorBoard's event files. Rank 0 alone opens it. A
// log that is not open drops all lines. A full disk costs lines, with a warning, and never the run.
// LogInterval adds up the updates of a line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "base/files.h"
#include "model/file/run_folder.h"
#include "training/training_model.h"
#include "training/training_run.h"

namespace dragoman {

/// The updates since the last line of the log. `now` is a clock in seconds. `waited` are the
/// seconds that the trainer has waited for batches since the stream was opened.
class LogInterval {
 public:
  void begin(double now, double waited);
  void add(const BatchLoss& sums, double gradient_norm);
  /// Leaves out the seconds of a validation or checkpoint: the speed is that of training alone.
  void exclude_seconds(double seconds) { start_ += seconds; }

  bool empty() const { return updates_ == 0; }
  /// The interval must not be empty.
  IntervalMeans means(double now, double waited) const;

 private:
  BatchLoss sums_;
  double gradient_norm_ = 0, start_ = 0, waited_ = 0;
  std::int64_t updates_ = 0;
};

// ---- TensorBoard --------------------------------------------------------------------------------
//
// An event file is a sequence of TFRecords: length, payload, and the masked CRC-32C of each. A
// payload is one Event message. The few fields of event.proto, summary.proto and tensor.proto
// (tensorflow/core) that scalars and texts need are encoded by hand.

class EventFile {
 public:
  /// Makes the folder, and a new file in it that comes after the files of earlier starts. Readers
  /// forget the content of those files from `first_update` on. Throws Error if the file cannot be
  /// written.
  EventFile(const std::filesystem::path& folder, std::int64_t first_update);

  /// Writes the members of a log line that has an "update". Numbers become scalars: "train/loss"
  /// for a line of type "update", "valid/bleu" for "validation", else "<type>/<name>". Those of
  /// "texts" become "valid/bleu/<name>", those of "corpora" "valid/loss/<name>", and "samples"
  /// become texts "samples/1". Returns false if the disk is full; nothing is half written.
  bool append(const nlohmann::ordered_json& line);

 private:
  AppendFile file_;
};

/// CRC-32C (Castagnoli), RFC 3720 appendix B.4.
std::uint32_t crc32c(std::string_view bytes);

// ---- the log ------------------------------------------------------------------------------------

class RunLog {
 public:
  /// The observer outlives the log.
  RunLog(RunFolder folder, TrainingObserver& observer);

  /// Continues after this state of the run: later lines are cut off, and a new event file tells its
  /// readers to forget them. Adds the line of the start. Throws Error if log.jsonl cannot be
  /// opened.
  void open(const ProgressRecord& progress, std::int64_t parameters);

  void logged(const UpdateFacts& facts);
  void validated(const ValidationFacts& facts);
  /// The stage of --mix that the record is in has begun.
  void began_stage(StageEnd reason, const ProgressRecord& progress);
  void averaged(const AverageFacts& facts);
  void left_out(const LeftOutFacts& facts);
  /// A run that had diverged at update `from` is at `progress` again.
  void rolled_back(std::int64_t from, const ProgressRecord& progress);

  /// Brings log.jsonl to the disk and returns its length; nothing while it is not open.
  std::optional<std::int64_t> sync();

 private:
  void open_events(std::int64_t first_update);
  void append(const nlohmann::ordered_json& line);

  RunFolder folder_;
  TrainingObserver& observer_;
  std::optional<AppendFile> lines_;
  std::optional<EventFile> events_;
};

/// The line of log.jsonl, without the outlook, which is soon outdated.
nlohmann::ordered_json to_json(const UpdateFacts& facts);

}  // namespace dragoman
