// The sentence patterns of the sample corpus: questions, subordinate clauses, infinitives,
// comparisons and the rest, around clauses drawn by draw.h.
#pragma once

#include "base/random.h"
#include "extras/sample/text.h"

namespace dragoman {

/// One sentence with its closing mark.
Phrase draw_sentence(RandomStream& random);

/// One sentence about a number, date, time or price.
Phrase draw_number_sentence(RandomStream& random);

}  // namespace dragoman
