// Answers requests: finds their interfaces, admits their clients, translates, and counts.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "extras/server/interface.h"
#include "extras/server/pending_translations.h"
#include "extras/server/work_queue.h"

namespace dragoman {

class TranslationServer {
 public:
  static constexpr std::size_t kMostExplanations = 8;  ///< that wait; more are refused

  /// Called for each request when it is answered, from any thread. If it throws, that is ignored.
  using OnAnswer = std::function<void(const AnsweredRequest&)>;

  /// At least one model.
  TranslationServer(const ServedModels& models, ServerConfig config, OnAnswer on_answer);
  TranslationServer(const TranslationServer&) = delete;
  TranslationServer& operator=(const TranslationServer&) = delete;
  /// Stops the queues first: the answers of their jobs use all members.
  ~TranslationServer();

  /// An HttpHandler. The thread of PendingTranslations answers requests with parameters, later. All
  /// others are answered before this returns. Each request is answered once. If memory runs out,
  /// the answer is 500 without a body. If this throws, there was no memory for the request itself,
  /// and nobody answers it.
  void handle(HttpRequest request, std::stop_token gone, HttpReply reply);

  /// An HttpRefusal. The refused request is counted and reported like those that are handled.
  HttpResponse refuse(HttpRequest head, const HttpError& why);

 private:
  struct Pending;
  using PendingPointer = std::shared_ptr<Pending>;
  using Step = void (TranslationServer::*)(const PendingPointer& request);
  struct ServedEndpoint {
    Interface* interface;
    Endpoint endpoint;
  };

  void describe(Pending& request) const;
  void check_host(const HttpRequest& http) const;
  void check_origin(const HttpRequest& http) const;
  void begin(const PendingPointer& request);
  void answer(const PendingPointer& request);
  void admit(Pending& request);
  void post(const PendingPointer& request, Step step);
  void read_texts(const PendingPointer& request);
  void send_texts(const PendingPointer& request);
  bool loads_model(const PendingPointer& request);
  void charge(Pending& request);
  void give_receipt(Pending& request) const;
  void translate(const PendingPointer& request);
  void explain(const PendingPointer& request);
  void check_time(const Pending& request, const std::stop_token& stopping) const;

  template <class Work>
  void attempt(Pending& request, const Work& work) noexcept;
  void fail(Pending& request, const std::exception& error) noexcept;
  void finish(Pending& request, HttpResponse response) noexcept;

  const ServedModels& models_;
  const ServerConfig config_;
  const OnAnswer on_answer_;
  RequestRate rate_;
  Metrics metrics_;
  const std::vector<std::unique_ptr<Interface>> interfaces_;
  std::vector<ServedEndpoint> endpoints_;
  WorkQueue long_texts_, loading_, explaining_{kMostExplanations};
  PendingTranslations pending_{long_texts_};  // last: its thread uses all above
};

}  // namespace dragoman
