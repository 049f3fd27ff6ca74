#include "server/translation_server.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/error.h"
#include "server/deepl.h"
#include "server/language_detector.h"
#include "server/libretranslate.h"
#include "server/request_fields.h"
#include "server/served_file.h"

namespace dragoman {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

/// What differs between the two interfaces.
struct TranslationServer::Interface {
  TranslateCall (*parse_translate)(const RequestFields&, const ServedModels&, const RequestLimits&);
  HttpResponse (*translate_answer)(const TranslateCall&, const std::vector<TextAnswer>&);
  HttpResponse (*error_answer)(const HttpError&);
  std::string (*key_of)(const HttpRequest&, const RequestFields&);
  int missing_key, used_up;  ///< status codes
};

const TranslationServer::Interface TranslationServer::kLibreTranslate = {
    .parse_translate = libretranslate::parse_translate,
    .translate_answer = libretranslate::translate_answer,
    .error_answer = libretranslate::error_answer,
    .key_of = [](const HttpRequest&,
                 const RequestFields& fields) { return fields.text("api_key"); },
    .missing_key = 400,
    .used_up = 429};

const TranslationServer::Interface TranslationServer::kDeepL = {
    .parse_translate = deepl::parse_translate,
    .translate_answer = deepl::translate_answer,
    .error_answer = deepl::error_answer,
    .key_of = deepl::key_of,
    .missing_key = 403,
    .used_up = 456};

/// A request that is being answered.
struct TranslationServer::Call {
  HttpRequest request;
  std::stop_token gone;
  HttpReply reply;
  const Interface* interface;
  Clock::time_point begin = Clock::now();
  std::string route = "other";  ///< for the metrics
  AnsweredRequest facts = {};
  std::optional<RequestFields> fields = {};
  std::optional<ApiKeys::Key> key = {};
  TranslateCall translate = {};
  std::vector<TextAnswer> answers = {};
};

struct TranslationServer::Endpoint {
  const char* method;
  const char* path;
  HttpResponse (TranslationServer::*respond)(Call&);  ///< null: a translation
  bool has_body = false;
};

const std::vector<TranslationServer::Endpoint>& TranslationServer::endpoints() {
  using Server = TranslationServer;
  static const std::vector<Endpoint> all = {
      {"POST", "/translate", nullptr, true},
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
  };
  return all;
}

const TranslationServer::Interface& TranslationServer::interface_of(const std::string& path) {
  return path.starts_with("/v2/") ? kDeepL : kLibreTranslate;
}

namespace {

std::string client_of(const HttpRequest& request, bool is_behind_proxy) {
  if (!is_behind_proxy) return request.client;
  std::string_view last = request.header("x-forwarded-for");
  last = last.substr(last.find_last_of(", ") + 1);  // npos + 1 is 0
  return last.empty() ? request.client : std::string(last);
}

/// "en-de", "de-en-fr"; "*-de" where the texts are in several languages.
std::string languages_of(const std::vector<TextAnswer>& answers, const std::string& target) {
  const TextAnswer& first = answers.front();
  const bool is_mixed = std::ranges::any_of(
      answers, [&](const TextAnswer& answer) { return answer.source != first.source; });
  if (is_mixed) return join_text("*-", target);
  return join_text(first.source, first.pivot.empty() ? "" : "-", first.pivot, '-', target);
}

}  // namespace

TranslationServer::TranslationServer(const ServedModels& models, ServerConfig config,
                                     OnAnswer on_answer)
    : models_(models),
      config_(std::move(config)),
      on_answer_(std::move(on_answer)),
      rate_(config_.requests_per_minute) {}

void TranslationServer::handle(HttpRequest request, std::stop_token gone, HttpReply reply) {
  metrics_.begin();
  const auto call = std::make_shared<Call>(Call{.request = std::move(request),
                                                .gone = std::move(gone),
                                                .reply = std::move(reply),
                                                .interface = nullptr});
  const HttpRequest& asked = call->request;
  call->interface = &interface_of(asked.path);
  call->facts = {.client = client_of(asked, config_.is_behind_proxy),
                 .method = asked.method,
                 .path = asked.path};
  const std::string method = asked.method == "HEAD" ? "GET" : asked.method;
  std::string allowed;
  for (const Endpoint& endpoint : endpoints()) {
    if (asked.path != endpoint.path) continue;
    call->route = asked.path;
    allowed.append(allowed.empty() ? "" : ", ").append(endpoint.method);
    if (method != endpoint.method) continue;
    if (endpoint.has_body)
      pending_.post([this, call, &endpoint] { answer(call, endpoint); });
    else
      answer(call, endpoint);
    return;
  }
  if (allowed.empty()) return fail(*call, {404, join_text("there is no ", asked.path)});
  if (method == "OPTIONS" && !config_.cors_origins.empty())
    return finish(*call, {.status = 204, .type = "", .headers = {{"Allow", allowed}}});
  HttpResponse response = call->interface->error_answer(
      {405, join_text("the method of ", asked.path, " is ", allowed, ", not ", method)});
  response.headers.emplace_back("Allow", allowed);
  finish(*call, std::move(response));
}

void TranslationServer::answer(const CallPointer& call, const Endpoint& endpoint) {
  try {
    if (call->gone.stop_requested()) throw HttpError(kClientGone, "the client is gone");
    if (endpoint.has_body) call->fields.emplace(call->request);
    if (endpoint.respond == nullptr) return translate(call);
    finish(*call, (this->*endpoint.respond)(*call));
  } catch (const HttpError& error) {
    fail(*call, error);
  } catch (const std::exception& error) {
    fail(*call, {500, error.what()});
  }
}

void TranslationServer::fail(Call& call, const HttpError& error) {
  HttpResponse response = call.interface->error_answer(error);
  if (error.retry_after() > 0)
    response.headers.emplace_back("Retry-After", std::to_string(error.retry_after()));
  finish(call, std::move(response));
}

void TranslationServer::finish(Call& call, HttpResponse response) {
  call.facts.status = response.status;
  call.facts.seconds = std::chrono::duration<double>(Clock::now() - call.begin).count();
  metrics_.end(call.facts, call.route);
  on_answer_(call.facts);
  allow_origin(call.request, response);
  call.reply(std::move(response));
}

void TranslationServer::allow_origin(const HttpRequest& request, HttpResponse& response) const {
  const std::vector<std::string>& origins = config_.cors_origins;
  if (origins.empty()) return;
  const bool is_any = std::ranges::find(origins, "*") != origins.end();
  const std::string origin(request.header("origin"));
  auto& headers = response.headers;
  if (!is_any) headers.emplace_back("Vary", "Origin");
  if (!is_any && std::ranges::find(origins, origin) == origins.end()) return;
  headers.emplace_back("Access-Control-Allow-Origin", is_any ? "*" : origin);
  headers.emplace_back("Access-Control-Allow-Headers", "Authorization, Content-Type");
  headers.emplace_back("Access-Control-Allow-Methods", "GET, POST");
  headers.emplace_back("Access-Control-Max-Age", "86400");
}

/// Whether the client may ask, and not too often.
void TranslationServer::admit(Call& call) {
  const std::string key = call.interface->key_of(call.request, *call.fields);
  if (config_.api_keys && !key.empty()) call.key = config_.api_keys->find(key);
  const std::string client = call.key ? join_text("key ", *call.key) : call.facts.client;
  if (const std::int64_t wait = rate_.count(client, Clock::now()); wait > 0)
    throw HttpError(429, join_text("Slowdown: ", config_.requests_per_minute, " per 1 minute"),
                    wait);
  if (!config_.api_keys || call.key) return;
  if (!key.empty()) throw HttpError(403, "Invalid API key");
  throw HttpError(call.interface->missing_key,
                  "Please contact the server operator to get an API key");
}

/// A text's language, where it has to be detected, and its way to the target.
void TranslationServer::choose_routes(Call& call, TextsToTranslate& asked) {
  const TranslateCall& wanted = call.translate;
  const std::vector<std::string> sources = models_.sources_of(wanted.target);
  DetectedLanguage source{.language = wanted.source, .confidence = 100};
  if (wanted.source.empty() && !wanted.detects_each) {
    std::string all;
    for (const std::string& text : wanted.texts) all += text + "\n";
    source = detect_language(all, sources);
  }
  for (const std::string& text : wanted.texts) {
    if (wanted.source.empty() && wanted.detects_each) source = detect_language(text, sources);
    const auto route = models_.route({source.language, wanted.target});
    if (!route) throw HttpError(400, source.language + " is not supported");
    TextAnswer& answer =
        call.answers.emplace_back(TextAnswer{.source = source.language,
                                             .confidence = source.confidence,
                                             .characters = count_characters(text)});
    if (route->size() == 2) answer.pivot = route->front()->languages().target;
    asked.texts.push_back({.text = text, .route = *route});
  }
}

void TranslationServer::translate(const CallPointer& call) {
  admit(*call);
  call->translate = call->interface->parse_translate(*call->fields, models_, config_.limits);
  call->fields.reset();
  TextsToTranslate asked{.texts = {},
                         .alternatives = call->translate.alternatives,
                         .split = call->translate.split,
                         .line_breaks = call->translate.line_breaks,
                         .stop = call->gone,
                         .deadline = call->begin + config_.request_timeout};
  choose_routes(*call, asked);
  AnsweredRequest& facts = call->facts;
  facts.texts = static_cast<std::int64_t>(call->answers.size());
  facts.languages = languages_of(call->answers, call->translate.target);
  std::int64_t characters = 0;
  for (const TextAnswer& answer : call->answers) characters += answer.characters;
  if (call->key && !config_.api_keys->take(*call->key, characters))
    throw HttpError(call->interface->used_up,
                    "Quota exceeded: the characters of this month are used up");
  facts.characters = characters;
  pending_.start(std::move(asked), [this, call](TranslationOutcome outcome) {
    translated(call, std::move(outcome));
  });
}

void TranslationServer::translated(const CallPointer& call, TranslationOutcome outcome) {
  AnsweredRequest& facts = call->facts;
  if (const auto* error = std::get_if<HttpError>(&outcome)) {
    if (call->key) config_.api_keys->give_back(*call->key, facts.characters);
    facts.characters = facts.texts = 0;
    return fail(*call, *error);
  }
  auto& texts = std::get<TranslatedTexts>(outcome);
  facts.target_tokens = texts.target_tokens;
  for (std::size_t t = 0; t < call->answers.size(); ++t)
    call->answers[t].texts = std::move(texts.texts[t]);
  finish(*call, call->interface->translate_answer(call->translate, call->answers));
}

HttpResponse TranslationServer::languages(Call&) { return libretranslate::languages(models_); }

HttpResponse TranslationServer::frontend_settings(Call&) {
  return libretranslate::frontend_settings(models_,
                                           {.character_limit = config_.limits.characters,
                                            .timeout = config_.request_timeout.count(),
                                            .has_api_keys = config_.api_keys != nullptr,
                                            .takes_suggestions = config_.suggestions != nullptr});
}

HttpResponse TranslationServer::health(Call&) {
  for (const auto& model : models_.all())
    if (model->service().failure())
      return json_response(
          503,
          Json{{"status", join_text("an engine of ", model->languages().name(), " has failed")}});
  return json_response(200, Json{{"status", "ok"}});
}

HttpResponse TranslationServer::metrics(Call&) {
  return {.body = metrics_.text(models_), .type = "text/plain; version=0.0.4; charset=utf-8"};
}

HttpResponse TranslationServer::version(Call&) {
  Json models = Json::array();
  for (const auto& model : models_.all())
    models.push_back({{"source", model->languages().source},
                      {"target", model->languages().target},
                      {"updates", model->facts().updates},
                      {"checksum", model->facts().checksum}});
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
  const std::string line = libretranslate::parse_suggestion(*call.fields, config_.limits);
  if (!config_.suggestions->append(line)) throw HttpError(500, "the suggestion could not be kept");
  return json_response(200, Json{{"success", true}});
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

}  // namespace dragoman
