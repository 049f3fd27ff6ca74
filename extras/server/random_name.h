// Names that nobody can guess.
#pragma once

#include <string>

namespace dragoman {

/// A random UUID (RFC 9562, version 4): 122 bits of the system's random numbers. Throws Error where
/// the system gives none.
std::string random_name();

}  // namespace dragoman
