// The meaning of HTML's elements for a translation.
#pragma once

#include <string_view>

namespace dragoman {

enum class HtmlElement {
  Inline,  ///< its tags stand within sentences
  Single,  ///< the same, without content
  Kept,    ///< stands within sentences, and is kept as it is: code
  Hidden,  ///< the same, and nobody reads its content: a script
  KeptBlock,
  Splits,
};

/// `name` in lower case. Elements that HTML does not know are inline, as browsers show them.
HtmlElement html_element(std::string_view name);

/// Whether an element of this name stands in a table alone, as <td> does.
bool is_part_of_table(std::string_view name);

}  // namespace dragoman
