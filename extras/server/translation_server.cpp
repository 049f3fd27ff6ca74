#include "extras/server/translation_server.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "extras/server/languages.h"

namespace dragoman {

using Clock = std::chrono::steady_clock;

namespace {

std::string client_of(const HttpRequest& request, bool is_behind_proxy) {
  if (!is_behind_proxy) return request.client;
  std::string_view last = request.header("x-forwarded-for");
  last = last.substr(last.find_last_of(", ") + 1);  // npos + 1 is 0
  return last.empty() ? request.client : std::string(last);
}

std::string method_of(const HttpRequest& request) {
  return request.method == "HEAD" ? "GET" : request.method;
}

/// The path, for the log. Whoever knows the whole address of a translated file may fetch it.
std::string logged_path(const std::string& path) {
  constexpr std::string_view kFolder = "/download_file/";
  constexpr std::size_t kShown = kFolder.size() + 8;
  return path.starts_with(kFolder) && path.size() > kShown ? path.substr(0, kShown) + "..." : path;
}

/// A text without its markup.
std::string plain_text_of(const TextToTranslate& text) {
  if (!text.document) return text.text;
  std::string plain;
  for (const Passage& passage : text.document->passages) plain += passage.text + "\n";
  return plain;
}

std::int64_t characters_of(const TextToTranslate& text) {
  return text.document ? static_cast<std::int64_t>(count_characters_of(*text.document))
                       : count_characters(text.text);
}

/// "en-de", "de-en-fr"; "*-de" if the texts are in several languages.
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

TranslationServer::~TranslationServer() {
  for (WorkQueue* queue : {&long_texts_, &loading_, &explaining_}) queue->stop();
}

void TranslationServer::handle(HttpRequest request, std::stop_token gone, HttpReply reply) {
  const auto call = std::make_shared<Call>(Call{.request = std::move(request),
                                                .gone = std::move(gone),
                                                .reply = std::move(reply),
                                                .interface = &kLibreTranslate});
  metrics_.begin();
  try {
    begin(call);
  } catch (const std::exception& error) {
    fail(*call, error);
  }
}

HttpResponse TranslationServer::refuse(HttpRequest head, const HttpError& why) {
  HttpResponse response;
  Call call{.request = std::move(head),
            .gone = {},
            .reply = [&response](HttpResponse made) { response = std::move(made); },
            .interface = &kLibreTranslate};
  metrics_.begin();
  try {
    describe(call);
    fail(call, why);
  } catch (const std::exception& error) {
    fail(call, error);
  }
  return response;
}

/// Notes in the call who asks, for what path and by which interface.
void TranslationServer::describe(Call& call) const {
  const HttpRequest& received = call.request;
  call.interface = &interface_of(received.path);
  call.facts = {.client = client_of(received, config_.is_behind_proxy),
                .method = received.method,
                .path = logged_path(received.path)};
  for (const Endpoint& endpoint : endpoints()) {
    if (!endpoint.serves(received.path)) continue;
    call.endpoint_path = endpoint.path;
    if (endpoint.interface != nullptr) call.interface = endpoint.interface;
    if (endpoint.method == method_of(received)) return;
  }
}

void TranslationServer::begin(const CallPointer& call) {
  describe(*call);
  const HttpRequest& received = call->request;
  const std::string method = method_of(received);
  std::string allowed;
  for (const Endpoint& endpoint : endpoints()) {
    if (!endpoint.serves(received.path)) continue;
    allowed.append(allowed.empty() ? "" : ", ").append(endpoint.method);
    if (method != endpoint.method) continue;
    if (endpoint.needs_fields)
      pending_.post([this, call, &endpoint] { answer(call, endpoint); });
    else
      answer(call, endpoint);
    return;
  }
  if (allowed.empty()) throw HttpError(404, join_text("there is no ", received.path));
  if (method == "OPTIONS" && !config_.cors_origins.empty())
    return finish(*call, {.status = 204, .type = "", .headers = {{"Allow", allowed}}});
  HttpResponse response =
      error_response(*call, {405, join_text(received.path, " takes ", allowed, ", not ", method)});
  response.headers.emplace_back("Allow", allowed);
  finish(*call, std::move(response));
}

void TranslationServer::answer(const CallPointer& call, const Endpoint& endpoint) noexcept {
  try {
    if (call->gone.stop_requested()) throw HttpError(kClientGone, "the client is gone");
    if (endpoint.needs_fields) {
      call->fields.emplace(call->request);
      call->request.body = std::string();  // its memory: the fields have it all
    }
    if (endpoint.respond == nullptr) return (this->*endpoint.begin)(call);
    finish(*call, (this->*endpoint.respond)(*call));
  } catch (const std::exception& error) {
    fail(*call, error);
  }
}

HttpResponse TranslationServer::error_response(const Call& call, const HttpError& error) {
  HttpResponse response = call.interface->error_answer(*this, call, error);
  if (error.retry_after() > 0)
    response.headers.emplace_back("Retry-After", std::to_string(error.retry_after()));
  if (error.status() == 415) response.headers.emplace_back("Accept-Encoding", "identity");
  return response;
}

void TranslationServer::fail(Call& call, const std::exception& error) noexcept {
  HttpResponse response{.status = 500, .type = ""};  // takes no memory
  try {
    const auto* known = dynamic_cast<const HttpError*>(&error);
    if (known == nullptr || known->status() == 500) call.facts.fault = error.what();
    if (const auto* fault = dynamic_cast<const ServerFault*>(&error))
      call.facts.fault = fault->cause();
    call.facts.refused = known != nullptr && known->status() == 503;
    response = error_response(
        call,
        known != nullptr ? *known : HttpError(500, "the server has a fault; its log says which"));
  } catch (const std::exception&) {
  }
  finish(call, std::move(response));
}

/// Whatever fails in it, the client gets an answer, and counts are given back.
void TranslationServer::finish(Call& call, HttpResponse response) noexcept {
  try {
    allow_origin(call.request, response);
  } catch (const std::exception&) {
    response = {.status = 500, .type = ""};
  }
  AnsweredRequest& facts = call.facts;
  facts.status = response.status;
  facts.seconds = std::chrono::duration<double>(Clock::now() - call.begin).count();
  if (facts.status >= 400) {
    facts.characters = facts.texts = facts.target_tokens = 0;
    if (call.taken) config_.api_keys->give_back(*call.taken);
  }
  metrics_.end(facts, call.endpoint_path);
  try {
    on_answer_(facts);
  } catch (const std::exception&) {
  }
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
  headers.emplace_back("Access-Control-Allow-Methods", "GET, POST, DELETE");
  headers.emplace_back("Access-Control-Max-Age", "86400");
}

/// Throws HttpError if the client may not ask, or asks too often.
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

/// Texts with markup are read before anything is counted. A catalogue may have a text for several
/// translations, and so more text than bytes.
void TranslationServer::read_markup(Call& call, TextsToTranslate& task) {
  const TranslateParameters& parameters = call.translate;
  const std::int64_t most = config_.limits.characters;
  std::int64_t characters = 0;
  for (const std::string& text : parameters.texts) {
    TextToTranslate& source = task.texts.emplace_back(TextToTranslate{.text = text, .route = {}});
    if (parameters.markup == MarkupFormat::None) continue;
    try {
      source.document = std::make_shared<const MarkupDocument>(
          parse_document(parameters.markup, text, parameters.markup_options));
    } catch (const Error& error) {
      throw HttpError(400, join_text(call.interface->markup_fault(parameters), ": ", error.what()));
    }
    characters += characters_of(source);
    if (most >= 0 && characters > most)
      throw HttpError(
          call.interface->too_large,
          join_text("Invalid request: the documents have more than ", most, " characters of text"));
  }
}

/// Finds each text's language, if it has to be detected, and its way to the target.
void TranslationServer::choose_routes(Call& call, TextsToTranslate& task) {
  const TranslateParameters& parameters = call.translate;
  std::vector<std::string> sources = models_.sources_of(parameters.target);
  // The first is taken for a text that gives no hint: it should be translated.
  std::ranges::stable_partition(
      sources, [&](const std::string& source) { return source != parameters.target; });
  call.answers.clear();
  DetectedLanguage source{.language = parameters.source, .confidence = 100};
  if (parameters.source.empty() && !parameters.detects_each) {
    std::string all;
    for (const TextToTranslate& text : task.texts) all += plain_text_of(text) + "\n";
    source = detect_language(all, sources);
  }
  for (TextToTranslate& text : task.texts) {
    const std::string plain = plain_text_of(text);
    if (parameters.source.empty() && parameters.detects_each)
      source = detect_language(plain, sources);
    const auto route = models_.route({source.language, parameters.target});
    if (!route) throw HttpError(400, source.language + " is not supported");
    TextAnswer& answer = call.answers.emplace_back(TextAnswer{.source = source.language,
                                                              .confidence = source.confidence,
                                                              .characters = characters_of(text)});
    if (route->size() == 2) answer.pivot = route->front()->languages().target;
    if (route->size() == 2 && parameters.demands)
      throw HttpError(
          400, join_text("there is no model from ", source.language, " to ", parameters.target,
                         ": terms need one that translates without a language between"));
    text.route = *route;
  }
}

/// Counts the characters of the texts, whose languages are known. finish() gives them back if
/// the request fails.
void TranslationServer::charge(Call& call) {
  AnsweredRequest& facts = call.facts;
  facts.languages = languages_of(call.answers, call.translate.target);
  std::int64_t characters = 0;
  for (const TextAnswer& answer : call.answers) characters += answer.characters;
  if (call.key) {
    call.taken = config_.api_keys->take(*call.key, characters);
    if (!call.taken)
      throw HttpError(call.interface->used_up,
                      "Quota exceeded: the characters of this month are used up");
  }
  facts.characters = characters;
  facts.texts = static_cast<std::int64_t>(call.answers.size());
}

/// True if a text needs a model that is not loaded: `go_on` is called on the thread of
/// PendingTranslations when one more is loaded.
bool TranslationServer::loads_model(const CallPointer& call, const TextsToTranslate& task,
                                    std::function<void()> go_on) {
  for (const TextToTranslate& text : task.texts)
    for (const auto& model : text.route) {
      if (model->is_loaded()) continue;
      loading_.post([this, call, model, go_on = std::move(go_on)](const std::stop_token& stopping) {
        try {
          if (stopping.stop_requested()) throw HttpError(503, "the server is stopping", 1);
          model->load();
          pending_.post([this, call, go_on] {
            try {
              go_on();
            } catch (const std::exception& error) {
              fail(*call, error);
            }
          });
        } catch (const std::exception& error) {
          fail(*call, error);
        }
      });
      return true;
    }
  return false;
}

void TranslationServer::translate(const CallPointer& call) {
  admit(*call);
  call->translate = call->interface->parse_translate(*call->fields, models_, config_.limits);
  if (!call->translate.glossary.empty()) use_glossary(*call);
  if (call->interface != &kPage) call->fields.reset();  // the page shows them again
  const auto task = std::make_shared<TextsToTranslate>(TextsToTranslate{
      .texts = {},
      .alternatives = call->translate.alternatives,
      .split = call->translate.split,
      .line_breaks = call->translate.line_breaks,
      .demands = call->translate.demands,
      .reports_words = call->translate.shows_alignment || call->translate.shows_word_scores,
      .reports_attention = call->translate.shows_alignment,
      .stop = call->gone,
      .deadline = call->begin + config_.request_timeout});
  read_markup(*call, *task);
  begin_translation(call, task);
}

void TranslationServer::begin_translation(const CallPointer& call,
                                          const std::shared_ptr<TextsToTranslate>& task) {
  choose_routes(*call, *task);
  if (loads_model(call, *task, [this, call, task] { begin_translation(call, task); })) return;
  charge(*call);
  pending_.start(std::move(*task), [this, call](TranslationOutcome outcome) {
    translated(call, std::move(outcome));
  });
}

void TranslationServer::translated(const CallPointer& call, TranslationOutcome outcome) noexcept {
  if (const auto* error = std::get_if<HttpError>(&outcome)) return fail(*call, *error);
  auto& texts = std::get<TranslatedTexts>(outcome);
  call->facts.target_tokens = texts.target_tokens;
  for (std::size_t t = 0; t < call->answers.size(); ++t) {
    call->answers[t].texts = std::move(texts.texts[t]);
    if (!texts.words.empty()) call->answers[t].words = std::move(texts.words[t]);
  }
  try {
    finish(*call, call->interface->translate_answer(*this, *call));
  } catch (const std::exception& error) {
    fail(*call, error);
  }
}

}  // namespace dragoman
