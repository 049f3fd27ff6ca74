// Finds a field by the name that a user wrote: `-` and `_` are the same, aliases count, and for a
// wrong name there is the nearest right one. Finds the fields of each group, too.
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

/// The field of that name or alias; null where there is none.
const Field* find_field(const std::vector<Field>& fields, std::string_view name);

/// "; did you mean PREFIXmax-tokens?" or nothing where no name is near.
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

}  // namespace dragoman
