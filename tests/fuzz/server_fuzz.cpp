// Whole requests to a server whose model translates each sentence into itself: a line "METHOD
// PATH?QUERY CONTENT-TYPE", lines "name: value" of headers, then the body. With the header
// authorization they go to a server that has keys. Each is answered, once, by a status that the
// documentation has.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "extras/server/http.h"
#include "tests/extras/server/table_server.h"

namespace {

using dragoman::HttpRequest;

dragoman::TextExplanation explained(const std::string& text, dragoman::ExplanationUse,
                                    const std::function<void()>& on_step) {
  on_step();
  return {.json = dragoman::json_text(nlohmann::json{{"text", text}}), .target_tokens = 1};
}

class Server : public dragoman::TableServer {
 public:
  enum class Keys { None, Asked };

  Server(const std::filesystem::path& folder, Keys keys)
      : TableServer({"en-de", "de-en", "de-fr"}, config(folder, keys)) {
    add("en-de", 65'536, explained);
  }

 private:
  static dragoman::ServerConfig config(const std::filesystem::path& folder, Keys keys) {
    dragoman::ServerConfig config{
        .limits = {.characters = 500},
        .cors_origins = {"https://example.org"},
        .is_behind_proxy = true,
        .glossaries = std::make_shared<dragoman::Glossaries>(folder / "glossaries")};
    if (keys == Keys::None) return config;
    dragoman::write_file(folder / "keys", "alpha\n");
    config.api_keys = std::make_shared<dragoman::ApiKeys>(folder / "keys");
    return config;
  }
};

Server& server_for(const HttpRequest& request) {
  static const dragoman::ScratchFolder folder(std::filesystem::temp_directory_path() /
                                              "dragoman-server-fuzz-");
  static Server open(folder.path(), Server::Keys::None), closed(folder.path(), Server::Keys::Asked);
  return request.header("authorization").empty() ? open : closed;
}

/// Takes the first line from the text, without its end.
std::string_view next_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

/// "name: value", the name in lower case.
std::optional<std::pair<std::string_view, std::string_view>> header_of(std::string_view line) {
  const std::size_t end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz-");
  if (end == 0 || end == std::string_view::npos || !line.substr(end).starts_with(": "))
    return std::nullopt;
  return std::pair(line.substr(0, end), line.substr(end + 2));
}

HttpRequest request_of(std::string_view text) {
  std::istringstream first{std::string(next_line(text))};
  HttpRequest request{.method = "", .path = ""};
  first >> request.method >> request.path;
  std::getline(first >> std::ws, request.headers["content-type"]);
  const std::size_t query = std::min(request.path.find('?'), request.path.size());
  if (query < request.path.size())
    for (auto& field : dragoman::parse_urlencoded(request.path.substr(query + 1)))
      request.query.emplace_back(std::move(field.name), std::move(field.value));
  request.path.resize(query);
  while (true) {
    std::string_view rest = text;
    const auto header = header_of(next_line(rest));
    if (!header) break;
    request.headers[std::string(header->first)] = header->second;
    text = rest;
  }
  request.body = text;
  return request;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const std::set<int> expected = {200, 201, 204, 400, 401, 403,
                                         404, 405, 413, 415, 456, 503};
  HttpRequest request = request_of({reinterpret_cast<const char*>(bytes), size});
  Server& server = server_for(request);
  const dragoman::HttpResponse response = server.ask(std::move(request));
  if (!expected.contains(response.status)) std::abort();
  if (response.type == "application/json" && !nlohmann::json::accept(response.body)) std::abort();
  return 0;
}
