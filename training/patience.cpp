#include "training/patience.h"

#include <cmath>
#include <numeric>

namespace dragoman {

void note_validation(PatienceState& state, const PatienceScore& result) {
  if (!result.counts) {
    ++state.without_gain;
    return;
  }
  state.recent.push_back(result.score);
  if (state.recent.size() > kSmoothedScores) state.recent.erase(state.recent.begin());
  const double smoothed = std::accumulate(state.recent.begin(), state.recent.end(), 0.0) /
                          static_cast<double>(state.recent.size());
  const bool tie = std::round(100 * smoothed) == std::round(100 * state.to_beat);
  const bool gained = state.validations == 0 ||
                      smoothed > state.to_beat + kGainInErrors * result.standard_error ||
                      (tie && result.loss < state.loss_to_beat);
  ++state.validations;
  if (gained) {
    state.to_beat = smoothed;
    state.loss_to_beat = result.loss;
    state.without_gain = 0;
  } else {
    ++state.without_gain;
  }
}

}  // namespace dragoman
