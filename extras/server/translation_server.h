// Answers requests. It knows the paths and methods, the clients that may ask, and their limits.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "extras/server/access.h"
#include "extras/server/glossaries.h"
#include "extras/server/http.h"
#include "extras/server/metrics.h"
#include "extras/server/pending_translations.h"
#include "extras/server/request_texts.h"
#include "extras/server/served_models.h"
#include "extras/server/translated_files.h"
#include "extras/server/web_page.h"
#include "extras/server/work_queue.h"

namespace dragoman {

struct ServerConfig {
  RequestLimits limits = {};
  std::int64_t requests_per_minute = -1;  ///< of each client; below 0: any number
  std::chrono::milliseconds request_timeout{60'000};
  std::vector<std::string> cors_origins = {};  ///< "*": any
  /// The client is the last address of X-Forwarded-For, which the proxy in front has written.
  bool is_behind_proxy = false;
  std::string version = {};
  std::shared_ptr<ApiKeys> api_keys = nullptr;        ///< null: everybody may ask
  std::shared_ptr<AppendFile> suggestions = nullptr;  ///< null: none are taken
  std::shared_ptr<Glossaries> glossaries = nullptr;   ///< null: none are kept
};

class TranslationServer {
 public:
  static constexpr std::size_t kMostExplanations = 8;  ///< that wait; more are refused

  /// Called for each request when it is answered, from any thread. If it throws, that is ignored.
  using OnAnswer = std::function<void(const AnsweredRequest&)>;

  /// At least one model.
  TranslationServer(const ServedModels& models, ServerConfig config, OnAnswer on_answer);
  TranslationServer(const TranslationServer&) = delete;
  TranslationServer& operator=(const TranslationServer&) = delete;
  /// Stops the queues first: what their jobs tell uses all members.
  ~TranslationServer();

  /// An HttpHandler. The thread of PendingTranslations answers requests with parameters, later. All
  /// others are answered before this returns. Each request is answered once. If memory runs out,
  /// the answer is 500 without a body. If this throws, there was no memory for the request itself,
  /// and nobody answers it.
  void handle(HttpRequest request, std::stop_token gone, HttpReply reply);

  /// An HttpRefusal. The refused request is counted and reported like those that are handled.
  HttpResponse refuse(HttpRequest head, const HttpError& why);

 private:
  struct Call;
  struct Interface;
  struct Endpoint;
  using CallPointer = std::shared_ptr<Call>;

  static const Interface kLibreTranslate, kDeepL, kFiles, kPage, kExplanation;
  static const std::vector<Endpoint>& endpoints();
  static const Interface& interface_of(const std::string& path);

  HttpResponse languages(Call&);
  HttpResponse frontend_settings(Call&);
  HttpResponse health(Call&);
  HttpResponse metrics(Call&);
  HttpResponse version(Call&);
  HttpResponse openapi(Call&);
  HttpResponse detect(Call& call);
  HttpResponse suggest(Call& call);
  HttpResponse deepl_languages(Call& call);
  HttpResponse deepl_usage(Call& call);
  HttpResponse add_glossary(Call& call);
  HttpResponse list_glossaries(Call& call);
  HttpResponse get_glossary(Call& call);
  HttpResponse delete_glossary(Call& call);
  HttpResponse glossary_languages(Call& call);
  HttpResponse document(Call& call);
  HttpResponse download_file(Call& call);
  HttpResponse page(Call& call);
  HttpResponse page_part(Call& call);

  HttpResponse file_answer(const Call& call);
  HttpResponse page_answer(const Call& call);
  HttpResponse page_error(const Call& call, const HttpError& error);
  HttpResponse explanation_error(const Call& call, const HttpError& error);
  WebPageFacts page_facts() const;
  Glossaries& glossaries() const;
  std::string owner_of(const Call& call) const;
  GlossaryPointer find_glossary(const Call& call, const std::string& id) const;
  void use_glossary(Call& call) const;

  void describe(Call& call) const;
  void begin(const CallPointer& call);
  void answer(const CallPointer& call, const Endpoint& endpoint) noexcept;
  void translate(const CallPointer& call);
  void begin_translation(const CallPointer& call, const std::shared_ptr<TextsToTranslate>& task);
  void translated(const CallPointer& call, TranslationOutcome outcome) noexcept;
  void explain(const CallPointer& call);
  void begin_explanation(const CallPointer& call, const std::shared_ptr<TextsToTranslate>& task);
  void admit(Call& call);
  void charge(Call& call);
  void read_markup(Call& call, TextsToTranslate& task);
  void choose_routes(Call& call, TextsToTranslate& task);
  bool loads_model(const CallPointer& call, const TextsToTranslate& task,
                   std::function<void()> go_on);
  void finish(Call& call, HttpResponse response) noexcept;
  void fail(Call& call, const std::exception& error) noexcept;
  HttpResponse error_response(const Call& call, const HttpError& error);
  void allow_origin(const HttpRequest& request, HttpResponse& response) const;

  const ServedModels& models_;
  const ServerConfig config_;
  const OnAnswer on_answer_;
  RequestRate rate_;
  Metrics metrics_;
  TranslatedFiles files_;
  WorkQueue long_texts_, loading_, explaining_{kMostExplanations};
  PendingTranslations pending_{long_texts_};  // last: its thread uses all above
};

/// The differences between the interfaces.
struct TranslationServer::Interface {
  TranslateParameters (*parse_translate)(const RequestFields&, const ServedModels&,
                                         const RequestLimits&);
  HttpResponse (*translate_answer)(TranslationServer&, const Call&);
  HttpResponse (*error_answer)(TranslationServer&, const Call&, const HttpError&);
  std::string (*key_of)(const HttpRequest&, const RequestFields&);
  /// What is said of a text whose markup cannot be read.
  std::string (*markup_fault)(const TranslateParameters&);
  int missing_key, used_up, too_large;  ///< status codes
};

/// A request that is being answered.
struct TranslationServer::Call {
  HttpRequest request;
  std::stop_token gone;
  HttpReply reply;
  const Interface* interface;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  std::string endpoint_path = "other";  ///< for the metrics
  AnsweredRequest facts = {};
  std::optional<RequestFields> fields = {};
  std::optional<ApiKeys::Key> key = {};
  std::optional<ApiKeys::Taken> taken = {};
  TranslateParameters translate = {};
  std::vector<TextAnswer> answers = {};
  bool wants_numbers = false;  ///< of an explanation, instead of the page
};

/// A path of the server.
struct TranslationServer::Endpoint {
  const char* method;
  std::string_view path;                              ///< "/a/": all paths that begin so
  HttpResponse (TranslationServer::*respond)(Call&);  ///< null: answered later
  bool needs_fields = false;                          ///< Call::fields
  const Interface* interface = nullptr;               ///< null: interface_of(path)
  /// Begins work whose answer comes later.
  void (TranslationServer::*begin)(const CallPointer&) = &TranslationServer::translate;

  bool serves(std::string_view requested) const {
    const bool is_folder = path.size() > 1 && path.ends_with('/');
    return is_folder ? requested.starts_with(path) && requested.size() > path.size()
                     : requested == path;
  }
};

}  // namespace dragoman
