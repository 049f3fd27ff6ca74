// The paths of the server, and the answers that are no translations.

#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "extras/report/translation_pages.h"
#include "extras/server/access.h"
#include "extras/server/deepl.h"
#include "extras/server/http.h"
#include "extras/server/languages.h"
#include "extras/server/libretranslate.h"
#include "extras/server/translated_files.h"
#include "extras/server/translation_server.h"
#include "extras/server/web_page.h"

namespace dragoman {

using Json = nlohmann::ordered_json;

const TranslationServer::Interface TranslationServer::kLibreTranslate = {
    .parse_translate = libretranslate::parse_translate,
    .translate_answer =
        [](TranslationServer&, const Call& call) {
          return libretranslate::translate_answer(call.translate, call.answers);
        },
    .error_answer = [](TranslationServer&, const Call&,
                       const HttpError& error) { return libretranslate::error_answer(error); },
    .key_of = [](const HttpRequest&,
                 const RequestFields& fields) { return fields.text("api_key"); },
    .markup_fault =
        [](const TranslateParameters&) { return std::string("Invalid request: q parameter"); },
    .missing_key = 400,
    .used_up = 429,
    .too_large = 400};

const TranslationServer::Interface TranslationServer::kDeepL = {
    .parse_translate = deepl::parse_translate,
    .translate_answer =
        [](TranslationServer&, const Call& call) {
          return deepl::translate_answer(call.translate, call.answers);
        },
    .error_answer = [](TranslationServer&, const Call&,
                       const HttpError& error) { return deepl::error_answer(error); },
    .key_of = deepl::key_of,
    .markup_fault =
        [](const TranslateParameters&) {
          return std::string("Tag handling parsing failed, please check input");
        },
    .missing_key = 403,
    .used_up = 456,
    .too_large = 413};

const TranslationServer::Interface TranslationServer::kFiles = {
    .parse_translate = libretranslate::parse_translate_file,
    .translate_answer = [](TranslationServer& server,
                           const Call& call) { return server.file_answer(call); },
    .error_answer = kLibreTranslate.error_answer,
    .key_of = kLibreTranslate.key_of,
    .markup_fault =
        [](const TranslateParameters& parameters) {
          return join_text("Invalid request: the file '", parameters.file_name, '\'');
        },
    .missing_key = 400,
    .used_up = 429,
    .too_large = 400};

const TranslationServer::Interface TranslationServer::kPage = {
    .parse_translate = libretranslate::parse_translate,
    .translate_answer = [](TranslationServer& server,
                           const Call& call) { return server.page_answer(call); },
    .error_answer = [](TranslationServer& server, const Call& call,
                       const HttpError& error) { return server.page_error(call, error); },
    .key_of = kLibreTranslate.key_of,
    .markup_fault = kLibreTranslate.markup_fault,
    .missing_key = 400,
    .used_up = 429,
    .too_large = 400};

const TranslationServer::Interface TranslationServer::kExplanation = {
    .parse_translate = libretranslate::parse_explain,
    .translate_answer = nullptr,  // the answer is no translation
    .error_answer = [](TranslationServer& server, const Call& call,
                       const HttpError& error) { return server.explanation_error(call, error); },
    .key_of = kLibreTranslate.key_of,
    .markup_fault = kLibreTranslate.markup_fault,
    .missing_key = 400,
    .used_up = 429,
    .too_large = 400};

const std::vector<TranslationServer::Endpoint>& TranslationServer::endpoints() {
  using Server = TranslationServer;
  static const std::vector<Endpoint> all = {
      {"GET", "/", &Server::page},
      {"POST", "/", nullptr, true, &kPage},
      {"GET", "/page/", &Server::page_part},
      {"POST", "/explain", nullptr, true, &kExplanation, &Server::explain},
      {"POST", "/translate", nullptr, true},
      {"POST", "/translate_file", nullptr, true, &kFiles},
      {"GET", "/download_file/", &Server::download_file},
      {"POST", "/detect", &Server::detect, true},
      {"POST", "/suggest", &Server::suggest, true},
      {"GET", "/languages", &Server::languages},
      {"GET", "/frontend/settings", &Server::frontend_settings},
      {"GET", "/health", &Server::health},
      {"GET", "/metrics", &Server::metrics},
      {"GET", "/version", &Server::version},
      {"GET", "/openapi.json", &Server::openapi},
      {"GET", "/spec", &Server::openapi},
      {"POST", "/v2/translate", nullptr, true},
      {"GET", "/v2/languages", &Server::deepl_languages, true},
      {"POST", "/v2/languages", &Server::deepl_languages, true},
      {"GET", "/v2/usage", &Server::deepl_usage, true},
      {"POST", "/v2/usage", &Server::deepl_usage, true},
      {"POST", "/v2/glossaries", &Server::add_glossary, true},
      {"GET", "/v2/glossaries", &Server::list_glossaries, true},
      {"GET", "/v2/glossaries/", &Server::get_glossary, true},
      {"DELETE", "/v2/glossaries/", &Server::delete_glossary, true},
      {"GET", "/v2/glossary-language-pairs", &Server::glossary_languages, true},
      {"POST", "/v2/document", &Server::document},
      {"POST", "/v2/document/", &Server::document},
  };
  return all;
}

const TranslationServer::Interface& TranslationServer::interface_of(const std::string& path) {
  // DeepL's clients also ask for paths of other versions, which this server does not have.
  const bool is_deepl =
      path.starts_with("/v1/") || path.starts_with("/v2/") || path.starts_with("/v3/");
  return is_deepl ? kDeepL : kLibreTranslate;
}

HttpResponse TranslationServer::languages(Call&) { return libretranslate::languages(models_); }

HttpResponse TranslationServer::frontend_settings(Call&) {
  return libretranslate::frontend_settings(models_,
                                           {.character_limit = config_.limits.characters,
                                            .has_api_keys = config_.api_keys != nullptr,
                                            .takes_suggestions = config_.suggestions != nullptr});
}

HttpResponse TranslationServer::health(Call&) {
  for (const auto& model : models_.loaded())
    if (model->service().failure())
      return json_response(
          503,
          Json{{"status", join_text("an engine of ", model->languages().name(), " has failed")}});
  return json_response(200, Json{{"status", "ok"}});
}

HttpResponse TranslationServer::metrics(Call&) {
  const std::int64_t damaged = config_.glossaries ? config_.glossaries->damaged() : 0;
  return {.body = metrics_.text(models_, damaged),
          .type = "text/plain; version=0.0.4; charset=utf-8"};
}

HttpResponse TranslationServer::version(Call&) {
  Json models = Json::array();
  for (const auto& model : models_.all()) {
    Json& facts = models.emplace_back(Json{{"source", model->languages().source},
                                           {"target", model->languages().target},
                                           {"loaded", model->is_loaded()}});
    if (!model->is_loaded()) continue;
    facts["updates"] = model->facts().updates;
    facts["checksum"] = model->facts().checksum;
  }
  return json_response(200, Json{{"version", config_.version}, {"models", models}});
}

HttpResponse TranslationServer::openapi(Call&) {
  return {.body = std::string(served_file("openapi.json"))};
}

HttpResponse TranslationServer::detect(Call& call) {
  admit(call);
  const std::string text = libretranslate::parse_detect(*call.fields, config_.limits);
  return libretranslate::detect_answer(detect_language(text, models_.languages()));
}

HttpResponse TranslationServer::suggest(Call& call) {
  if (!config_.suggestions) throw HttpError(403, "Suggestions are disabled on this server.");
  admit(call);
  const std::string line = libretranslate::parse_suggestion(*call.fields, models_, config_.limits);
  try {
    if (!config_.suggestions->append(line))
      throw HttpError(500, "the suggestion could not be kept");
  } catch (const FileLocked&) {
    throw HttpError(503, "the file of suggestions is in use; try again later", 1);
  }
  return json_response(200, Json{{"success", true}});
}

HttpResponse TranslationServer::download_file(Call& call) {
  const std::string name = call.request.path.substr(call.endpoint_path.size());
  std::optional<TranslatedFile> file = files_.find(name, std::chrono::steady_clock::now());
  if (!file) throw HttpError(404, "there is no such file, or no longer");
  return {
      .body = std::move(file->text),
      .type = media_type_of(file->name),
      .headers = {{"Content-Disposition", join_text("attachment; filename=\"", file->name, '"')},
                  {"X-Content-Type-Options", "nosniff"},
                  {"Cache-Control", "private, no-store"}}};
}

HttpResponse TranslationServer::file_answer(const Call& call) {
  const std::string name =
      files_.keep({.name = libretranslate::translated_file_name(call.translate),
                   .text = call.translate.file_mark + call.answers.front().texts.front()},
                  std::chrono::steady_clock::now());
  return libretranslate::file_answer(call.request, name, call.answers.front().pivot);
}

WebPageFacts TranslationServer::page_facts() const {
  return {.version = config_.version,
          .has_api_keys = config_.api_keys != nullptr,
          .explained_characters = config_.limits.explained_characters};
}

HttpResponse TranslationServer::page(Call&) { return web_page({}, models_, page_facts()); }

HttpResponse TranslationServer::page_part(Call& call) {
  return web_page_part(std::string_view(call.request.path).substr(call.endpoint_path.size()));
}

HttpResponse TranslationServer::page_answer(const Call& call) {
  WebPageForm form = read_form(*call.fields);
  const TextAnswer& answer = call.answers.front();
  form.result = answer.texts.front();
  if (call.translate.source.empty()) form.status = "Detected: " + language_name(answer.source);
  if (!answer.pivot.empty())
    form.status.append(form.status.empty() ? "" : ", ")
        .append("by way of " + language_name(answer.pivot));
  return web_page(form, models_, page_facts());
}

HttpResponse TranslationServer::page_error(const Call& call, const HttpError& error) {
  WebPageForm form = call.fields ? read_form(*call.fields) : WebPageForm();
  form.error = error.what();
  return web_page(form, models_, page_facts(), error.status());
}

HttpResponse TranslationServer::deepl_languages(Call& call) {
  admit(call);
  return deepl::languages(*call.fields, models_);
}

HttpResponse TranslationServer::deepl_usage(Call& call) {
  admit(call);
  return deepl::usage(call.key ? config_.api_keys->use_of(*call.key)
                               : ApiKeys::Use{.characters = metrics_.characters(), .limit = {}});
}

Glossaries& TranslationServer::glossaries() const {
  if (!config_.glossaries)
    throw HttpError(400, "This server keeps no glossaries: it was started without --glossaries.");
  return *config_.glossaries;
}

std::string TranslationServer::owner_of(const Call& call) const {
  return call.key ? config_.api_keys->owner_of(*call.key) : "";
}

GlossaryPointer TranslationServer::find_glossary(const Call& call, const std::string& id) const {
  try {
    if (GlossaryPointer found = glossaries().find(id, owner_of(call))) return found;
  } catch (const Error& error) {
    throw ServerFault("the glossary cannot be read; the server's log says why", error.what());
  }
  throw HttpError(404, "Glossary not found");
}

void TranslationServer::use_glossary(Call& call) const {
  TranslateParameters& parameters = call.translate;
  const GlossaryPointer found = find_glossary(call, parameters.glossary);
  const LanguagePair& languages = found->facts.languages;
  if (deepl::languages_of(languages) != deepl::languages_of({parameters.source, parameters.target}))
    throw HttpError(400, join_text("The glossary is for ", languages.name(), ", not ",
                                   parameters.source, '-', parameters.target, '.'));
  parameters.demands = found->demands;
}

HttpResponse TranslationServer::add_glossary(Call& call) {
  admit(call);
  Glossary glossary = deepl::parse_glossary(*call.fields, models_);
  glossary.facts.owner = owner_of(call);
  const auto added = glossaries().add(std::move(glossary));
  if (!added)
    throw HttpError(456, join_text("No more than ", Glossaries::kMost, " glossaries, and ",
                                   Glossaries::kMostBytes >> 20, " MiB of them."));
  return deepl::glossary_answer(*added, 201);
}

HttpResponse TranslationServer::list_glossaries(Call& call) {
  admit(call);
  return deepl::glossary_list(glossaries().all(owner_of(call)));
}

/// A glossary, or its entries.
HttpResponse TranslationServer::get_glossary(Call& call) {
  constexpr std::string_view kEntries = "/entries";
  admit(call);
  std::string id = call.request.path.substr(call.endpoint_path.size());
  const bool is_entries = id.ends_with(kEntries);
  if (is_entries) id.resize(id.size() - kEntries.size());
  const GlossaryPointer found = find_glossary(call, id);
  return is_entries ? deepl::glossary_entries(*found) : deepl::glossary_answer(found->facts, 200);
}

HttpResponse TranslationServer::delete_glossary(Call& call) {
  admit(call);
  if (!glossaries().remove(call.request.path.substr(call.endpoint_path.size()), owner_of(call)))
    throw HttpError(404, "Glossary not found");
  return {.status = 204, .type = ""};
}

HttpResponse TranslationServer::document(Call&) {
  throw HttpError(404,
                  "This server translates no documents by DeepL's interface. POST /translate_file "
                  "translates files.");
}

HttpResponse TranslationServer::glossary_languages(Call& call) {
  admit(call);
  return deepl::glossary_languages(models_);
}

// ---- explanations -------------------------------------------------------------------------------
// POST /explain answers what a model does with a text, as the page of `dragoman explain` or as its
// numbers.

namespace {

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

/// Calls `check` first and often; what it throws ends the work.
TextExplanation explanation_of(const TextToTranslate& text, ExplanationUse use,
                               const std::function<void()>& check) {
  try {
    check();
    return text.route.front()->explain()(text.text, use, check);
  } catch (const HttpError&) {
    throw;
  } catch (const std::exception& other) {
    throw HttpError(500, join_text("Cannot explain text: ", other.what()));
  }
}

/// Whether a program asks, by `format`, or without it by the header Accept.
bool wants_numbers(const HttpRequest& request, const std::string& format) {
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

}  // namespace

HttpResponse TranslationServer::explanation_error(const Call& call, const HttpError& error) {
  const bool is_for_program = call.fields
                                  ? call.wants_numbers
                                  : wants_numbers(call.request, format_of_broken(call.request));
  return is_for_program ? libretranslate::error_answer(error) : page_error(call, error);
}

void TranslationServer::explain(const CallPointer& call) {
  const std::string format = call->fields->text("format");
  call->wants_numbers = wants_numbers(call->request, format);
  if (!format.empty() && format != "html" && format != "json")
    throw HttpError(400, format + " format is not supported");
  if (config_.limits.explained_characters == 0)
    throw HttpError(403, "Explanations are disabled on this server.");
  admit(*call);
  call->translate = call->interface->parse_translate(*call->fields, models_, config_.limits);
  const auto task = std::make_shared<TextsToTranslate>();
  read_markup(*call, *task);
  begin_explanation(call, task);
}

void TranslationServer::begin_explanation(const CallPointer& call,
                                          const std::shared_ptr<TextsToTranslate>& task) {
  choose_routes(*call, *task);
  const std::string source = call->answers.front().source;
  if (call->translate.source.empty() && source == call->translate.target)
    throw HttpError(400, join_text("the text seems to be in ", source,
                                   " already, the language to translate into; if it is not, name "
                                   "its language instead of auto"));
  if (loads_model(call, *task, [this, call, task] { begin_explanation(call, task); })) return;
  const TextToTranslate& text = task->texts.front();
  if (text.route.size() != 1 || !text.route.front()->explain())
    throw HttpError(400, join_text("there is no model from ", source, " to ",
                                   call->translate.target, " that can be explained"));
  charge(*call);
  const auto explain = [this, call, task](const std::stop_token& stopping) {
    try {
      const auto check = [&] {
        if (stopping.stop_requested()) throw HttpError(503, "the server is stopping", 1);
        if (call->gone.stop_requested()) throw HttpError(kClientGone, "the client is gone");
        if (std::chrono::steady_clock::now() >= call->begin + config_.request_timeout)
          throw HttpError(504, "the explanation takes too long; send less text at once");
      };
      auto [json, target_tokens] = explanation_of(
          task->texts.front(), call->wants_numbers ? ExplanationUse::Program : ExplanationUse::Page,
          check);
      call->facts.target_tokens = target_tokens;
      finish(*call, call->wants_numbers ? HttpResponse{.body = std::move(json)} : page_of(json));
    } catch (const std::exception& error) {
      fail(*call, error);
    }
  };
  if (!explaining_.post(explain, call->gone))
    throw HttpError(503, "too many explanations wait already; try again later", 1);
}

}  // namespace dragoman
