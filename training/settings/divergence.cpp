#include "training/settings/divergence.h"

#include <algorithm>
#include <cmath>

namespace dragoman {

LossHistory new_history(std::int64_t vocabulary) {
  return {.lowest_loss = std::log(static_cast<double>(vocabulary))};
}

void note_made(LossHistory& history, double loss, double gradient_norm) {
  history.left_out_in_a_row = 0;
  ++history.updates;
  const double fraction = 1.0 / static_cast<double>(std::min(history.updates, kUpdatesOfMeans));
  history.loss += fraction * (loss - history.loss);
  history.gradient_norm += fraction * (gradient_norm - history.gradient_norm);
  if (history.updates >= kUpdatesOfMeans)
    history.lowest_loss = std::min(history.lowest_loss, history.loss);
}

void note_left_out(LossHistory& history) { ++history.left_out_in_a_row; }

void note_diverged(LossHistory& history) { history.left_out_in_a_row = kMostLeftOutInARow; }

bool has_diverged(const LossHistory& history) {
  return history.left_out_in_a_row >= kMostLeftOutInARow ||
         (history.updates >= kUpdatesOfMeans && history.loss > 1.5 * history.lowest_loss + 0.5);
}

bool is_sound_in_itself(const LossHistory& history) {
  return history.left_out_in_a_row == 0 &&
         (history.updates < kUpdatesOfMeans || history.loss <= 1.1 * history.lowest_loss + 0.1);
}

bool is_sound(const LossHistory& history, std::int64_t updates_before) {
  return is_sound_in_itself(history) &&
         (updates_before >= kUpdatesBeforeDivergence || history.updates == 0);
}

std::vector<std::int64_t> still_needed(const std::vector<std::int64_t>& sound,
                                       std::int64_t update) {
  auto first = std::find_if(sound.rbegin(), sound.rend(), [update](std::int64_t candidate) {
    return update - candidate >= kUpdatesBeforeDivergence;
  });
  return {first == sound.rend() ? sound.begin() : first.base() - 1, sound.end()};
}

}  // namespace dragoman
