# cmake -DFOLDER=... -DOUTPUT=... -P embed.cmake: the files of a folder as strings of a C++ source, for
# report/page_files.h.
file(GLOB FILES RELATIVE ${FOLDER} ${FOLDER}/*)
set(ENTRIES "")
foreach(NAME ${FILES})
  file(READ ${FOLDER}/${NAME} TEXT)
  string(APPEND ENTRIES "    {\"${NAME}\", R\"page(${TEXT})page\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made of ${FOLDER} by cmake/embed.cmake.
#include \"report/page_files.h\"

#include <array>
#include <stdexcept>
#include <utility>

namespace dragoman {

std::string_view page_file(std::string_view name) {
  static constexpr auto kFiles = std::to_array<std::pair<std::string_view, std::string_view>>({
${ENTRIES}  });
  for (const auto& [file, text] : kFiles)
    if (file == name) return text;
  throw std::logic_error(\"report/page has no \" + std::string(name));
}

}  // namespace dragoman
")
