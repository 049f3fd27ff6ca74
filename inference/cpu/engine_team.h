// Helper threads that engines share. They help an engine while it is the only one that holds
// sentences.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/helper_team.h"

namespace dragoman {

struct EngineTeam {
  static constexpr std::size_t kMost = 4;  ///< threads on one sentence

  explicit EngineTeam(std::size_t engines) : helpers(std::min(engines, kMost) - 1) {}

  std::atomic<int> busy = 0;  ///< engines that hold sentences
  HelperTeam helpers;
};

/// An engine as a member of its team.
class TeamMember {
 public:
  /// Without a team nobody helps.
  explicit TeamMember(std::shared_ptr<EngineTeam> team) : team_(std::move(team)) {}
  TeamMember(const TeamMember&) = delete;
  TeamMember& operator=(const TeamMember&) = delete;
  ~TeamMember() { hold(-held_); }

  /// The engine holds `more` sentences more (below 0: fewer).
  void hold(std::int64_t more) {
    if (team_ && held_ == 0 && more > 0) ++team_->busy;
    if (team_ && held_ > 0 && held_ + more == 0) --team_->busy;
    held_ += more;
  }

  /// The helpers for the next step of this engine, which holds sentences; null if another engine
  /// holds some, too. So at most one engine has helpers at a time.
  HelperTeam* helpers() const { return team_ && team_->busy == 1 ? &team_->helpers : nullptr; }

 private:
  std::shared_ptr<EngineTeam> team_;
  std::int64_t held_ = 0;  // sentences
};

}  // namespace dragoman
