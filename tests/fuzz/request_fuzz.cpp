// The first byte chooses the form of the body; then a Content-Type up to a line end if it is a
// multipart body, and the body. Only HttpError may be thrown.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "extras/server/http.h"
#include "extras/server/interface.h"
#include "extras/server/translated_files.h"

namespace {

using dragoman::HttpError;
using dragoman::HttpRequest;
using dragoman::RequestFields;

HttpRequest request_of(std::string text) {
  // Parameters of a good request, unless the body has others.
  HttpRequest request{.method = "POST",
                      .path = "/translate",
                      .query = {{"source", "en"},
                                {"target", "de"},
                                {"source_lang", "en"},
                                {"target_lang", "de"},
                                {"name", "mine"}}};
  const char form = text.empty() ? '\0' : text.front();
  text.erase(0, 1);
  std::string type = "application/json";
  if (form % 3 == 1) type = "application/x-www-form-urlencoded";
  if (form % 3 == 2) {
    const std::size_t end = text.find('\n');
    type = "multipart/form-data" + text.substr(0, end);
    text.erase(0, end == std::string::npos ? end : end + 1);
  }
  request.headers["content-type"] = type;
  request.body = std::move(text);
  return request;
}

/// The endpoints of a server that has a model, and keeps no suggestions.
struct Endpoints {
  Endpoints() {
    models.set(std::make_shared<dragoman::ServedModel>(dragoman::LanguagePair{"en", "de"}, [] {}));
    for (const auto& interface : interfaces)
      for (dragoman::Endpoint& endpoint : interface->endpoints())
        if (endpoint.access != dragoman::Access::Free)
          with_parameters.push_back(std::move(endpoint));
  }

  dragoman::ServedModels models;
  const dragoman::ServerConfig config = {.suggestions =
                                             std::make_shared<dragoman::AppendFile>("/dev/null")};
  const dragoman::Metrics metrics;
  const std::vector<std::unique_ptr<dragoman::Interface>> interfaces =
      dragoman::interfaces_of({models, config, metrics});
  std::vector<dragoman::Endpoint> with_parameters;
};

template <class Parse>
void refused_or_parsed(Parse parse) {
  try {
    parse();
  } catch (const HttpError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const Endpoints endpoints;
  refused_or_parsed([&] {
    const HttpRequest http = request_of({reinterpret_cast<const char*>(bytes), size});
    const RequestFields fields(http);
    for (const dragoman::Endpoint& endpoint : endpoints.with_parameters)
      refused_or_parsed([&] {
        dragoman::ServerRequest request{.http = http, .fields = fields};
        endpoint.answer(request);
      });
    refused_or_parsed([&] { fields.texts("text"); });
    refused_or_parsed([&] { fields.objects("dictionaries"); });
    refused_or_parsed([&] { fields.flag("flag"); });
    refused_or_parsed([&] { fields.number("number"); });
    if (const auto file = fields.file("file")) dragoman::safe_file_name(file->name);
  });
  return 0;
}
