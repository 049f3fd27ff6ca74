#include "extras/server/web_page.h"

#include <array>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/formatted_text.h"
#include "extras/server/languages.h"

namespace dragoman {

namespace {

struct PagePart {
  std::string_view name, type;
};

constexpr std::array kParts = {PagePart{"page.css", "text/css; charset=utf-8"},
                               PagePart{"page.js", "text/javascript; charset=utf-8"},
                               PagePart{"server.js", "text/javascript; charset=utf-8"},
                               PagePart{"words.js", "text/javascript; charset=utf-8"},
                               PagePart{"files.js", "text/javascript; charset=utf-8"},
                               PagePart{"icon.svg", "image/svg+xml"}};

std::vector<std::pair<std::string, std::string>> security_headers() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
           "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cache-Control", "no-cache"}};
}

std::string option(const std::string& code, const std::string& name, const std::string& selected) {
  return filled(web_page_file("option.html"), {{"code", escaped(code)},
                                               {"selected", code == selected ? " selected" : ""},
                                               {"name", escaped(name)}});
}

/// The target of the form, or else that of the first model.
std::string target_of(const WebPageForm& form, const ServedModels& models) {
  return form.target.empty() ? models.first_target() : form.target;
}

std::string text_or_nothing(const RequestFields& fields, const char* name) {
  try {
    return fields.text(name);
  } catch (const HttpError&) {
    return {};
  }
}

}  // namespace

WebPageForm read_form(const RequestFields& fields) {
  return {.text = text_or_nothing(fields, "q"),
          .source = text_or_nothing(fields, "source"),
          .target = text_or_nothing(fields, "target"),
          .terms = text_or_nothing(fields, "terms"),
          .format = text_or_nothing(fields, "format")};
}

HttpResponse web_page(const WebPageForm& form, const ServedModels& models,
                      const WebPageFacts& facts, int status) {
  const std::string target = target_of(form, models);
  std::string sources = option("auto", "Auto detect", form.source), targets;
  for (const std::string& code : models.languages()) {
    const std::string name = language_name(code);
    if (models.is_source(code)) sources += option(code, name, form.source);
    if (models.is_target(code)) targets += option(code, name, target);
  }
  return {.status = status,
          .body = filled(web_page_file("page.html"),
                         {{"sources", sources},
                          {"targets", targets},
                          {"text", escaped(form.text)},
                          {"result", escaped(form.result)},
                          {"status", escaped(form.status)},
                          {"error", escaped(form.error)},
                          {"terms", escaped(form.terms)},
                          {"terms_open", form.terms.empty() ? "" : " open"},
                          {"key_hidden", facts.has_api_keys ? "" : " hidden"},
                          {"explained_characters", std::to_string(facts.explained_characters)},
                          {"explain_hidden", facts.explained_characters > 0 ? "" : " hidden"},
                          {"version", escaped(facts.version)}}),
          .type = "text/html; charset=utf-8",
          .headers = security_headers()};
}

HttpResponse web_page_part(std::string_view name) {
  for (const PagePart& part : kParts)
    if (part.name == name)
      return {.body = std::string(web_page_file(name)),
              .type = std::string(part.type),
              .headers = security_headers()};
  throw HttpError(404, join_text("there is no /page/", name));
}

}  // namespace dragoman
