// Scores of weights on a run's validation texts: that of --valid-src, which decides, and that of
// --keep-valid-src, on which the model must not get much worse.
#pragma once

#include <optional>

#include "training/progress_record.h"
#include "training/validation.h"

namespace dragoman {

struct Scores {
  ValidationResult valid;
  std::optional<ValidationResult> keep = {};  ///< none without --keep-valid-src
  bool keep_has_fallen = false;               ///< by more than --keep-tolerance since update 0

  double seconds() const;  ///< of both
  /// Whether the best model so far is to give way to one with these scores.
  bool beat(const BestModel& best, const ScoreOrder& order) const;
  /// As --patience compares them.
  PatienceScore for_patience(const ScoreOrder& order) const;
};

}  // namespace dragoman
