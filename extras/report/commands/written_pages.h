// The pages that commands write, and those about single sentences that stand beside a page, which
// links them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/frame/command_line.h"
#include "extras/explanation/explanation_json.h"
#include "inference/search/decode_config.h"

namespace dragoman {

/// check_output() for a page. A page replaces only a page that this program has written: it names
/// the program in its first lines.
void check_page_output(std::string_view flag, const std::string& path,
                       const std::vector<std::string>& inputs);

/// Says that the page at the path `html` is written, what it has, and how many pages about
/// sentences stand beside it.
void log_page(const std::string& html, const std::string& content, std::int64_t explained);

/// The folder that has the pages about sentences: "scores.explanations" beside "scores.html".
std::string explanations_folder(const std::string& html);

class ExplanationPages {
 public:
  /// The pages of the page at the path `html`.
  explicit ExplanationPages(const std::string& html);

  /// Writes a page, and makes the folder if there is none. The name has both numbers, counted from
  /// 1: 1 and 30 make "2-31.html". Returns its path, seen from the page.
  std::string write(std::size_t system, std::size_t line, const std::string& json);
  /// Removes the pages of an earlier call that this object has not written.
  void remove_others() const;

 private:
  const std::filesystem::path folder_;
  std::set<std::string> names_;  // of the pages that are written
};

/// A run folder or model file as explanations read it, in float32.
ExplainedModel explained_model(const std::string& model, const DecodeConfig& decode,
                               const Origins& origins);

}  // namespace dragoman
