// What dragoman evaluate scores: files of translations, and what models make of the source.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/commands/evaluate_options.h"
#include "app/commands/open_translator.h"
#include "app/frame/command.h"
#include "evaluation/line_statistics.h"

namespace dragoman {

struct EvaluatedTexts {
  std::vector<std::string> systems;                  ///< their names
  std::vector<std::vector<std::string>> hypotheses;  ///< [system][line]
  References references;
  std::vector<std::string> source;    ///< empty: not known
  std::vector<std::int64_t> updates;  ///< [system] behind its weights, where all are models
};

/// The files' part: --hyp, --ref and --src. Errors: unequal numbers of lines, a line without a
/// reference, and those of read_lines(). Text that looks tokenized is warned of.
EvaluatedTexts read_texts(const EvaluateFiles& files);

/// Adds what each model makes of the source. False: the user wants to stop.
bool add_translations(EvaluatedTexts& texts, const EvaluateOptions& options, const Origins& origins,
                      const DeviceEngine& device_engine);

/// Adds what the model makes of the source with one search after the other (tune_search), the
/// model's own first, and writes the best, by the first metric, into the model's file. False: the
/// user wants to stop; nothing is written.
bool add_tuned_translations(EvaluatedTexts& texts, const EvaluateOptions& options,
                            const Origins& origins, const DeviceEngine& device_engine);

}  // namespace dragoman
