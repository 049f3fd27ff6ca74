// English inflection for the sample corpus.
#pragma once

#include <string>
#include <string_view>

#include "extras/sample/german.h"

namespace dragoman {

/// "a" or "an" before `words` (right for the words of the lexicon).
std::string with_indefinite_article(std::string_view words);

/// "buys", "goes", "carries", "has".
std::string third_person(std::string_view base);

/// "is", "am", "are"; "was", "were".
std::string present_of_be(Agreement subject);
std::string past_of_be(Agreement subject);

}  // namespace dragoman
