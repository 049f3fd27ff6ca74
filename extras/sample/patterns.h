// The patterns that draw_sentence() chooses from. Each draws one whole sentence.
#pragma once

#include "base/random.h"
#include "extras/sample/text.h"

namespace dragoman {

Phrase statement_pattern(RandomStream& random);          ///< "The old man buys the bread."
Phrase fronted_pattern(RandomStream& random);            ///< "Today the old man buys the bread."
Phrase yes_no_pattern(RandomStream& random);             ///< "Does the man buy the bread?"
Phrase question_word_pattern(RandomStream& random);      ///< "What does the man buy?"
Phrase request_pattern(RandomStream& random);            ///< "Please open the door."
Phrase reason_pattern(RandomStream& random);             ///< "He sleeps because he is tired."
Phrase condition_first_pattern(RandomStream& random);    ///< "If it rains, he stays."
Phrase reported_pattern(RandomStream& random);           ///< "Anna says that he sleeps."
Phrase indirect_question_pattern(RandomStream& random);  ///< "I do not know why he sleeps."
Phrase attempt_pattern(RandomStream& random);            ///< "He tries to open the door."
Phrase purpose_pattern(RandomStream& random);            ///< "... in order to buy bread."
Phrase two_clauses_pattern(RandomStream& random);        ///< "He sleeps, but she works."
Phrase two_predicates_pattern(RandomStream& random);     ///< "He reads a book and drinks tea."
Phrase sequence_pattern(RandomStream& random);           ///< "First he works, then he sleeps."
Phrase relative_pattern(RandomStream& random);           ///< "The man who helps Anna sleeps."
Phrase quality_pattern(RandomStream& random);            ///< "The car is very old."
Phrase comparison_pattern(RandomStream& random);         ///< "The car is older than the boat."
Phrase work_pattern(RandomStream& random);               ///< "Anna is a nurse."
Phrase position_pattern(RandomStream& random);           ///< "The book is lying on the table."
Phrase belonging_pattern(RandomStream& random);          ///< "The book belongs to Anna."
Phrase existence_pattern(RandomStream& random);          ///< "There is a church in the village."

}  // namespace dragoman
