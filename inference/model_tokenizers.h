// The tokenizers that a model file carries.
#pragma once

#include "model/file/model_file.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

/// Both sides share one object if the file has one tokenizer. Throws Error if the file has no valid
/// SentencePiece model, or one whose number of pieces is not the model's.
TokenizerPair load_tokenizers(const ModelFileReader& file);

/// Throws Error that names the model `other` where it cannot be in an ensemble with `model`.
void require_same(const TokenizerPair& of_model, const TokenizerPair& of_other,
                  const std::string& model, const std::string& other);

}  // namespace dragoman
