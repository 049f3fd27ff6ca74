// Decides whether a run may go on with new settings: compares the configuration in its checkpoint
// with the given one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/fields.h"

namespace dragoman {

struct ResumeChanges {
  std::vector<std::string> allowed;    ///< "--max-updates 1000 -> 2000"
  std::vector<std::string> not_exact;  ///< the run goes on, but not bit-identically
};

/// The texts that Field::text() has joined. For a field that is no list, the text itself.
std::vector<std::string> texts_of(const Field& field, const std::string& text);
void assign_text(const Field& field, const std::string& text);

/// Every field's text, by name.
std::map<std::string, std::string> configuration_of(const std::vector<Field>& fields);

/// Throws UsageError naming the flag that would make it another run.
ResumeChanges compare_configuration(const std::vector<Field>& fields,
                                    const std::map<std::string, std::string>& remembered);

}  // namespace dragoman
