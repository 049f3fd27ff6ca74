// Writes the pairs of a text that have none of the faults to be cut, and lists those that have.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "extras/corpus/corpus_survey.h"
#include "extras/corpus/survey_report.h"

namespace dragoman {

/// The files that cleaning writes: two for each pair of files of the text, and the list of cuts.
struct CleanFiles {
  std::vector<std::array<std::string, 2>> sides;  ///< paths of source and target
  std::string cuts;                               ///< path
};

struct CleanCounts {
  std::int64_t kept = 0;
  std::array<std::int64_t, kPairFaults> cut{};  ///< by the first fault that a pair is cut for
};

/// Writes each file as a whole or not at all. The list of cuts is a table with tabs between: file,
/// line, fault, source, target. Throws Error if a file cannot be written.
CleanCounts write_clean_text(const CorpusSurvey& survey, const NamedText& text, FaultSet cut,
                             const CleanFiles& files);

}  // namespace dragoman
