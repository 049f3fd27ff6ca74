// The texts that dragoman evaluate scores, as its files have them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/commands/evaluate_options.h"
#include "evaluation/line_statistics.h"

namespace dragoman {

/// The place of a model in its training.
struct TrainingPoint {
  std::string run;  ///< OpenedTranslator::run; "": no model
  std::int64_t updates = 0;
};

struct EvaluatedTexts {
  std::vector<std::string> systems;                  ///< their names
  std::vector<std::vector<std::string>> hypotheses;  ///< [system][line]
  References references;
  std::vector<std::string> source;      ///< empty: not known
  std::vector<TrainingPoint> training;  ///< [system]; empty with --tune
};

/// Reads the files of --hyp, --ref and --src. Errors: unequal numbers of lines, and those of
/// read_lines(). Unless --force is given, warns of lines without a reference, and of text that
/// looks tokenized, that begins with a byte order mark, that is mostly empty, or that is the source
/// itself.
EvaluatedTexts read_texts(const EvaluateFiles& files);

/// Warns of empty translations of lines that have a reference.
void warn_of_empty(const std::vector<std::string>& lines, const References& references,
                   const std::string& path);

}  // namespace dragoman
