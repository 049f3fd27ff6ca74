// The English half of clause.h.
#pragma once

#include <string>

#include "extras/sample/clause.h"

namespace dragoman {

/// The words behind the verb: "the bread in the kitchen today".
std::string english_rest(const Clause& clause);
/// The verb and the words behind it: "does not buy the bread today".
std::string english_predicate(const Clause& clause, Agreement subject);
std::string english_statement(const Clause& clause);
/// "does the man buy the bread".
std::string english_question(const Clause& clause);

}  // namespace dragoman
