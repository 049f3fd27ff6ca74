// The tokenizers that a model file carries.
#pragma once

#include "model/file/model_file.h"
#include "tokenizer/tokenizers.h"

namespace dragoman {

/// One object for both sides where the file has one tokenizer. Throws Error where they are no
/// SentencePiece models, or do not have the pieces that the model's embeddings are for.
Tokenizers load_tokenizers(const ModelFileReader& file);

/// Whether what the tokenizer decodes has no capitals (see TokenizerConfig::lowercase).
bool lower_cases(const Tokenizer& tokenizer);

}  // namespace dragoman
