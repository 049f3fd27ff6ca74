// From the hypotheses of a line's sentences to its translation: texts, words and scores.
#pragma once

#include "inference/prepared_line.h"
#include "inference/translation.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// The n best translations of the line's parts joined rank by rank; a part with fewer gives its
/// last one to the ranks beyond.
Translation assemble_translation(const PreparedLine& line, const Tokenizer& target);

}  // namespace dragoman
