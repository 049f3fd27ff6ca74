// Settles the settings of a run as its facts are found, one after the other.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "training/checkpoint.h"
#include "training/ranks/communicator.h"
#include "training/start/settled_run.h"

namespace dragoman {

/// Whether each host may have its own value of a field.
bool is_of_the_host(std::string_view field);

/// Settles the settings again after each fact, and tells the remarks that are new.
class StartSettler {
 public:
  using Tell = std::function<void(const Remark&)>;

  /// Rank 0 has the checkpoint from which the run is resumed, if there is one; all ranks take the
  /// settings that it remembers. Throws like settle().
  StartSettler(RunRequest request, const std::optional<FoundCheckpoint>& found, Communicator& ranks,
               Tell tell);

  /// Whether the run is resumed from a checkpoint; the same on all ranks.
  bool has_begun() const { return has_begun_; }
  /// The settings that the facts known so far decide.
  const SettledRun& run() const { return run_; }
  const StartFacts& facts() const { return facts_; }

  /// Opens the checkpoint, or in a new run the model of --init-from, and the files of --tokenizer
  /// and --target-tokenizer. Throws like settle(), and Error if a file cannot be read.
  void find_models(const std::optional<FoundCheckpoint>& found);

  /// For the facts that the caller measures: learn(&StartFacts::tokenizers, tokenizers). Throws
  /// like settle().
  template <class Fact>
  void learn(std::optional<Fact> StartFacts::*name, Fact fact) {
    facts_.*name = std::move(fact);
    settle();
  }

  /// The run if the caller knew this fact, too. Nothing is learned and no remark told. Throws like
  /// settle().
  template <class Fact>
  SettledRun run_with(std::optional<Fact> StartFacts::*name, Fact fact) const {
    StartFacts facts = facts_;
    facts.*name = std::move(fact);
    return dragoman::settle(request_, facts);
  }

  /// Gives all ranks the settings of rank 0, which may know more facts. Each host keeps the fields
  /// that may differ from host to host.
  void share(Communicator& ranks);

 private:
  void settle();

  RunRequest request_;
  Tell tell_;
  bool has_begun_;
  StartFacts facts_;
  SettledRun run_;
  std::size_t told_ = 0;  // remarks
};

}  // namespace dragoman
