// Placeholders of format strings that count their arguments: each "%s" stands for the next one. In
// another order they would stand for others.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "extras/markup/document.h"
#include "extras/markup/place_tags.h"

namespace dragoman {

/// Whether a placeholder stands for the next argument: "%d" and "{}", not "%2$d", "%(name)d", "{0}"
/// and "%%".
bool takes_next_argument(std::string_view placeholder);

/// Whether a placeholder that stands for the next argument may be written with its number: not with
/// a width that is an argument, too ("%*d"), nor with a macro of C ("%<PRIu64>").
bool may_have_number(std::string_view placeholder);

/// "%2$s" of "%s" and 2.
std::string numbered_placeholder(std::string_view placeholder, std::size_t argument);

/// Whether the placeholders of a passage are to be written with their numbers, as their order has
/// changed. Where not all take numbers, they get their own order among their places instead.
bool are_numbered(const Passage& passage, std::vector<PlacedTag>& tags);

}  // namespace dragoman
