// Whole requests to a server whose model translates each sentence into itself: a line "METHOD PATH
// CONTENT-TYPE", then the body. Each is answered, once, by a status that the documentation has.
#include <cstddef>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>

#include "base/scratch_folder.h"
#include "tests/server/table_server.h"

namespace {

dragoman::TableServer& server() {
  static const dragoman::ScratchFolder folder(std::filesystem::temp_directory_path() /
                                              "dragoman-server-fuzz-");
  static dragoman::TableServer table(
      {"en-de", "de-en", "de-fr"},
      {.limits = {.characters = 500},
       .cors_origins = {"*"},
       .glossaries = std::make_shared<dragoman::Glossaries>(folder.path())});
  return table;
}

dragoman::HttpRequest request_of(const std::string& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::istringstream line(text.substr(0, end));
  dragoman::HttpRequest request{.method = "", .path = ""};
  line >> request.method >> request.path;
  std::getline(line >> std::ws, request.headers["content-type"]);
  request.body = text.substr(std::min(end + 1, text.size()));
  return request;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const std::set<int> expected = {200, 201, 204, 400, 403, 404, 405, 413, 456};
  const dragoman::HttpResponse response =
      server().ask(request_of({reinterpret_cast<const char*>(bytes), size}));
  if (!expected.contains(response.status)) std::abort();
  if (response.type == "application/json" && !nlohmann::json::accept(response.body)) std::abort();
  return 0;
}
