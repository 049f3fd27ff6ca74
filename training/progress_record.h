// The progress of a run: all that a checkpoint remembers beside weights and moments, so that a
// resumed run goes on exactly as one that was never stopped. Stored as JSON in the checkpoint's
// metadata.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "training/divergence.h"

namespace dragoman {

struct ProgressRecord {
  std::int64_t update = 0;                            ///< updates made
  std::int64_t epoch = 0;                             ///< of the next batch, from 0
  std::int64_t batch = 0;                             ///< number of the next batch in its epoch
  std::int64_t source_tokens = 0, target_tokens = 0;  ///< seen
  std::int64_t skipped = 0;  ///< updates left out: their loss or gradient was not to be trusted
  LossHistory history;
  std::int64_t rollbacks = 0;  ///< returns to an earlier checkpoint; each begins another order
  double rate_factor = 1;      ///< of the schedule's learning rate, smaller after a rollback
  double seconds = 0;          ///< of training and validation, over all starts

  /// Since memory ran out: batches with more tokens are accumulated in parts. 0: never.
  std::int64_t token_budget = 0;

  std::int64_t validated_update = 0;  ///< of the last validation
  std::int64_t best_update = 0;       ///< 0: no validation yet
  double best_value = 0;              ///< of the metric that decides
  std::int64_t without_best = 0;      ///< validations since

  std::int64_t ranks = 1;  ///< of the last start, as the next three
  std::string precision, threads,
      processor;                            ///< of the last start: other ones are not bit-identical
  std::map<std::string, std::string> data;  ///< hash of each text file, by its path
  std::int64_t log_bytes = 0;               ///< length of log.jsonl at this point
  std::map<std::string, std::string> configuration;  ///< every field's text

  bool operator==(const ProgressRecord&) const = default;
};

std::string to_json(const ProgressRecord& progress);
/// A member that is missing, as in a checkpoint of an earlier version, keeps its default. Throws
/// Error where one is of the wrong type, or the update is missing.
ProgressRecord progress_from_json(std::string_view json);

}  // namespace dragoman
