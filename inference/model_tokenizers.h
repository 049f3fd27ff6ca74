// The tokenizers that a model file carries.
#pragma once

#include "model/file/model_file.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

/// Both sides share one object if the file has one tokenizer. Throws Error if the file has no valid
/// SentencePiece model, or one whose number of pieces is not the model's.
TokenizerPair load_tokenizers(const ModelFileReader& file);

/// Whether what the tokenizer decodes has no capitals (see TokenizerConfig::lowercase).
bool lower_cases(const Tokenizer& tokenizer);

}  // namespace dragoman
