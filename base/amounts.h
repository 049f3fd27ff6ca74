// Amounts as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dragoman {

/// "63,082,496".
std::string with_separators(std::int64_t number);

/// "1 line", "0 lines", "1,000 lines"; `many` where the plural is more than an "s" behind `one`.
std::string counted(std::int64_t number, std::string_view one, std::string_view many = "");

/// "512 B", "1.5 KB", "640 MB", "2.1 GB": each unit has 1,000 of the one before.
std::string bytes_text(std::int64_t bytes);

/// "38.20" with two decimals: printf's "%.{decimals}f" in the C locale, rounded to nearest.
std::string fixed_text(double number, int decimals);

/// A duration, rounded up to seconds: "0:59", "12:34", "3:12:34", "2d 03:12"; "long" from 1e9 s on.
std::string duration_text(double seconds);

}  // namespace dragoman
