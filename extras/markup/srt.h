// Subtitles in SubRip's format.
#pragma once

#include <string>

#include "extras/markup/document.h"

namespace dragoman {

/// `srt` is valid UTF-8: blocks of a number, a line with "-->" and lines of text, with blank lines
/// between them. Numbers and times stay. A sentence that goes on in the next caption is translated
/// as one and divided again, by the length of its sections; so is one on several lines of a
/// caption. Throws Error where there is text and no line with "-->".
MarkupDocument parse_srt(std::string srt);

}  // namespace dragoman
