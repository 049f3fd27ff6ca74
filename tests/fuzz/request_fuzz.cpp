// The first byte chooses the form of the body; then a Content-Type up to a line end where it is a
// multipart body, and the body. Besides HttpError nothing may come out.
#include <cstddef>
#include <cstdint>
#include <string>

#include "extras/server/deepl.h"
#include "extras/server/http.h"
#include "extras/server/libretranslate.h"
#include "extras/server/translated_files.h"
#include "extras/server/web_page.h"

namespace {

using dragoman::HttpError;
using dragoman::HttpRequest;
using dragoman::RequestFields;

HttpRequest request_of(std::string text) {
  HttpRequest request{.method = "POST", .path = "/translate"};
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

template <class Parse>
void refused_or_parsed(Parse parse) {
  try {
    parse();
  } catch (const HttpError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const dragoman::ServedModels no_models;
  refused_or_parsed([&] {
    const RequestFields fields(request_of({reinterpret_cast<const char*>(bytes), size}));
    const dragoman::RequestLimits limits;
    refused_or_parsed(
        [&] { dragoman::libretranslate::parse_translate(fields, no_models, limits); });
    refused_or_parsed([&] { dragoman::libretranslate::parse_detect(fields, limits); });
    refused_or_parsed(
        [&] { dragoman::libretranslate::parse_suggestion(fields, no_models, limits); });
    refused_or_parsed(
        [&] { dragoman::libretranslate::parse_translate_file(fields, no_models, limits); });
    refused_or_parsed([&] { dragoman::libretranslate::parse_explain(fields, no_models, limits); });
    refused_or_parsed([&] { dragoman::deepl::parse_translate(fields, no_models, limits); });
    refused_or_parsed([&] { dragoman::deepl::parse_glossary_entries(fields); });
    dragoman::read_form(fields);
    refused_or_parsed([&] { fields.texts("text"); });
    refused_or_parsed([&] { fields.flag("flag"); });
    refused_or_parsed([&] { fields.number("number"); });
    if (const auto file = fields.file("file")) dragoman::safe_file_name(file->name);
  });
  return 0;
}
