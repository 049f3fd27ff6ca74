// The sentences of a line beside those of its translation.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace dragoman {

/// The pairs of sentences where both have the same number of them; otherwise the line and its
/// translation as one pair. The texts must outlive the result.
std::vector<std::pair<std::string_view, std::string_view>> pairs_of_sentences(
    std::string_view source, std::string_view target);

}  // namespace dragoman
