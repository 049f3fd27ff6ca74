// The stops, quotes and brackets at the ends and beginnings of sentences.
#pragma once

#include <array>
#include <string_view>

#include "tokenizer/character_kinds.h"

namespace dragoman {

// Behind these a sentence ends where white space follows.
inline constexpr std::u32string_view kStops =
    U".!?\u2026\u061F\u06D4\u0589\u037E\u203C\u2047\u2048\u2049";
// Behind these a sentence ends also without white space: Chinese and Japanese, Indic, Ethiopic,
// Khmer and Burmese stops.
inline constexpr std::u32string_view kUnspacedStops =
    U"\u3002\uFF01\uFF1F\uFF61\uFF0E\u0964\u0965\u1362\u1367\u1368\u17D4\u17D5\u104B";
inline constexpr std::u32string_view kClosers =
    U"\"')]}\u2019\u201D\u201C\u2018\u00BB\u00AB\u203A\u2039\u300D\u300F\uFF09\u3011\u300B\u3009*_";
// Characters that may stand before the first word of a sentence.
inline constexpr std::u32string_view kOpeners =
    U"\"'([{\u2018\u201C\u201E\u201A\u00AB\u00BB\u2039\u203A\u300C\u300E\uFF08\u3010\u300A\u3008"
    U"\u00BF\u00A1-\u2013\u2014\u2022\u00B7*#@_\u2026";
// Characters at which the search for an abbreviation stops: brackets, quotes, apostrophes, dashes.
inline constexpr std::u32string_view kWordBorders =
    U"\"'([{\u2018\u2019\u201C\u201D\u201E\u201A\u00AB\u00BB\u2039\u203A\u300C\u300E\uFF08/\u2013"
    U"\u2014\u00BF\u00A1*_,;:";
// Openers and closers of brackets that are no sentence by themselves.
inline constexpr std::array<std::u32string_view, 5> kBrackets = {U"()", U"[]", U"\uFF08\uFF09",
                                                                 U"\u300C\u300D", U"\u300E\u300F"};

inline bool is_any_stop(char32_t c) { return is_one_of(c, kStops) || is_one_of(c, kUnspacedStops); }

}  // namespace dragoman
