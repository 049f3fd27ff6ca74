// Several texts as one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace dragoman {

std::string joined(std::span<const std::string> texts, std::string_view separator);

}  // namespace dragoman
