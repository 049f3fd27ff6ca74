// Messages that choose one of several texts, in the syntax of ICU's MessageFormat:
// {n, plural, one {# file} other {# files}}, and the same with select and selectordinal.
#pragma once

#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace dragoman {

struct IcuMessage {
  bool chooses = false;  ///< it has an argument that chooses
  /// The texts of the branches, in their order, if such an argument is all of the message; those of
  /// a branch that is one itself are its own. Empty: other text stands beside the argument.
  std::vector<ByteRange> texts = {};
};
IcuMessage icu_message(std::string_view text);

/// Whether a translation differs from a message only in the texts of its branches, each of which
/// has as many "#" as it had. True if the message does not choose.
bool has_same_branches(std::string_view message, std::string_view translation);

}  // namespace dragoman
