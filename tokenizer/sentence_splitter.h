// Where the sentences of a line end, told by rules: stops of all scripts with the quotes and
// brackets behind them, abbreviations of the common languages, initials, ordinals and numbers of
// lists, ellipses, and what the next word looks like. What Moses' split-sentences and ssplit do
// language by language is decided by the line alone.
#pragma once

#include <string_view>
#include <vector>

namespace dragoman {

/// The sentences of `text` (valid UTF-8) in their order, without the white space around them; none
/// where the text is blank. In doubt two sentences stay one.
std::vector<std::string_view> split_sentences(std::string_view text);

}  // namespace dragoman
