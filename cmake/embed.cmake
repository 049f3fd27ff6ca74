# cmake -DFOLDER=... -DOUTPUT=... -DHEADER=... -DFUNCTION=... -P embed.cmake: the files of a folder as strings of a C++
# source. It defines the function that the header declares: std::string_view FUNCTION(std::string_view name).
file(GLOB FILES RELATIVE ${FOLDER} ${FOLDER}/*)
set(ENTRIES "")
foreach(NAME ${FILES})
  file(READ ${FOLDER}/${NAME} TEXT)
  string(APPEND ENTRIES "    {\"${NAME}\", R\"page(${TEXT})page\"sv},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made of ${FOLDER} by cmake/embed.cmake.
#include \"${HEADER}\"

#include <array>
#include <stdexcept>
#include <utility>

namespace dragoman {

std::string_view ${FUNCTION}(std::string_view name) {
  using std::operator\"\"sv;  // knows the length, which the compiler would else count, up to a limit
  static constexpr auto kFiles = std::to_array<std::pair<std::string_view, std::string_view>>({
${ENTRIES}  });
  for (const auto& [file, text] : kFiles)
    if (file == name) return text;
  throw std::logic_error(\"${FUNCTION}: there is no \" + std::string(name));
}

}  // namespace dragoman
")
