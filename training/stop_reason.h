// Why a run ends.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace dragoman {

struct ProgressRecord;
struct TrainConfig;

enum class StopReason { MaxUpdates, MaxEpochs, MaxTime, Patience, Requested };
constexpr std::array<std::string_view, 5> names_of(StopReason) {
  return {"--max-updates", "--max-epochs", "--max-time", "--patience", "a signal"};
}

/// The limit that a run has reached, if it has. `seconds` of training and validation are those up
/// to now, on which all ranks agree; progress.seconds are those up to the last result that was
/// read. A cooldown that has begun ends the run, for the reason that began it.
std::optional<StopReason> reached_limit(const TrainConfig& config, const ProgressRecord& progress,
                                        double seconds);

}  // namespace dragoman
