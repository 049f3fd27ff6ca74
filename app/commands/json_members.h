// The members of a JSON object (RFC 8259) in a line of text. Their values are not converted, so
// numbers of any size and strings of any kind can be passed on to the byte.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

struct JsonMember {
  std::string key;         ///< escapes decoded, unless they are no Unicode
  std::string_view value;  ///< text of JSON
  std::string_view whole;  ///< key and value
};

struct JsonMembers {
  std::vector<JsonMember> members;
  /// The first byte, from 0, at which the line is no object; npos where it is one. The members
  /// before that byte are found all the same.
  std::size_t fault = std::string_view::npos;
};

/// The views point into `line`. Strings are assumed to be UTF-8.
JsonMembers members_of(std::string_view line);

/// The last member with that key, as other JSON readers take it; null where there is none.
const JsonMember* find_member(const std::vector<JsonMember>& members, std::string_view key);

}  // namespace dragoman
