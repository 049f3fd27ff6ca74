// Our own interface: the page for people, explanations of translations, and facts for those who run
// the server.

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "extras/report/translation_pages.h"
#include "extras/server/access.h"
#include "extras/server/interface.h"
#include "extras/server/languages.h"
#include "extras/server/libretranslate.h"
#include "extras/server/web_page.h"

namespace dragoman {

namespace {

using Json = nlohmann::ordered_json;

/// The page may run its own script and save figures. It counts as a page of nowhere (sandbox), so
/// it can ask this server for nothing.
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

/// Whether a program asks, by `format`, or without it by the header Accept.
bool asks_for_numbers(const HttpRequest& request, const std::string& format) {
  if (!format.empty()) return format == "json";
  const std::string accepted = ascii_lower(request.header("accept"));
  return accepted.find("application/json") != std::string::npos &&
         accepted.find("text/html") == std::string::npos;
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

/// Whether the answer to POST /explain is numbers instead of a page.
bool wants_numbers(const ServerRequest& request) {
  return asks_for_numbers(request.http, request.fields ? read_form(*request.fields).format
                                                       : format_of_broken(request.http));
}

class OwnInterface : public Interface {
 public:
  explicit OwnInterface(const ServerParts& server) : server_(server) {}

  std::vector<Endpoint> endpoints() override {
    using enum Access;
    using Request = ServerRequest;
    const auto description = [](Request&) {
      return HttpResponse{.body = std::string(served_file("openapi.json"))};
    };
    return {
        {"GET", "/", Free, [this](Request&) { return page({}); }},
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
  HttpResponse page(const WebPageForm& form, int status = 200) const {
    return web_page(form, server_.models,
                    {.version = server_.config.version,
                     .has_api_keys = server_.config.api_keys != nullptr,
                     .explained_characters = server_.config.limits.explained_characters},
                    status);
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

  const ServerParts server_;
};

}  // namespace

std::unique_ptr<Interface> own_interface(const ServerParts& server) {
  return std::make_unique<OwnInterface>(server);
}

}  // namespace dragoman
