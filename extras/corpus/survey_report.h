// What comes of a survey: a report for people and programs, with counts, and examples with the
// numbers of lines; and the text without faulty pairs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "extras/corpus/corpus_survey.h"

namespace dragoman {

/// The names of a text's files as the user gave them. In a file with both sides, a pair's line is
/// its number among the pairs.
struct NamedText {
  const ParallelText& text;
  std::vector<std::string> files;  ///< one name for each pair of files
};

struct FaultExample {
  std::string file;
  std::int64_t line = 0;  ///< from 1
  std::string source, target;
  std::string detail;  ///< "fr", "like line 7"; may be empty
};

struct FaultReport {
  PairFault fault{};
  std::int64_t pairs = 0;
  std::vector<FaultExample> examples;  ///< evenly spaced among the pairs
};

struct StretchReport {
  std::string file;
  std::int64_t first_line = 0, last_line = 0;  ///< from 1
  int shift = 0;
};

struct SurveyReport {
  std::vector<std::string> files;
  std::int64_t pairs = 0;
  std::int64_t clean_pairs = 0;  ///< without a fault that the strict filters cut
  UsualPair usual;
  std::vector<FaultReport> faults;  ///< those that were found, in the order of PairFault
  std::vector<StretchReport> stretches;
};

/// `examples`: the most for each fault. `held_out` may be null.
SurveyReport report_of(const CorpusSurvey& survey, const NamedText& text, const NamedText* held_out,
                       std::int64_t examples);

/// A table with a line for each fault, the numbers of some lines, and an example below it.
std::string text_of(const SurveyReport& report);

/// An object: "files", "pairs", "clean_pairs", what is usual, "faults" by name, "stretches".
std::string json_of(const SurveyReport& report);
/// Whether a text is such an object.
bool is_json_report(std::string_view text);

/// One HTML page, which needs no script.
std::string page_of(const SurveyReport& report);
/// The text of a file of extras/corpus/page/.
std::string_view corpus_page_file(std::string_view name);

/// "1.2 %", "0.05 %", "100 %".
std::string share_text(std::int64_t part, std::int64_t all);

/// "en to de; a target line has 1.12 times the characters of its source line".
std::string usual_text(const UsualPair& usual);

// ---- the clean text ----

/// The files that cleaning writes: two for each pair of files of the text, and the list of cuts.
struct CleanFiles {
  std::vector<std::array<std::string, 2>> sides;  ///< paths of source and target
  std::string cuts;                               ///< path
};

struct CleanCounts {
  std::int64_t kept = 0;
  std::array<std::int64_t, kPairFaults> cut{};  ///< by the first fault that a pair is cut for
};

/// Writes each file as a whole or not at all. The list of cuts is tab-separated: file, line, fault,
/// source, target. Throws Error if a file cannot be written.
CleanCounts write_clean_text(const CorpusSurvey& survey, const NamedText& text, FaultSet cut,
                             const CleanFiles& files);

}  // namespace dragoman
