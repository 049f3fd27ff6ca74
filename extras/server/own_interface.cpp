// Our own interface: the page for people, explanations of translations, and facts for those who run
// the server.

#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/language_codes.h"
#include "base/utf8.h"
#include "extras/report/translation_pages.h"
#include "extras/server/access.h"
#include "extras/server/interface.h"
#include "extras/server/libretranslate.h"
#include "extras/server/own_interface.h"

namespace dragoman {

namespace {

using Json = nlohmann::ordered_json;

// ---- the page -----------------------------------------------------------------------------------
// Without JavaScript it is a form that the server fills; with JavaScript it asks LibreTranslate's
// interface.

struct PagePart {
  std::string_view name, type;
};

constexpr std::array kParts = {PagePart{"page.css", "text/css; charset=utf-8"},
                               PagePart{"page.js", "text/javascript; charset=utf-8"},
                               PagePart{"server.js", "text/javascript; charset=utf-8"},
                               PagePart{"words.js", "text/javascript; charset=utf-8"},
                               PagePart{"files.js", "text/javascript; charset=utf-8"},
                               PagePart{"glossary.js", "text/javascript; charset=utf-8"},
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

/// A file that the page needs ("page.css"). Throws HttpError (404).
HttpResponse web_page_part(std::string_view name) {
  for (const PagePart& part : kParts)
    if (part.name == name)
      return {.body = std::string(web_page_file(name)),
              .type = std::string(part.type),
              .headers = security_headers()};
  throw HttpError(404, join_text("there is no /page/", name));
}

std::string text_or_nothing(const RequestFields& fields, const char* name) {
  try {
    return fields.text(name);
  } catch (const HttpError&) {
    return {};
  }
}

/// The content of the page's form.
struct WebPageForm {
  std::string text = {}, source = "auto", target = {}, terms = {};
  std::string result = {}, status = {}, error = {};
};

/// The form as it was sent. What is missing or not a text stays empty.
WebPageForm read_form(const RequestFields& fields) {
  return {.text = text_or_nothing(fields, "q"),
          .source = text_or_nothing(fields, "source"),
          .target = text_or_nothing(fields, "target"),
          .terms = text_or_nothing(fields, "terms")};
}

/// The same in an address, as LibreTranslate's page has it: "/?source=en&target=de&q=A man walks."
WebPageForm read_form(const HttpRequest& request) {
  WebPageForm form;
  for (const auto& [name, value] : request.query)
    for (const auto& [known, field] :
         {std::pair("q", &form.text), std::pair("source", &form.source),
          std::pair("target", &form.target)})
      if (name == known && find_invalid_utf8(value) == std::string_view::npos) *field = value;
  return form;
}

// ---- explanations -------------------------------------------------------------------------------

/// The page may run its own script and save figures. It counts as a page from nowhere (sandbox), so
/// it cannot request anything from this server.
HttpResponse page_of(const std::string& json) {
  const std::string nonce = random_name();
  return {.body = explanation_page(json, nonce),
          .type = "text/html; charset=utf-8",
          .headers = {{"Content-Security-Policy",
                       join_text("default-src 'none'; script-src 'nonce-", nonce,
                                 "'; style-src 'unsafe-inline'; form-action 'none'; base-uri "
                                 "'none'; frame-ancestors 'none'; sandbox allow-scripts "
                                 "allow-downloads")},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cache-Control", "private, no-store"}}};
}

/// `format` of a request whose fields cannot be read. Pages send no JSON.
std::string format_of_broken(const HttpRequest& request) {
  const std::string type = ascii_lower(request.header("content-type"));
  if (type.starts_with("application/json")) return "json";
  for (const auto& [name, value] : request.query)
    if (name == "format") return value;
  if (!type.starts_with("multipart/"))
    for (const FormField& field : parse_urlencoded(request.body))
      if (field.name == "format") return field.value;
  return "";
}

/// Whether POST /explain comes from a program: by `format`, or without it by the header Accept.
bool wants_numbers(const ServerRequest& request) {
  const std::string format =
      request.fields ? text_or_nothing(*request.fields, "format") : format_of_broken(request.http);
  if (!format.empty()) return format == "json";
  const std::string accepted = ascii_lower(request.http.header("accept"));
  return accepted.find("application/json") != std::string::npos &&
         accepted.find("text/html") == std::string::npos;
}

// ---- the endpoints ------------------------------------------------------------------------------

class OwnInterface : public Interface {
 public:
  using Interface::Interface;

  std::vector<Endpoint> endpoints() override {
    using enum Access;
    using Request = ServerRequest;
    const auto description = [](Request&) {
      return HttpResponse{.body = std::string(served_file("openapi.json"))};
    };
    return {
        {"GET", "/", Free, [this](Request& request) { return page(read_form(request.http)); }},
        {"POST", "/", Admitted, [this](Request& request) { return translate(*request.fields); }},
        {"GET", "/page/", Free, [](Request& request) { return web_page_part(request.rest); }},
        {"POST", "/explain", Admitted, [this](Request& request) { return explain(request); }},
        {"GET", "/health", Free, [this](Request&) { return health(); }},
        {"GET", "/metrics", Free, [this](Request&) { return metrics(); }},
        {"GET", "/version", Free, [this](Request&) { return version(); }},
        {"GET", "/openapi.json", Free, description},
        {"GET", "/spec", Free, description}};  // LibreTranslate's path
  }

  /// People get a page.
  HttpResponse error_answer(const ServerRequest& request, const HttpError& error) const override {
    const std::string& path = request.http.path;
    if (path != "/" && (path != "/explain" || wants_numbers(request)))
      return Interface::error_answer(request, error);
    WebPageForm form = request.fields ? read_form(*request.fields) : WebPageForm();
    form.error = error.what();
    return page(form, error.status());
  }

 private:
  /// Its headers forbid scripts and styles in the text, and requests to other servers.
  HttpResponse page(const WebPageForm& form, int status = 200) const {
    const ServedModels& models = server_.models;
    const std::int64_t explained_characters = server_.config.limits.explained_characters;
    const std::string target = form.target.empty() ? models.first_target() : form.target;
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
                            {"key_hidden", server_.config.api_keys ? "" : " hidden"},
                            {"explained_characters", std::to_string(explained_characters)},
                            {"explain_hidden", explained_characters > 0 ? "" : " hidden"},
                            {"version", escaped(server_.config.version)}}),
            .type = "text/html; charset=utf-8",
            .headers = security_headers()};
  }

  /// The page's form, as it is sent without JavaScript.
  WantedTexts translate(const RequestFields& fields) const {
    WantedTexts wanted =
        libretranslate::parse_translate(fields, server_.models, server_.config.limits);
    wanted.answer = [this, form = read_form(fields)](const TranslateParameters& parameters,
                                                     const std::vector<TextAnswer>& answers) {
      const TextAnswer& answer = answers.front();
      WebPageForm filled = form;
      filled.result = answer.texts.front();
      if (parameters.source.empty()) filled.status = "Detected: " + language_name(answer.source);
      if (!answer.pivot.empty())
        filled.status.append(filled.status.empty() ? "" : ", ")
            .append("by way of " + language_name(answer.pivot));
      return page(filled);
    };
    return wanted;
  }

  /// What a model does with a text, as the page of `dragoman explain` or as its numbers.
  WantedTexts explain(const ServerRequest& request) const {
    const std::string format = request.fields->text("format");
    if (!format.empty() && format != "html" && format != "json")
      throw HttpError(400, format + " format is not supported");
    const RequestLimits& limits = server_.config.limits;
    if (limits.explained_characters == 0)
      throw HttpError(403, "Explanations are disabled on this server.");
    const bool is_numbers = wants_numbers(request);
    return {
        .parameters = libretranslate::parse_explain(*request.fields, server_.models, limits),
        .explanation = is_numbers ? ExplanationUse::Program : ExplanationUse::Page,
        .answer = [is_numbers](const TranslateParameters&, const std::vector<TextAnswer>& answers) {
          const std::string& json = answers.front().texts.front();
          return is_numbers ? HttpResponse{.body = json} : page_of(json);
        }};
  }

  HttpResponse health() const {
    for (const auto& model : server_.models.loaded())
      if (model->service().failure())
        return json_response(
            503,
            Json{{"status", join_text("an engine of ", model->languages().name(), " has failed")}});
    return json_response(200, Json{{"status", "ok"}});
  }

  HttpResponse metrics() const {
    const auto& glossaries = server_.config.glossaries;
    return {.body = server_.metrics.text(server_.models, glossaries ? glossaries->damaged() : 0),
            .type = "text/plain; version=0.0.4; charset=utf-8"};
  }

  HttpResponse version() const {
    Json models = Json::array();
    for (const auto& model : server_.models.all()) {
      Json& facts = models.emplace_back(Json{{"source", model->languages().source},
                                             {"target", model->languages().target},
                                             {"loaded", model->is_loaded()}});
      if (!model->is_loaded()) continue;
      facts["updates"] = model->facts().updates;
      facts["checksum"] = model->facts().checksum;
    }
    return json_response(200, Json{{"version", server_.config.version}, {"models", models}});
  }
};

}  // namespace

std::unique_ptr<Interface> own_interface(const ServerParts& server) {
  return std::make_unique<OwnInterface>(server);
}

}  // namespace dragoman
