// A JSON object (RFC 8259) as it stands in a line: its members are found, and nothing in them is
// converted, so that numbers of any size and strings of any kind can be passed on to the byte.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

struct JsonMember {
  std::string key;         ///< without its escapes; as it stands where they are no Unicode
  std::string_view value;  ///< text of JSON
  std::string_view whole;  ///< key and value
};

struct JsonMembers {
  std::vector<JsonMember> members;
  /// The byte, from 0, where the line is no object any more; npos where it is one. The members
  /// before it are found all the same.
  std::size_t fault = std::string_view::npos;
};

/// The views are of `line`. Strings are taken to be UTF-8.
JsonMembers members_of(std::string_view line);

/// The last member of that key, as others read objects; null where there is none.
const JsonMember* find_member(const std::vector<JsonMember>& members, std::string_view key);

}  // namespace dragoman
