// From the hypotheses of a line's sentences to its translation: texts, words and scores.
#pragma once

#include <string>

#include "inference/prepared_line.h"
#include "inference/translation.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// Joins the n best translations of the line's parts: the best of each part, the second best of
/// each, and so on. A part that has fewer gives its last one again. What is copied has the
/// log-probability 0.
Translation assemble_translation(const PreparedLine& line, const Tokenizer& target);

/// The translation of a part that has this hypothesis, without what is copied around it. The prefix
/// and copied texts stand as they were given: the tokenizer may write "m²" as "m2".
std::string translated_text(const PreparedPart& part, const Hypothesis& hypothesis,
                            const Tokenizer& target);

}  // namespace dragoman
