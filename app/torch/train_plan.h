// train --plan and --max-tokens auto: what updates cost on this machine, for people.
#pragma once

#include "data/prepare.h"
#include "training/run_plan.h"

namespace dragoman {

/// The token budget that suits the machine; what was tried is logged.
std::int64_t automatic_max_tokens(const TrialSettings& settings);

/// Prints the plan of a run on standard output.
void print_plan(const TrialSettings& settings);

/// A folder for a run that is only planned: its token cache shows the files that `run` has, and
/// what is added goes with it.
class PlanFolder {
 public:
  explicit PlanFolder(const std::filesystem::path& run);
  PlanFolder(const PlanFolder&) = delete;
  PlanFolder& operator=(const PlanFolder&) = delete;
  ~PlanFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace dragoman
