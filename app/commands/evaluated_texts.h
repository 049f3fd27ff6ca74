// The texts that dragoman evaluate scores: files of translations, and the models' translations of
// the source.
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
  std::vector<std::int64_t> updates;  ///< [system] of its training, where all are models
};

/// Reads the files of --hyp, --ref and --src. Errors: unequal numbers of lines, a line without a
/// reference, and those of read_lines(). Warns of text that looks tokenized.
EvaluatedTexts read_texts(const EvaluateFiles& files);

/// Adds each model's translation of the source. Returns false where the user wants to stop.
bool add_translations(EvaluatedTexts& texts, const EvaluateOptions& options, const Origins& origins,
                      const DeviceEngine& device_engine);

/// Adds the model's translations of the source with different searches (tune_search), the model's
/// own search first. Writes the best search, by the first metric, into the model's file. Returns
/// false where the user wants to stop; nothing is then written.
bool add_tuned_translations(EvaluatedTexts& texts, const EvaluateOptions& options,
                            const Origins& origins, const DeviceEngine& device_engine);

}  // namespace dragoman
