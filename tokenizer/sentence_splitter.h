// Finds the sentences of a line by rules. They know stops of all scripts with the quotes and
// brackets after them, abbreviations of the common languages, initials, ordinals, numbers of lists
// and ellipses, and look at the next word. Moses' split-sentences and ssplit have rules for each
// language; here the line alone decides.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace dragoman {

/// The sentences of `text` (valid UTF-8) in their order, without the white space around them; none
/// if the text is blank. In doubt two sentences stay one.
std::vector<std::string_view> split_sentences(std::string_view text);

/// The sentences of a line beside those of its translation, if both have the same number of them;
/// otherwise the line and its translation as one pair. The texts must outlive the result.
std::vector<std::pair<std::string_view, std::string_view>> pairs_of_sentences(
    std::string_view source, std::string_view target);

/// Whether the set has the character.
inline bool is_one_of(char32_t c, std::u32string_view set) { return set.find(c) != set.npos; }

}  // namespace dragoman
