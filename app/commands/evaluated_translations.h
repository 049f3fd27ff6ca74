// The translations that dragoman evaluate scores beside those of files: the models' translations of
// the source.
#pragma once

#include "app/commands/evaluate_options.h"
#include "app/commands/evaluated_texts.h"
#include "app/commands/open_translator.h"
#include "app/frame/command.h"

namespace dragoman {

/// Adds each model's translation of the source. Returns false where the user wants to stop.
bool add_translations(EvaluatedTexts& texts, const EvaluateOptions& options, const Origins& origins,
                      const DeviceEngine& device_engine);

/// Adds the model's translations of the source with different searches (tune_search), the model's
/// own search first. Writes the best search, by the first metric, into the model's file. Returns
/// false where the user wants to stop; nothing is then written.
bool add_tuned_translations(EvaluatedTexts& texts, const EvaluateOptions& options,
                            const Origins& origins, const DeviceEngine& device_engine);

}  // namespace dragoman
