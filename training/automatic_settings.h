// What a run becomes where its command leaves it open (--preset auto): size of the model,
// vocabulary, batch, rate, dropout, length, validation and patience, from the corpus and the speed
// of the machine. Pure functions; docs/training.md has the measurements behind the numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/text_size.h"
#include "model/file/model_config.h"
#include "training/outlook.h"
#include "training/train_config.h"

namespace dragoman {

/// A field's value, as a flag would give it.
struct Setting {
  std::string name, text;
  bool operator==(const Setting&) const = default;
};

/// The training text in pieces.
struct CorpusSize {
  std::int64_t pairs = 0;
  std::int64_t target_tokens = 0;  ///< </s> included
};

/// Of a text, with a vocabulary of some thousands of pieces.
inline constexpr double kCharactersPerPiece = 4.6;

/// The size of model that a text is enough for.
Preset preset_for(const TextSize& text);

/// Target pieces a second that a preset learns from on this machine; 0 where it does not fit.
using SpeedOf = std::function<double(Preset)>;

struct ChosenPreset {
  Preset preset;
  std::string reason;  ///< "29,000 pairs", or that a larger one would take too long here
};

/// The largest preset that the text is enough for and whose run takes no longer than such a text is
/// worth: 45 minutes for 430,000 target pieces, more in proportion to the text, five days at most.
/// No speed is asked for where the text is enough for tiny alone.
ChosenPreset preset_for(const TextSize& text, const SpeedOf& speed_of);

/// --vocab-size for a text: so many pieces that the rarer ones are seen often enough to be learned.
std::int64_t vocabulary_for(const TextSize& text);

/// Before the text is encoded: vocabulary and kind of tokenizer, batch, rate, dropout, subword
/// sampling, pairs joined.
std::vector<Setting> text_settings(Preset preset, const TextSize& text);

/// Target pieces that a run should see in all. tiny: 23 million of a text of 430,000 (29,000 short
/// pairs, seen 53 times), twice as many of four times the text; small: 18 million, likewise. base
/// and big see theirs 21 times, as the paper's do (section 5.3: 100,000 updates of 25,000 pieces,
/// of 4.5 million pairs).
std::int64_t target_tokens_to_see(const CorpusSize& corpus, Preset preset);

/// Updates in which a run sees them.
std::int64_t updates_for(const CorpusSize& corpus, Preset preset, double target_tokens_per_update);

/// Warm-up, validations, patience and moving average of a run of so many updates.
std::vector<Setting> length_settings(std::int64_t updates);

/// Of a run that starts from the weights of a model (--init-from): also a low rate and a short
/// warm-up. It takes a quarter of the updates.
std::vector<Setting> fine_tuning_settings(std::int64_t updates, const ModelConfig& model);
inline constexpr double kFineTuningLength = 0.25;

struct ModelSize {
  std::int64_t parameters = 0;
  std::int64_t fitting = 0;  ///< parameters of the preset that the text is enough for
};

/// Choices that cannot go well, each with what to do.
std::vector<std::string> doubtful_choices(const TrainConfig& config, const ModelConfig& model,
                                          const ModelSize& size, const CorpusSize& corpus,
                                          const RunPace& pace);

}  // namespace dragoman
