// The encoding that a page of HTML declares.
#pragma once

#include <string>

namespace dragoman {

/// The page with "utf-8" in the place of each other encoding that a <meta> declares. `html` is
/// UTF-8, so another declaration is wrong, or right only until the translation has other letters.
std::string with_utf8_declared(std::string html);

}  // namespace dragoman
