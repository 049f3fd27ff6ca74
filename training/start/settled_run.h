// The settings of a run as a pure function, settle(), of what was asked for and what is known so
// far:
//   RunSettings  asked for by a command (run_settings.h)
//   StartFacts   known of checkpoint, text and machine (start_facts.h)
//   SettledRun   settled by both, with the messages for the user
//
// `train` finds the facts one after the other, and calls settle() again after each of them, always
// with the same command.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "training/settings/run_settings.h"
#include "training/start/start_facts.h"

namespace dragoman {

struct Remark {
  enum class Kind { Info, Warning };
  Kind kind;
  std::string text;
};

struct SettledRun {
  RunSettings settings;
  std::vector<Remark> remarks = {};  ///< another fact may add more at the end
  /// In a run that has begun: the hash that each text file must have, by its path.
  std::map<std::string, std::string> expected_hashes = {};

  void inform(std::string text) { remarks.push_back({Remark::Kind::Info, std::move(text)}); }
  void warn(std::string text) { remarks.push_back({Remark::Kind::Warning, std::move(text)}); }
};

/// Throws UsageError naming the flag that does not go with the others, with the checkpoint or with
/// a fact, and Error if a file of --tokenizer is not the tokenizer of the model.
SettledRun settle(const RunSettings& asked, const StartFacts& known);

}  // namespace dragoman
