// The facts of a start of training, found and measured one after the other, and what they settle.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "data/prepare.h"
#include "training/checkpoint.h"
#include "training/ranks/communicator.h"
#include "training/run_start.h"

namespace dragoman {

class RunFacts {
 public:
  explicit RunFacts(RunRequest request) : request_(std::move(request)) {}

  StartFacts known;

  /// What is settled by now. Says the remarks that are new.
  SettledRun settle();
  /// All ranks take over what rank 0 has settled, but for what each host may have otherwise.
  void share(Communicator& ranks);

  /// What the checkpoint that rank 0 has found remembers; returns whether it has found one.
  bool recall(const std::optional<FoundCheckpoint>& found, Communicator& ranks);
  /// The checkpoint, or in a new run the model of --init-from, and the files of --tokenizer and
  /// --target-tokenizer.
  void find_models(const std::optional<FoundCheckpoint>& found);

 private:
  RunRequest request_;
  std::size_t said_ = 0;  // remarks
};

/// The checksum of the model of --init-from, which a run that has begun remembers; "" without one.
std::string initial_checksum(const std::string& init_from,
                             const std::optional<FoundCheckpoint>& found);
inline constexpr const char* kInitFrom = "init-from";  ///< its name in the provenance

MachineFacts machine_facts(Precision precision, int threads, int ranks);

}  // namespace dragoman
