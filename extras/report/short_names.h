// Names of files without the parts that all of them have in common.
#pragma once

#include <string>
#include <vector>

namespace dragoman {

/// "out/test.old.de" and "out/test.new.de" become "old" and "new". Folders, and parts between full
/// stops, are left out at the beginning and at the end, as far as they are the same in all names. A
/// single name loses its folder and its extension. No name becomes empty, and different names stay
/// different.
std::vector<std::string> short_names(const std::vector<std::string>& names);

}  // namespace dragoman
