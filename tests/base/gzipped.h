// "eins\nzwei\n" as gzip writes it.
#pragma once

#include <string_view>

namespace dragoman {

inline constexpr char kGzippedBytes[] =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\xcd\xcc\x2b\xe6\xaa\x2a\x4f\xcd\xe4"
    "\x02\x00\x94\x9b\x82\xc2\x0a\x00\x00\x00";
inline constexpr std::string_view kGzipped(kGzippedBytes, sizeof kGzippedBytes - 1);

}  // namespace dragoman
