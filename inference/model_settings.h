// Reads what a model file has for translation besides its weights: tokenizers, and settings of the
// search. Also finds the settings that suit a model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/search/decode_config.h"
#include "model/file/model_file.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// Both sides share one object if the file has one tokenizer. Throws Error if the file has no valid
/// SentencePiece model, or one whose number of pieces is not the model's.
TokenizerPair load_tokenizers(const ModelFileReader& file);

/// The files of a model, or of the models of an ensemble.
struct ModelFiles {
  std::vector<ModelFileReader> readers;
  TokenizerPair tokenizers;
  TextRecord record;  ///< of an ensemble: common_record()
};

/// Opens run folders and model files, at least one. Checks headers alone: engines read every
/// tensor, and that checks it. Throws Error if a file is damaged or the models' tokenizers differ.
ModelFiles open_model_files(const std::vector<std::string>& models);

/// The beam of a search that leaves it open: as wide as the n best need.
std::int64_t open_beam_size(const DecodeConfig& search, std::int64_t n_best);

/// Sets the settings for which the model has defaults, except those that were given by name. A beam
/// that was not given is that of open_beam_size(). Throws UsageError for a value that has no
/// meaning.
void take_decode_defaults(DecodeConfig& config, const DecodeDefaults& defaults,
                          const std::function<bool(std::string_view)>& is_given);

/// Whether the scores of translations are shown, or order several of them.
enum class ScoreUse { Shown, None };

/// With sampling: throws UsageError for a setting of the search that was given by name and that
/// draws do not have. The settings of the score have an effect only if the scores are used.
void refuse_settings_without_draws(const DecodeConfig& config,
                                   const std::function<bool(std::string_view)>& is_given,
                                   ScoreUse scores);

/// Finds the beam size and length penalty that suit a model (dragoman evaluate --tune). Tries
/// `start`, then length penalties at its beam size, beam sizes at the best of them, and, if the
/// beam size has changed, penalties near the best again: about twenty searches. Returns the search
/// with the highest score; if scores are equal, the one with the smaller beam. `score` is called
/// once for each pair of values.
DecodeConfig tune_search(const DecodeConfig& start,
                         const std::function<double(const DecodeConfig&)>& score);

}  // namespace dragoman
