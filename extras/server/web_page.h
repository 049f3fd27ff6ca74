// The page at the server's address, for people. Without JavaScript it is a form that the server
// fills; with JavaScript it asks LibreTranslate's interface. Here are also the texts of the
// files that are part of the program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "extras/server/http.h"
#include "extras/server/served_models.h"

namespace dragoman {

/// The content of the form. `format` is that of the answer, for POST /explain.
struct WebPageForm {
  std::string text = {}, source = "auto", target = {}, terms = {}, format = {};
  std::string result = {}, status = {}, error = {};
};

struct WebPageFacts {
  std::string version;
  bool has_api_keys;
  std::int64_t explained_characters;  ///< of a text, at most; 0: none is explained
};

/// The form as it was sent. What is missing or no text stays empty.
WebPageForm read_form(const RequestFields& fields);

/// The page. Its headers forbid scripts and styles in the text, and any other server.
HttpResponse web_page(const WebPageForm& form, const ServedModels& models,
                      const WebPageFacts& facts, int status = 200);

/// A file that the page needs ("page.css"). Throws HttpError (404).
HttpResponse web_page_part(std::string_view name);

/// The text of a file of extras/server/page/, "page.css".
std::string_view web_page_file(std::string_view name);

/// The text of a file of extras/server/files/, "openapi.json".
std::string_view served_file(std::string_view name);

}  // namespace dragoman
