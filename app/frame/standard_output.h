// The buffer of std::cout. A failed write throws an error with its reason.
#pragma once

namespace dragoman {

/// Called first in main. From then on std::cout throws Error where a write fails, or ClosedPipe
/// where the reader of a pipe has gone.
void install_standard_output();

}  // namespace dragoman
