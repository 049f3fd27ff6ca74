// Decides when a run has diverged, and which checkpoints are sound: by pure functions of the losses
// and gradient norms seen so far. The progress record keeps these, so a resumed run decides like
// one that was never stopped. SpikeLimits (training/step.h) leaves single updates out.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace dragoman {

/// Means over about the last 50 updates that were made.
struct LossHistory {
  std::int64_t updates = 0;  ///< updates that were made: their gradient was applied
  double loss = 0;           ///< smoothed, per target piece
  double gradient_norm = 0;  ///< before clipping
  /// The lowest value of `loss` since update 50. Before that, in a new_history(), the loss of
  /// guessing: log(vocabulary).
  double lowest_loss = std::numeric_limits<double>::max();
  std::int64_t left_out_in_a_row = 0;

  bool operator==(const LossHistory&) const = default;
};

/// The means of a LossHistory are over about this many updates. Before that they limit nothing.
inline constexpr std::int64_t kUpdatesOfMeans = 50;
/// A checkpoint this many updates before a divergence is from before the trouble.
inline constexpr std::int64_t kUpdatesBeforeDivergence = 50;
/// If checkpoints are closer to each other, a rollback needs only one of them.
inline constexpr std::int64_t kUpdatesBetweenSound = kUpdatesBeforeDivergence / 5;
/// A run has diverged when this many updates in a row were left out.
inline constexpr std::int64_t kMostLeftOutInARow = 10;

/// The history of a new run.
LossHistory new_history(std::int64_t vocabulary);

void note_made(LossHistory& history, double loss, double gradient_norm);
void note_left_out(LossHistory& history);
/// Notes that the loss of a validation is not finite: has_diverged() is true from here on.
void note_diverged(LossHistory& history);

/// Whether the loss has risen far above its lowest value (to more than 1.5 times that value plus
/// 0.5), or kMostLeftOutInARow updates in a row were left out.
bool has_diverged(const LossHistory& history);
/// Whether a rollback may return to a checkpoint, as far as was known when it was made: the last
/// update was not left out, and the loss was about its lowest. It may always return to the state
/// before the first update.
bool is_sound_in_itself(const LossHistory& history);
/// Whether a rollback should return to a checkpoint that is `updates_before` the divergence: it is
/// sound in itself, and either far enough back, so that the trouble had not begun, or the state
/// before the first update.
bool is_sound(const LossHistory& history, std::int64_t updates_before);
/// `sound` has the updates of the checkpoints that are sound in themselves, in rising order.
/// Returns those that a divergence after `update` may have to return to: the newest that is far
/// enough back, and all later ones.
std::vector<std::int64_t> still_needed(const std::vector<std::int64_t>& sound, std::int64_t update);

}  // namespace dragoman
