// The facts of a start of training, found and measured one after the other, and the settings that
// they decide.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "data/prepare.h"
#include "training/checkpoint.h"
#include "training/ranks/communicator.h"
#include "training/start/run_start.h"

namespace dragoman {

class StartSettler {
 public:
  explicit StartSettler(RunRequest request) : request_(std::move(request)) {}

  StartFacts facts;

  /// Settles the values that the known facts decide. Logs the remarks that are new.
  SettledRun settle();
  /// Gives all ranks the settings of rank 0. Each host keeps the fields that may differ from host
  /// to host.
  void broadcast(Communicator& ranks);

  /// Takes the facts that rank 0's checkpoint remembers, and gives its settings to all ranks.
  /// Returns whether there is a checkpoint.
  bool take_from_checkpoint(const std::optional<FoundCheckpoint>& found, Communicator& ranks);
  /// Opens the checkpoint, or in a new run the model of --init-from, and the files of --tokenizer
  /// and --target-tokenizer.
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
