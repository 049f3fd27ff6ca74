#include "training/common_state.h"

#include <array>

#include "base/error.h"

namespace dragoman {

void share_state(Communicator& ranks, TrainingModel& model, ProgressRecord& progress) {
  if (ranks.size() == 1) return;
  const std::int64_t own = progress.part_tokens;
  progress = progress_from_json(ranks.broadcast(to_json(progress)));
  if (own > 0) progress.part_tokens = own;
  for (torch::Tensor& tensor : model.state()) ranks.broadcast(tensor);
  model.weights_changed();
}

bool on_rank_0(Communicator& ranks, ProgressRecord& progress, const std::function<bool()>& work) {
  if (ranks.size() == 1) return work();
  std::array<double, 1> done = {ranks.leads() && work() ? 1.0 : 0.0};
  ranks.sum(done);
  const std::int64_t own = progress.part_tokens;
  progress = progress_from_json(ranks.broadcast(to_json(progress)));
  progress.part_tokens = own;
  return done[0] > 0;
}

DeviceLoss sum_over_ranks(Communicator& ranks, DeviceLoss loss) {
  std::array<double, 2> tokens = {static_cast<double>(loss.source_tokens),
                                  static_cast<double>(loss.target_tokens)};
  ranks.sum(tokens);
  ranks.sum(loss.values);
  return {loss.values, static_cast<std::int64_t>(tokens[0]), static_cast<std::int64_t>(tokens[1])};
}

StopAndClock stop_and_clock_of_all(Communicator& ranks, bool stop_requested, double seconds) {
  std::array<double, 2> sums = {stop_requested ? 1.0 : 0.0, seconds};
  ranks.sum(sums);
  return {.stop = sums[0] > 0, .seconds = sums[1] / static_cast<double>(ranks.size())};
}

}  // namespace dragoman
