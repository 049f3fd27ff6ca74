#include "extras/server/translation_server.h"

#include <algorithm>
#include <utility>

#include "base/compressed_text.h"
#include "base/error.h"
#include "data/languages.h"

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

std::size_t bytes_of_markup(const TranslateParameters& parameters) {
  std::size_t bytes = 0;
  if (parameters.markup != MarkupFormat::None)
    for (const std::string& text : parameters.texts) bytes += text.size();
  return bytes;
}

/// Texts with markup are read before anything is counted. A catalogue may have a text for several
/// translations, and so more text than bytes.
std::vector<TextToTranslate> read_markup(const WantedTexts& wanted, std::int64_t most_characters,
                                         int too_large) {
  const TranslateParameters& parameters = wanted.parameters;
  std::vector<TextToTranslate> texts;
  std::int64_t characters = 0;
  for (const std::string& text : parameters.texts) {
    TextToTranslate& source = texts.emplace_back(TextToTranslate{.text = text, .route = {}});
    if (parameters.markup == MarkupFormat::None) continue;
    try {
      source.document = std::make_shared<const MarkupDocument>(
          parse_document(parameters.markup, text, parameters.markup_options));
    } catch (const Error& error) {
      throw HttpError(400, join_text(wanted.markup_fault, ": ", error.what()));
    }
    characters += characters_of(source);
    if (most_characters >= 0 && characters > most_characters)
      throw HttpError(too_large, join_text("Invalid request: the documents have more than ",
                                           most_characters, " characters of text"));
  }
  return texts;
}

/// Finds each text's language, if it has to be detected, and its route to the target.
std::vector<TextAnswer> choose_routes(const ServedModels& models,
                                      const TranslateParameters& parameters,
                                      std::vector<TextToTranslate>& texts) {
  std::vector<std::string> sources = models.sources_of(parameters.target);
  // The first is taken for a text that gives no hint: it should be translated.
  std::ranges::stable_partition(
      sources, [&](const std::string& source) { return source != parameters.target; });
  std::vector<TextAnswer> answers;
  DetectedLanguage source{.language = parameters.source, .confidence = 100};
  if (parameters.source.empty() && !parameters.detects_each) {
    std::string all;
    for (const TextToTranslate& text : texts) all += plain_text_of(text) + "\n";
    source = detect_language(all, sources);
  }
  for (TextToTranslate& text : texts) {
    if (parameters.source.empty() && parameters.detects_each)
      source = detect_language(plain_text_of(text), sources);
    const auto route = models.route({source.language, parameters.target});
    if (!route) throw HttpError(400, source.language + " is not supported");
    TextAnswer& answer = answers.emplace_back(TextAnswer{.source = source.language,
                                                         .confidence = source.confidence,
                                                         .characters = characters_of(text)});
    if (route->size() == 2) answer.pivot = route->front()->languages().target;
    if (route->size() == 2 && parameters.demands)
      throw HttpError(
          400, join_text("there is no model from ", source.language, " to ", parameters.target,
                         ": terms need one that translates without a language between"));
    text.route = *route;
  }
  return answers;
}

void check_explained(const TextToTranslate& text, const TranslateParameters& parameters,
                     const std::string& source) {
  if (parameters.source.empty() && source == parameters.target)
    throw HttpError(400, join_text("the text seems to be in ", source,
                                   " already, the language to translate into; if it is not, name "
                                   "its language instead of auto"));
  if (text.route.size() != 1 || !text.route.front()->explain())
    throw HttpError(400, join_text("there is no model from ", source, " to ", parameters.target,
                                   " that can be explained"));
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

/// Decompresses a body that has come in gzip.
void unpack(HttpRequest& http, std::int64_t most_bytes) {
  const std::string encoding = ascii_lower(http.header("content-encoding"));
  if (http.body.empty() || (encoding != "gzip" && encoding != "x-gzip")) return;
  std::string unpacked;
  const auto take = [&unpacked, most_bytes](std::string_view part) {
    unpacked += part;
    if (static_cast<std::int64_t>(unpacked.size()) > most_bytes)
      throw HttpError(413, join_text("the unpacked body has more than ", size_text(most_bytes)));
  };
  try {
    const auto decompressor = make_decompressor(TextCoding::Gzip, "the body");
    decompressor->add(http.body, take);
    decompressor->finish();
  } catch (const Error& error) {
    throw HttpError(400, join_text("Invalid request: ", error.what()));
  }
  http.body = std::move(unpacked);
  http.headers.erase("content-encoding");
}

HttpResponse error_response(const Interface& interface, const ServerRequest& request,
                            const HttpError& error) {
  HttpResponse response = interface.error_answer(request, error);
  if (error.retry_after() > 0)
    response.headers.emplace_back("Retry-After", std::to_string(error.retry_after()));
  if (error.status() == 415 && !request.http.header("content-encoding").empty())
    response.headers.emplace_back("Accept-Encoding", "gzip, identity");
  return response;
}

void allow_origin(const std::vector<std::string>& origins, const HttpRequest& request,
                  HttpResponse& response) {
  if (origins.empty()) return;
  const bool is_any = std::ranges::find(origins, "*") != origins.end();
  const std::string origin(request.header("origin"));
  auto& headers = response.headers;
  if (!is_any) headers.emplace_back("Vary", "Origin");
  if (!is_any && std::ranges::find(origins, origin) == origins.end()) return;
  headers.emplace_back("Access-Control-Allow-Origin", is_any ? "*" : origin);
  headers.emplace_back("Access-Control-Allow-Headers",
                       "Authorization, Content-Encoding, Content-Type, X-Api-Key, X-Goog-Api-Key");
  headers.emplace_back("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE");
  headers.emplace_back("Access-Control-Max-Age", "86400");
}

}  // namespace

struct TranslationServer::Pending : ServerRequest {
  std::stop_token gone = {};
  HttpReply reply = {};
  Interface* interface = nullptr;
  const Endpoint* endpoint = nullptr;   ///< null: the path or the method has none
  std::string endpoint_path = "other";  ///< for the metrics
  std::string methods = {};             ///< that the path takes
  Clock::time_point begin = Clock::now();
  AnsweredRequest facts = {};
  std::optional<ApiKeys::Taken> taken = {};
  WantedTexts wanted = {};
  std::vector<TextToTranslate> texts = {};
  std::vector<TextAnswer> answers = {};
};

TranslationServer::TranslationServer(const ServedModels& models, ServerConfig config,
                                     OnAnswer on_answer)
    : models_(models),
      config_(std::move(config)),
      on_answer_(std::move(on_answer)),
      rate_(config_.requests_per_minute),
      interfaces_(interfaces_of({models_, config_, metrics_})) {
  for (const auto& interface : interfaces_)
    for (Endpoint& endpoint : interface->endpoints())
      endpoints_.push_back({interface.get(), std::move(endpoint)});
}

TranslationServer::~TranslationServer() {
  for (WorkQueue* queue : {&long_texts_, &loading_, &explaining_}) queue->stop();
}

void TranslationServer::handle(HttpRequest http, std::stop_token gone, HttpReply reply) {
  const auto request = std::make_shared<Pending>();
  request->http = std::move(http);
  request->gone = std::move(gone);
  request->reply = std::move(reply);
  request->interface = interfaces_.front().get();
  metrics_.begin();
  attempt(*request, [&] { begin(request); });
}

HttpResponse TranslationServer::refuse(HttpRequest head, const HttpError& why) {
  HttpResponse response;
  Pending request;
  request.http = std::move(head);
  request.reply = [&response](HttpResponse made) { response = std::move(made); };
  request.interface = interfaces_.front().get();
  metrics_.begin();
  attempt(request, [&] {
    describe(request);
    fail(request, why);
  });
  return response;
}

// ---- from a request to its answer ---------------------------------------------------------------

/// Does the work. If it throws, the request is answered by the error.
template <class Work>
void TranslationServer::attempt(Pending& request, const Work& work) noexcept {
  try {
    work();
  } catch (const std::exception& error) {
    fail(request, error);
  }
}

/// Takes the next step on the thread of PendingTranslations.
void TranslationServer::post(const PendingPointer& request, Step step) {
  pending_.post([this, request, step] { attempt(*request, [&] { (this->*step)(request); }); });
}

/// Notes who asks, for what path and by which interface.
void TranslationServer::describe(Pending& request) const {
  HttpRequest& http = request.http;
  // A client whose server address ends in a slash sends "//translate".
  while (http.path.starts_with("//")) http.path.erase(0, 1);
  request.facts = {.client = client_of(http, config_.is_behind_proxy),
                   .method = http.method,
                   .path = logged_path(http.path)};
  for (const auto& interface : interfaces_)
    if (interface->claims(http.path)) request.interface = interface.get();
  for (const auto& [interface, endpoint] : endpoints_) {
    if (!endpoint.serves(http.path)) continue;
    request.interface = interface;
    request.endpoint_path = endpoint.path;
    request.rest = http.path.substr(endpoint.path.size());
    request.methods.append(request.methods.empty() ? "" : ", ").append(endpoint.method);
    if (endpoint.method == method_of(http)) request.endpoint = &endpoint;
  }
}

/// A web page may have a name that its owner's name server says is this machine ("DNS rebinding").
/// To the browser, page and server are then the same; only the name in Host tells them apart.
void TranslationServer::check_host(const HttpRequest& http) const {
  const std::string_view host = http.header("host");
  if (host.empty()) return;  // no browser
  const std::string name = host_name_of(host);
  if (name.empty()) throw HttpError(400, "the Host is neither a name nor an address");
  if (!config_.hosts || is_loopback_name(name)) return;
  if (std::ranges::find(*config_.hosts, name) != config_.hosts->end()) return;
  throw HttpError(403, join_text("this server is not known as ", name, "; --public-url (for a ",
                                 "proxy in front) or --allowed-hosts gives it the name"));
}

/// Browsers let a page send a form anywhere without asking; it only cannot read the answer.
void TranslationServer::check_origin(const HttpRequest& http) const {
  const std::string origin(http.header("origin"));
  const std::string_view site = http.header("sec-fetch-site");  // a page cannot write it
  const auto& origins = config_.cors_origins;
  if (std::ranges::find(origins, "*") != origins.end() ||
      std::ranges::find(origins, origin) != origins.end())
    return;
  if (site == "same-origin" || site == "none") return;
  const std::string page = ascii_lower(host_of_url(origin));
  const bool is_own =
      page == ascii_lower(http.header("host")) || page == host_of_url(config_.public_url);
  if (site.empty() && (origin.empty() || (is_own && !page.empty()))) return;
  throw HttpError(403,
                  "a web page of another origin may change nothing here; --cors-origins "
                  "names those that may");
}

void TranslationServer::begin(const PendingPointer& request) {
  describe(*request);
  check_host(request->http);
  const std::string& path = request->http.path;
  if (request->endpoint != nullptr) {
    if (request->endpoint->access == Access::Free) return answer(request);
    if (request->endpoint->access == Access::Changing) check_origin(request->http);
    return post(request, &TranslationServer::answer);
  }
  if (request->methods.empty()) throw HttpError(404, join_text("there is no ", path));
  const std::string method = method_of(request->http);
  if (method == "OPTIONS" && !config_.cors_origins.empty())
    return finish(*request, {.status = 204, .type = "", .headers = {{"Allow", request->methods}}});
  HttpResponse response =
      error_response(*request->interface, *request,
                     {405, join_text(path, " takes ", request->methods, ", not ", method)});
  response.headers.emplace_back("Allow", request->methods);
  finish(*request, std::move(response));
}

void TranslationServer::answer(const PendingPointer& request) {
  if (request->gone.stop_requested()) throw HttpError(kClientGone, "the client is gone");
  if (request->endpoint->access != Access::Free) {
    unpack(request->http, config_.limits.body_bytes);
    request->fields.emplace(request->http);
    request->http.body = std::string();  // its memory: the fields have it all
    admit(*request);
  }
  Answer answer = request->endpoint->answer(*request);
  if (auto* response = std::get_if<HttpResponse>(&answer))
    return finish(*request, std::move(*response));
  request->wanted = std::get<WantedTexts>(std::move(answer));
  read_texts(request);
}

/// Throws HttpError if the client may not ask, or asks too often.
void TranslationServer::admit(Pending& request) {
  const std::string key = request.interface->key_of(request);
  if (config_.api_keys && !key.empty()) request.key = config_.api_keys->find(key);
  const std::string client = request.key ? join_text("key ", *request.key) : request.facts.client;
  if (const std::int64_t wait = rate_.count(client, Clock::now()); wait > 0)
    throw HttpError(429, join_text("Slowdown: ", config_.requests_per_minute, " per 1 minute"),
                    wait);
  if (!config_.api_keys || request.key) return;
  if (!key.empty()) throw HttpError(403, "Invalid API key");
  throw HttpError(request.interface->refusal_codes().missing_key,
                  "Please contact the server operator to get an API key");
}

void TranslationServer::fail(Pending& request, const std::exception& error) noexcept {
  HttpResponse response{.status = 500, .type = ""};  // takes no memory
  try {
    const auto* known = dynamic_cast<const HttpError*>(&error);
    if (known == nullptr || known->status() == 500) request.facts.fault = error.what();
    if (const auto* fault = dynamic_cast<const ServerFault*>(&error))
      request.facts.fault = fault->cause();
    request.facts.refused = known != nullptr && known->status() == 503;
    response = error_response(
        *request.interface, request,
        known != nullptr ? *known : HttpError(500, "the server has a fault; its log says which"));
  } catch (const std::exception&) {
  }
  finish(request, std::move(response));
}

/// Whatever fails in it, the client gets an answer, and counts are given back.
void TranslationServer::finish(Pending& request, HttpResponse response) noexcept {
  try {
    allow_origin(config_.cors_origins, request.http, response);
  } catch (const std::exception&) {
    response = {.status = 500, .type = ""};
  }
  AnsweredRequest& facts = request.facts;
  facts.status = response.status;
  facts.seconds = std::chrono::duration<double>(Clock::now() - request.begin).count();
  if (facts.status >= 400) {
    facts.characters = facts.texts = facts.target_tokens = 0;
    if (request.taken) config_.api_keys->give_back(*request.taken);
  }
  metrics_.end(facts, request.endpoint_path);
  try {
    on_answer_(facts);
  } catch (const std::exception&) {
  }
  request.reply(std::move(response));
}

// ---- texts to translate or to explain -----------------------------------------------------------

/// A large document is read by a job, so that other requests do not wait for it.
void TranslationServer::read_texts(const PendingPointer& request) {
  const auto read = [this, request] {
    request->texts = read_markup(request->wanted, config_.limits.characters,
                                 request->interface->refusal_codes().too_large);
  };
  if (bytes_of_markup(request->wanted.parameters) <= kLittleText) {
    read();
    return send_texts(request);
  }
  long_texts_.post([this, request, read](const std::stop_token& stopping) {
    attempt(*request, [&] {
      check_time(*request, stopping);
      read();
      post(request, &TranslationServer::send_texts);
    });
  });
}

/// Called again when a model has been loaded.
void TranslationServer::send_texts(const PendingPointer& request) {
  const TranslateParameters& parameters = request->wanted.parameters;
  request->answers = choose_routes(models_, parameters, request->texts);
  if (loads_model(request)) return;
  if (!request->wanted.explanation) return translate(request);
  check_explained(request->texts.front(), parameters, request->answers.front().source);
  explain(request);
}

/// True if a text needs a model that is not loaded.
bool TranslationServer::loads_model(const PendingPointer& request) {
  for (const TextToTranslate& text : request->texts)
    for (const auto& model : text.route) {
      if (model->is_loaded()) continue;
      loading_.post([this, request, model](const std::stop_token& stopping) {
        attempt(*request, [&] {
          if (stopping.stop_requested()) throw HttpError(503, "the server is stopping", 1);
          model->load();
          post(request, &TranslationServer::send_texts);
        });
      });
      return true;
    }
  return false;
}

/// Counts the characters of the texts, whose languages are known. finish() gives them back if
/// the request fails.
void TranslationServer::charge(Pending& request) {
  AnsweredRequest& facts = request.facts;
  facts.languages = languages_of(request.answers, request.wanted.parameters.target);
  std::int64_t characters = 0;
  for (const TextAnswer& answer : request.answers) characters += answer.characters;
  if (request.key) {
    request.taken = config_.api_keys->take(*request.key, characters);
    if (!request.taken)
      throw HttpError(request.interface->refusal_codes().used_up,
                      "Quota exceeded: the characters of this month are used up");
  }
  facts.characters = characters;
  facts.texts = static_cast<std::int64_t>(request.answers.size());
}

/// From now on no client waits for the translation.
void TranslationServer::give_receipt(Pending& request) const {
  if (!request.wanted.receipt) return;
  HttpResponse receipt = request.wanted.receipt();
  allow_origin(config_.cors_origins, request.http, receipt);
  request.gone = {};
  std::exchange(request.reply, std::move(request.wanted.later))(std::move(receipt));
}

void TranslationServer::translate(const PendingPointer& request) {
  charge(*request);
  give_receipt(*request);
  const TranslateParameters& parameters = request->wanted.parameters;
  TextsToTranslate task{.texts = std::move(request->texts),
                        .alternatives = parameters.alternatives,
                        .split = parameters.split,
                        .line_breaks = parameters.line_breaks,
                        .demands = parameters.demands,
                        .reports_words = parameters.shows_alignment || parameters.shows_word_scores,
                        .reports_attention = parameters.shows_alignment,
                        .stop = request->gone,
                        .deadline = request->begin + config_.request_timeout};
  pending_.start(std::move(task), [this, request](TranslationOutcome outcome) {
    attempt(*request, [&] {
      if (const auto* error = std::get_if<HttpError>(&outcome)) return fail(*request, *error);
      auto& [texts, target_tokens, words] = std::get<TranslatedTexts>(outcome);
      request->facts.target_tokens = target_tokens;
      for (std::size_t t = 0; t < request->answers.size(); ++t) {
        request->answers[t].texts = std::move(texts[t]);
        if (!words.empty()) request->answers[t].words = std::move(words[t]);
      }
      finish(*request, request->wanted.answer(request->wanted.parameters, request->answers));
    });
  });
}

void TranslationServer::explain(const PendingPointer& request) {
  charge(*request);
  const auto explain = [this, request](const std::stop_token& stopping) {
    attempt(*request, [&] {
      auto [json, target_tokens] =
          explanation_of(request->texts.front(), *request->wanted.explanation,
                         [&] { check_time(*request, stopping); });
      request->facts.target_tokens = target_tokens;
      request->answers.front().texts = {std::move(json)};
      finish(*request, request->wanted.answer(request->wanted.parameters, request->answers));
    });
  };
  if (!explaining_.post(explain, request->gone))
    throw HttpError(503, "too many explanations wait already; try again later", 1);
}

/// Throws HttpError if a job of the request is no longer wanted.
void TranslationServer::check_time(const Pending& request, const std::stop_token& stopping) const {
  if (stopping.stop_requested()) throw HttpError(503, "the server is stopping", 1);
  if (request.gone.stop_requested()) throw HttpError(kClientGone, "the client is gone");
  if (Clock::now() >= request.begin + config_.request_timeout)
    throw HttpError(504,
                    join_text("the ", request.wanted.explanation ? "explanation" : "translation",
                              " takes too long; send less text at once"));
}

}  // namespace dragoman
