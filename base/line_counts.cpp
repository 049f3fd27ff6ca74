#include "base/line_counts.h"

#include <cstdint>

#include "base/amounts.h"
#include "base/error.h"

namespace dragoman {

void require_same_lines(const std::string& first, std::size_t first_lines,
                        const std::string& second, std::size_t second_lines) {
  if (first_lines == second_lines) return;
  throw Error(first, " has ", counted(static_cast<std::int64_t>(first_lines), "line"), " but ",
              second, " has ", counted(static_cast<std::int64_t>(second_lines), "line"),
              "; the files must match line for line: paste ", first, " ", second,
              " | less shows where they part");
}

}  // namespace dragoman
