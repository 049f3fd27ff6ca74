// Words of a command as a POSIX shell reads them.
#pragma once

#include <string>

namespace dragoman {

/// The word, in quotes where a shell would otherwise change it.
std::string shell_word(const std::string& word);

}  // namespace dragoman
