// Which updates are left out, and when a run has diverged: a pure function of the losses and
// gradient norms seen so far, which travels in the progress record, so that a resumed run decides
// as one that was never stopped.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace dragoman {

/// Means over the updates that were made, forgetting old ones: about the last 50 count.
struct LossHistory {
  std::int64_t updates = 0;  ///< made
  double loss = 0;           ///< smoothed, per target piece
  double gradient_norm = 0;  ///< before clipping
  /// Lowest value that `loss` has had once 50 updates were in it; before, what it is to beat.
  double lowest_loss = std::numeric_limits<double>::max();
  std::int64_t left_out_in_a_row = 0;

  bool operator==(const LossHistory&) const = default;
};

/// After so many updates in a row that had to be left out a run has diverged.
inline constexpr std::int64_t kMostLeftOutInARow = 10;

/// The longest gradient that an update of this loss may have: `spike_factor` times the mean, no
/// limit while there are too few updates to compare with or where the factor is 0; below zero
/// (nothing may pass) where the loss is not finite or itself above `spike_factor` times its mean.
double longest_gradient(const LossHistory& history, double loss, double spike_factor);

void note_made(LossHistory& history, double loss, double gradient_norm);
void note_left_out(LossHistory& history);

/// The loss has risen far above what it was (half as much again and 0.5 more), or
/// kMostLeftOutInARow.
bool has_diverged(const LossHistory& history);
/// Whether a checkpoint is one to return to, as far as was known when it was made: nothing was just
/// left out, and the loss is about the lowest that it was. The state before the first update is.
bool is_sound_in_itself(const LossHistory& history);
/// Whether a checkpoint of so many updates before the divergence is worth returning to: it is sound
/// in itself, and the trouble cannot have begun, or it is the state before the first update.
bool is_sound(const LossHistory& history, std::int64_t updates_before);
/// Of checkpoints that are sound in themselves, given by rising update, those that a divergence
/// after `update` may have to return to: the newest that is far enough behind, and all later ones.
std::vector<std::int64_t> still_needed(const std::vector<std::int64_t>& sound, std::int64_t update);

}  // namespace dragoman
