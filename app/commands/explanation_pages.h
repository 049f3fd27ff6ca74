// The pages about single sentences that a command writes beside its own page: the page links them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>

#include "app/commands/explain_text.h"
#include "app/frame/command.h"
#include "inference/search/decode_config.h"

namespace dragoman {

/// The folder that has the pages: "scores.explanations" beside "scores.html".
std::string explanations_folder(const std::string& html);

class ExplanationPages {
 public:
  /// Of the page at the path `html`.
  explicit ExplanationPages(const std::string& html);

  /// Writes a page, and the folder where there is none. The name has both numbers, counted from 1:
  /// 1 and 30 make "2-31.html". Returns its path, seen from the page.
  std::string write(std::size_t system, std::size_t line, const std::string& json);
  /// Removes the pages of an earlier call that this object has not written.
  void remove_others() const;

 private:
  const std::filesystem::path folder_;
  std::set<std::string> names_;  // of the pages that are written
};

/// A run folder or model file as explanations read it, in float32.
ExplainedTranslator explained_translator(const std::string& model, const DecodeConfig& decode,
                                         const Origins& origins);

}  // namespace dragoman
