// What std::cout writes through: the error that ends a write ends the work, too, and says why.
#pragma once

namespace dragoman {

/// Called first in main. From then on what std::cout cannot write throws Error, or ClosedPipe where
/// whoever read it has gone.
void install_standard_output();

}  // namespace dragoman
