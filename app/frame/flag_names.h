// Names of flags. A field is found by the name that a user wrote: `-` and `_` are the same, aliases
// count, and a wrong name gets a suggestion. Flags and values of other systems (Marian, fairseq,
// OpenNMT-py, sacreBLEU) get a message that says what to write here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace dragoman {

/// With `-` in place of `_`.
std::string with_hyphens(std::string_view name);

/// The comma-separated aliases of a field, with hyphens.
std::vector<std::string> aliases_of(const Field& field);

/// The field of that name or alias; null if there is none.
const Field* find_field(const std::vector<Field>& fields, std::string_view name);

/// "; did you mean PREFIXmax-tokens?" or nothing if no name is near.
std::string suggestion(std::string_view word, std::string_view prefix,
                       const std::vector<std::string>& names);
std::string suggestion(std::string_view word, std::string_view prefix,
                       const std::vector<Field>& fields);

/// The fields under one heading.
struct FieldGroup {
  std::string_view name;
  std::vector<const Field*> fields;  ///< in their own order
};

/// The groups in the order of their first fields.
std::vector<FieldGroup> groups_of(const std::vector<Field>& fields);

/// "--train-sets is Marian's; here: --train-src FILE --train-tgt FILE", or nothing if the flag is
/// not known to be another system's. Flags that only have another name there are aliases of our
/// fields instead. `flag` is the word that was typed, with one dash or two. Some flags are foreign
/// in one command only: `command` is the one that was called.
std::string foreign_flag_text(std::string_view command, std::string_view flag);

/// The value of a field that has another spelling elsewhere, such as "pre" for "before" (norm) and
/// "md" for "markdown" (markup); any other value as it is. Throws UsageError if another system's
/// value has no counterpart of one word.
std::string value_here(std::string_view field, const std::string& value);

}  // namespace dragoman
