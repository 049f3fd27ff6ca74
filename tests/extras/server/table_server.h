// A server without a socket: its models translate each sentence into itself, and may be held still.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "extras/server/translation_server.h"
#include "tests/inference/copying_model.h"

namespace dragoman {

/// Steps only while the gate is open.
class Gate {
 public:
  void open(bool is_open) {
    const std::lock_guard lock(mutex_);
    is_open_ = is_open;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = true;
};

class GatedEngine : public CopyingEngine {
 public:
  explicit GatedEngine(Gate& gate) : gate_(gate) {}
  void step(const StepRequest& step) override {
    gate_.pass();
    if (fails) throw std::runtime_error("the table is broken");
    CopyingEngine::step(step);
    slots = static_cast<std::int64_t>(slots_in_use());
  }
  void release(std::span<const std::int32_t> released) override {
    CopyingEngine::release(released);
    slots = static_cast<std::int64_t>(slots_in_use());
  }
  std::atomic<std::int64_t> slots = 0;
  std::atomic<bool> fails = false;

 private:
  Gate& gate_;
};

class TableServer {
 public:
  /// The language pairs' names: "en-de".
  explicit TableServer(const std::vector<std::string>& pairs, ServerConfig config = {},
                       std::int64_t waiting = 65'536, std::int64_t cache_bytes = 0)
      : cache_bytes_(cache_bytes) {
    for (const std::string& pair : pairs) add(pair, waiting);
    server = std::make_unique<TranslationServer>(models, std::move(config),
                                                 [this](const AnsweredRequest& request) {
                                                   const std::lock_guard lock(mutex_);
                                                   answered_.push_back(request);
                                                 });
  }
  ~TableServer() { gate.open(true); }

  /// `several_sentences`: the fraction of the model's training pairs that have several.
  void add(const std::string& pair, std::int64_t waiting = 65'536, ExplainText explain = nullptr,
           double several_sentences = 0) {
    engines.push_back(std::make_unique<GatedEngine>(gate));
    models.set(std::make_shared<ServedModel>(
        parse_language_pair(pair).value(),
        std::make_shared<TranslationService>(
            std::vector<Engine*>{engines.back().get()}, tokenizer_pair(),
            ServiceConfig{.limits = {.waiting = waiting, .order = QueueOrder::Turns},
                          .record = {.several_sentences = several_sentences},
                          .cache_bytes = cache_bytes_}),
        decode, ServedModel::Facts{.checksum = "c0ffee", .updates = 7}, std::move(explain)));
  }

  std::future<HttpResponse> send(HttpRequest request, std::stop_token gone = {}) {
    auto response = std::make_shared<std::promise<HttpResponse>>();
    if (request.client.empty()) request.client = "192.0.2.1";
    server->handle(std::move(request), std::move(gone),
                   [response](HttpResponse answer) { response->set_value(std::move(answer)); });
    return response->get_future();
  }
  HttpResponse ask(HttpRequest request) { return send(std::move(request)).get(); }

  HttpResponse post(const std::string& path, const nlohmann::json& body) {
    return ask(request_of(path, body));
  }
  HttpResponse get(const std::string& path) { return ask({.method = "GET", .path = path}); }

  static HttpRequest request_of(const std::string& path, const nlohmann::json& body) {
    return {.method = "POST",
            .path = path,
            .headers = {{"content-type", "application/json"}},
            .body = json_text(body)};
  }

  std::vector<AnsweredRequest> answered() {
    const std::lock_guard lock(mutex_);
    return answered_;
  }

  DecodeConfig decode{.beam_size = 2};  ///< of models that are added from now on
  Gate gate;
  std::vector<std::unique_ptr<GatedEngine>> engines;
  ServedModels models;

 private:
  const std::int64_t cache_bytes_;
  std::mutex mutex_;
  std::vector<AnsweredRequest> answered_;

 public:
  std::unique_ptr<TranslationServer> server;  // last: it uses all above
};

inline nlohmann::json json_of(const HttpResponse& response) { return parse_json(response.body); }

/// The header's value; empty if there is none.
inline std::string header_of(const HttpResponse& response, const std::string& name) {
  for (const auto& [known, value] : response.headers)
    if (known == name) return value;
  return {};
}

}  // namespace dragoman
