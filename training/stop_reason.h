// Why a run ends.
#pragma once

#include <array>
#include <string_view>

namespace dragoman {

enum class StopReason { MaxUpdates, MaxEpochs, MaxTime, Patience, Requested };
constexpr std::array<std::string_view, 5> names_of(StopReason) {
  return {"--max-updates", "--max-epochs", "--max-time", "--patience", "a signal"};
}

}  // namespace dragoman
