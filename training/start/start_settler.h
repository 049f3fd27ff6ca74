// The settings of a run while its facts are found one after the other.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "data/prepare.h"
#include "training/checkpoint.h"
#include "training/ranks/communicator.h"
#include "training/start/run_start.h"

namespace dragoman {

/// Settles the settings again after each fact, and logs the remarks that are new.
class StartSettler {
 public:
  /// Rank 0 has the checkpoint that the run goes on from, if there is one; all ranks take the
  /// settings that it remembers.
  StartSettler(RunRequest request, const std::optional<FoundCheckpoint>& found,
               Communicator& ranks);

  /// Whether the run goes on from a checkpoint, on any rank.
  bool has_begun() const { return has_begun_; }
  /// The settings that the facts known so far decide.
  const SettledRun& run() const { return run_; }
  const StartFacts& facts() const { return facts_; }

  /// Opens the checkpoint, or in a new run the model of --init-from, and the files of --tokenizer
  /// and --target-tokenizer.
  void find_models(const std::optional<FoundCheckpoint>& found);

  /// For the facts that the caller measures: learn(&StartFacts::tokenizers, tokenizers).
  template <class Fact>
  void learn(std::optional<Fact> StartFacts::*name, Fact fact) {
    facts_.*name = std::move(fact);
    settle();
  }

  /// Gives all ranks the settings of rank 0, which may know more facts. Each host keeps the fields
  /// that may differ from host to host.
  void share(Communicator& ranks);

 private:
  void settle();

  RunRequest request_;
  bool has_begun_;
  StartFacts facts_;
  SettledRun run_;
  std::size_t said_ = 0;  // remarks
};

/// What the files of a run keep of the model of --init-from. Without one, both are empty.
struct InitialModel {
  std::string checksum;
  DecodeDefaults decode_defaults;
};
/// A run that has begun reads them from its checkpoint.
InitialModel initial_model(const std::string& init_from,
                           const std::optional<FoundCheckpoint>& found);
inline constexpr const char* kInitFrom = "init-from";  ///< its name in the provenance

MachineFacts machine_facts(Precision precision, int threads, int ranks);

}  // namespace dragoman
