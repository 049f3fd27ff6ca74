// Options as Python gives them: names of fields with their values as texts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/fields.h"

namespace dragoman {

/// Field name ("beam-size") -> one text, or any number for a list.
using NamedOptions = std::map<std::string, std::vector<std::string>>;

/// Throws UsageError naming an option that is no field, or whose text cannot be parsed.
void assign_options(const std::vector<Field>& fields, const NamedOptions& options);

/// A message of the program in Python's words: "--beam-size" becomes "beam_size".
std::string in_python_words(const std::string& message);

}  // namespace dragoman
