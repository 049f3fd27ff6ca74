// Numbers with a fixed count of decimals, the same in every locale.
#pragma once

#include <string>

namespace dragoman {

/// printf's "%.{places}f", rounded to nearest.
std::string decimals(double value, int places);

}  // namespace dragoman
