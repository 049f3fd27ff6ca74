// Decides whether a run still gets better. A validation's score moves by chance: from update to
// update, and with the sentences that the validation text happens to have. So patience looks at the
// mean of the last scores. A gain has to exceed a fraction of the score's standard error. Where the
// mean is the same to two decimals, a lower loss is a gain, too.
#pragma once

#include <cstdint>
#include <vector>

namespace dragoman {

/// Kept in the progress record, so that a resumed run decides as one that was never stopped.
struct PatienceState {
  std::vector<double> recent;     ///< the last scores, oldest first; at most kSmoothedScores
  double to_beat = 0;             ///< smoothed score of the last gain
  double loss_to_beat = 0;        ///< loss at that validation
  std::int64_t validations = 0;   ///< whose score counted
  std::int64_t without_gain = 0;  ///< validations since the last gain
  bool operator==(const PatienceState&) const = default;
};

/// Scores that are averaged.
inline constexpr std::size_t kSmoothedScores = 3;
/// A gain exceeds this fraction of the score's standard error. Two models of one run are scored on
/// the same sentences, so the error of their difference is far smaller than that of a score.
inline constexpr double kGainInErrors = 0.1;

struct PatienceScore {
  double score = 0;           ///< greater is better (a loss with its sign changed)
  double standard_error = 0;  ///< by bootstrap over the validation sentences; 0: not known
  /// Decides where the smoothed BLEU or chrF is the same to two decimals.
  double loss = 0;
  bool counts = true;  ///< false: no gain, whatever the score
};
void note_validation(PatienceState& state, const PatienceScore& result);

}  // namespace dragoman
