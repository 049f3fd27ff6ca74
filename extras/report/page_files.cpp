#include "extras/report/page_files.h"

#include "base/html_text.h"

namespace dragoman {

std::string filled_page_file(std::string_view file,
                             const std::vector<std::pair<std::string_view, std::string>>& values) {
  return filled(page_file(file), values);
}

}  // namespace dragoman
