// Several texts as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dragoman {

std::string joined(std::span<const std::string> texts, std::string_view separator);

/// "line 7", "lines 7, 9, 12"; if `all` is more than the numbers that are given, "lines 7, 9, 12,
/// ...".
std::string lines_text(std::span<const std::int64_t> numbers, std::int64_t all);
/// The most numbers that a message lists.
inline constexpr std::size_t kListedLines = 5;

}  // namespace dragoman
