// The settings that a run chooses if its command leaves them open (--preset auto): size of the
// model, vocabulary, batch, rate, dropout, length, validation and patience. They are pure
// functions of the corpus and the speed of the machine. docs/experiments/automatic-settings.md has
// the measurements that the numbers come from.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/prepare.h"
#include "model/file/model_config.h"
#include "training/settings/stopping.h"
#include "training/settings/train_config.h"

namespace dragoman {

/// Values of fields by their names, as flags would give them.
using FieldTexts = std::map<std::string, std::string>;

/// The training text in pieces.
struct CorpusSize {
  std::int64_t pairs = 0;
  std::int64_t target_tokens = 0;  ///< </s> included
};

/// The mean length of a piece, for a vocabulary of some thousands of pieces.
inline constexpr double kCharactersPerPiece = 4.6;

/// The size of a text that is not encoded yet.
CorpusSize estimated_size(const TextSize& text);

/// The size of model that a text is enough for.
Preset preset_for(const TextSize& text);

/// The seconds that a run of a preset would take on this machine; none if the preset does not fit
/// into memory.
using SecondsOf = std::function<std::optional<double>(Preset)>;

struct ChosenPreset {
  Preset preset;
  std::string reason;  ///< "29,000 pairs", or what a larger preset would take and bring
};

/// The largest preset that the text is enough for and whose run does not take too long: 40 minutes
/// for 430,000 target pieces, in proportion to the text, from 15 minutes to five days. Does not
/// call `seconds_of` if the text is enough for tiny alone.
ChosenPreset preset_for(const TextSize& text, const SecondsOf& seconds_of);

/// --vocab-size for a text: few enough pieces that the rare ones are seen often enough to be
/// learned.
std::int64_t vocabulary_for(const TextSize& text);

/// The settings that are chosen before the text is encoded: vocabulary and kind of tokenizer,
/// batch, rate, dropout, subword sampling, joined pairs.
FieldTexts text_settings(Preset preset, const TextSize& text);

/// The probabilities of --noise usual. The kinds of noise are those of OpusTrainer, with which the
/// translators of Firefox are trained.
FieldTexts noise_settings();

/// The batches of a run on `gpus` GPUs: --max-tokens and --update-freq. A GPU is only fast with
/// large batches, so they have 25,000 pieces each, if a pass over the text still has 1,000 updates.
/// Nothing if it has fewer: then the batches are those of the CPU.
FieldTexts gpu_batch_settings(const TextSize& text, int gpus);

/// Target pieces that a run should see in all. For a text of 430,000 (29,000 short pairs) tiny sees
/// 23 million, which is 53 passes, and small sees 18 million. A text four times as long is seen for
/// twice as many pieces, but no text in fewer than 21 passes. base and big always make 21, as the
/// paper's models do (section 5.3: 100,000 updates of 25,000 pieces, from 4.5 million pairs).
std::int64_t target_tokens_to_see(const CorpusSize& corpus, Preset preset);

/// target_tokens_to_see(), or fewer if --max-updates or --max-epochs ends the run earlier. Nothing
/// is known of the padding, so batches count as full.
double target_tokens_of_run(const CorpusSize& corpus, const TrainConfig& config, int ranks);

/// The number of updates in which a run sees target_tokens_to_see().
std::int64_t updates_for(const CorpusSize& corpus, Preset preset, double target_tokens_per_update);

/// The length of a run in updates, and the number of updates that take as long as a validation.
struct RunLength {
  double updates = 0;
  double updates_per_validation = 0;  ///< 0: not known

  /// The validations of the run: 30, or fewer if they would take more than 15 % of the time of the
  /// updates, but at least 5.
  double validations() const;
};

/// Estimates how many updates take as long as a validation that writes `target_tokens` pieces.
double updates_per_validation(std::int64_t target_tokens, double target_tokens_per_update);

/// Warm-up, validations, patience and moving average of a run.
FieldTexts length_settings(const RunLength& length);

/// The same for a run that starts from the weights of a model (--init-from), with a low rate and a
/// short warm-up. Such a run has kFineTuningLength of updates_for().
FieldTexts fine_tuning_settings(const RunLength& length, const ModelConfig& model);
inline constexpr double kFineTuningLength = 0.25;

struct ModelSize {
  std::int64_t parameters = 0;
  std::int64_t fitting = 0;  ///< parameters of the preset that the text is enough for
};

/// A text for each choice that cannot go well, with the remedy.
std::vector<std::string> doubtful_choices(const TrainConfig& config, const ModelConfig& model,
                                          const ModelSize& size, const CorpusSize& corpus,
                                          const RunPace& pace);

}  // namespace dragoman
