// The log of a run: log.jsonl, and the same as TensorBoard's event files. Rank 0 alone opens it. A
// log that is not open drops all lines. A full disk costs lines, with a warning, and never the run.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "base/append_file.h"
#include "model/file/run_folder.h"
#include "training/event_file.h"
#include "training/training_observer.h"

namespace dragoman {

class RunLog {
 public:
  /// The observer outlives the log.
  RunLog(RunFolder folder, TrainingObserver& observer);

  /// Goes on behind this state of the run: later lines are cut off, and a new event file tells its
  /// readers to forget them. Adds the line of the start. Throws Error where log.jsonl cannot be
  /// opened.
  void open(const ProgressRecord& progress, std::int64_t parameters);

  void logged(const UpdateFacts& facts);
  void validated(const ValidationFacts& facts);
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

/// The line of log.jsonl. The outlook is left out, as it is soon outdated.
nlohmann::ordered_json to_json(const UpdateFacts& facts);

}  // namespace dragoman
