// Finds the sentences of a line by rules. They know stops of all scripts with the quotes and
// brackets behind them, abbreviations of the common languages, initials, ordinals, numbers of lists
// and ellipses, and look at the next word. Moses' split-sentences and ssplit have rules for each
// language; here the line alone decides.
#pragma once

#include <string_view>
#include <vector>

namespace dragoman {

/// The sentences of `text` (valid UTF-8) in their order, without the white space around them; none
/// where the text is blank. In doubt two sentences stay one.
std::vector<std::string_view> split_sentences(std::string_view text);

}  // namespace dragoman
