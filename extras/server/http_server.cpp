#include "extras/server/http_server.h"

#include <microhttpd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/mutex.h"
#include "base/utf8.h"
#include "extras/server/connections.h"
#include "extras/server/http.h"

namespace dragoman {

namespace {

/// Memory of the library for a connection: for the head of a request and that of its answer.
constexpr std::size_t kConnectionBytes = kMostHeadBytes + 8'192;
constexpr std::int64_t kHeaderRecord = 64;     // bytes that a header takes in it beside its text
constexpr std::int64_t kBodiesAtOnce = 64;     // bodies of the largest size that fit into memory
constexpr std::int64_t kDiscardedBodies = 16;  // so many times the limit of a body is read

/// A request and the way back to its connection.
struct Exchange {
  Exchange(MHD_Connection* of, std::uint64_t number)
      : connection(of),
        descriptor(MHD_get_connection_info(of, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd),
        id(number) {}

  MHD_Connection* const connection;
  const int descriptor;
  const std::uint64_t id;
  RequestHead head = {};
  HttpRequest request = {};
  bool begun = false;
  std::int64_t kept = 0, discarded = 0;   // bytes of the body
  std::optional<HttpError> refused = {};  // the handler does not get it
  bool is_malformed = false;              // its connection ends with the answer
  bool handed_over = false;               // to the handler
  std::stop_source gone = {};
  Mutex mutex = {};
  std::optional<HttpResponse> response GUARDED_BY(mutex) = {};
  bool suspended GUARDED_BY(mutex) = false;
  bool replied GUARDED_BY(mutex) = false;
};

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Libmicrohttpd below 1.0 joins a second line of a header to the header's name.
bool joins_folded_headers() { return std::string_view(MHD_get_version()).starts_with("0."); }

/// Whether a line that begins with a blank continues this header (RFC 9112, section 5.2).
///   in the library's memory   Name: value\r\n second\r\n
///   no second line            Name\0 value\0\0Next: ...
///   a second line             Name\0 value\0\0 second..., and mostly "Name second" elsewhere
/// So the name stands elsewhere, or a blank stands after the value's line.
bool is_folded(std::string_view name, std::string_view value) {
  const char* const behind_name = name.data() + name.size() + 1;
  if (value.data() < behind_name || !std::all_of(behind_name, value.data(), is_blank)) return true;
  const char* next_line = value.data() + value.size() + 1;
  if (*next_line == 0) ++next_line;
  return is_blank(*next_line);
}

// NOLINTNEXTLINE(readability-function-size): the library decides the parameters
MHD_Result add_header(void* of, MHD_ValueKind, const char* name, std::size_t name_size,
                      const char* value, std::size_t value_size) {
  const std::string_view text(value, value_size);
  auto& [head, request] = *static_cast<std::pair<RequestHead&, HttpRequest&>*>(of);
  head.bytes += static_cast<std::int64_t>(name_size + value_size) + kHeaderRecord;
  static const bool may_be_joined = joins_folded_headers();
  head.has_folded_header =
      head.has_folded_header || (may_be_joined && is_folded({name, name_size}, text));
  const auto [header, is_new] = request.headers.emplace(ascii_lower({name, name_size}), text);
  if (!is_new) header->second.append(", ").append(text);
  return MHD_YES;
}

}  // namespace

class HttpServer::Connections {
 public:
  Connections(const HttpConfig& config, HttpHandler handler, HttpRefusal refusal)
      : config_(config),
        handler_(std::move(handler)),
        refusal_(std::move(refusal)),
        watcher_(config.timeout),
        listener_(listen_at(config.host, config.port)) {
    daemon_ = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, nullptr,
        nullptr, &Connections::on_data, this, MHD_OPTION_EXTERNAL_LOGGER, &Connections::on_message,
        nullptr, MHD_OPTION_LISTEN_SOCKET, listener_, MHD_OPTION_URI_LOG_CALLBACK,
        &Connections::on_target, this, MHD_OPTION_NOTIFY_COMPLETED, &Connections::on_completed,
        this, MHD_OPTION_NOTIFY_CONNECTION, &Connections::on_connection, this,
        MHD_OPTION_CONNECTION_LIMIT, static_cast<unsigned>(config.connections),
        MHD_OPTION_CONNECTION_TIMEOUT,
        static_cast<unsigned>(std::max<std::int64_t>(1, (config.timeout.count() + 999) / 1000)),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionBytes, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_END);
    if (daemon_ == nullptr) {
      close(listener_);
      throw Error("cannot serve at ", config.host, ", port ", config.port,
                  ": the HTTP library does not start; more open files (ulimit -n) or memory?");
    }
  }
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  ~Connections() {
    stop_listening();
    refuse_all();
    wait_until_answered(std::chrono::seconds(1));
    MHD_stop_daemon(daemon_);
    close(listener_);
  }

  int port() const { return port_of(listener_); }

  std::int64_t drain(std::chrono::milliseconds limit) {
    stop_listening();
    return wait_until_answered(limit);
  }

 private:
  static void on_message(void*, const char*, va_list) {}

  static void on_connection(void* self, MHD_Connection* connection, void**,
                            MHD_ConnectionNotificationCode code) {
    ConnectionWatcher& watcher = static_cast<Connections*>(self)->watcher_;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) return watcher.closed(connection);
    watcher.opened(
        connection,
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
  }

  /// A request begins; its headers are still to come. If the parameters of a query fill the
  /// library's memory, it sends no answer. So the library does not see them.
  static void* on_target(void* self, const char* target, MHD_Connection* connection) {
    try {
      auto& last_id = static_cast<Connections*>(self)->last_id_;
      auto exchange = std::make_unique<std::shared_ptr<Exchange>>(
          std::make_shared<Exchange>(connection, ++last_id));
      (*exchange)->head.target = target == nullptr ? "" : target;
      const std::string_view query = query_of((*exchange)->head.target);
      // The text is the library's, which itself would write into it.
      if (!query.empty())
        const_cast<char*>(target)[(*exchange)->head.target.size() - query.size()] = 0;
      return exchange.release();
    } catch (...) {
      return nullptr;  // no memory; on_data closes the connection
    }
  }

  // NOLINTNEXTLINE(readability-function-size): the library decides the parameters
  static MHD_Result on_data(void* self, MHD_Connection*, const char* url, const char* method,
                            const char* version, const char* data, std::size_t* size,
                            void** exchange) {
    auto& connections = *static_cast<Connections*>(self);
    if (*exchange == nullptr) return MHD_NO;
    try {
      auto& current = *static_cast<std::shared_ptr<Exchange>*>(*exchange);
      if (!std::exchange(current->begun, true)) {
        current->head.is_http_1_0 = std::string_view(version) == MHD_HTTP_VERSION_1_0;
        current->request.method = method;
        current->request.path = path_of(url);
        connections.begin(current);
        return connections.is_refused_unread(*current) ? connections.finish(current) : MHD_YES;
      }
      if (*size > 0) {
        const std::size_t taken = std::exchange(*size, 0);
        return connections.keep(*current, {data, taken}) ? MHD_YES : MHD_NO;
      }
      return connections.finish(current);
    } catch (...) {
      return MHD_NO;  // no memory; this closes the connection
    }
  }

  static void on_completed(void* self, MHD_Connection*, void** exchange,
                           MHD_RequestTerminationCode) {
    if (*exchange == nullptr) return;
    const std::unique_ptr<std::shared_ptr<Exchange>> ended(
        static_cast<std::shared_ptr<Exchange>*>(std::exchange(*exchange, nullptr)));
    static_cast<Connections*>(self)->end(**ended);
  }

  void begin(const std::shared_ptr<Exchange>& exchange) {
    MHD_Connection* const connection = exchange->connection;
    HttpRequest& request = exchange->request;
    const auto* client = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (client != nullptr) request.client = address_text(client->client_addr);
    exchange->head.bytes = static_cast<std::int64_t>(exchange->head.target.size());
    std::pair<RequestHead&, HttpRequest&> headers(exchange->head, request);
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, &add_header, &headers);
    exchange->refused = fault_of(exchange->head, request);
    exchange->is_malformed = exchange->refused.has_value();
    for (FormField& field : parse_urlencoded(query_of(exchange->head.target)))
      request.query.emplace_back(std::move(field.name), std::move(field.value));
    if (!exchange->refused &&
        body_size_of(request) > static_cast<std::uint64_t>(config_.body_limit))
      exchange->refused = too_large();
    watcher_.begin_phase(connection, false);  // the body has its own time
    const MutexLock lock(mutex_);
    exchanges_[exchange->id] = exchange;
  }

  /// Whether a request is answered before its body is read. A client that sends the body all the
  /// same finds its connection reset, and may not see the answer. So a body that is only somewhat
  /// too large is read first, unless the client waits for leave to send it.
  bool is_refused_unread(const Exchange& exchange) const {
    if (!exchange.refused || exchange.is_malformed) return exchange.is_malformed;
    const auto most = static_cast<std::uint64_t>(kDiscardedBodies * config_.body_limit);
    return body_size_of(exchange.request) > most || !exchange.request.header("expect").empty();
  }

  /// Keeps a part of the body, or discards it: nothing can be answered before the body has ended.
  /// False if that takes too long.
  bool keep(Exchange& exchange, std::string_view part) {
    const auto size = static_cast<std::int64_t>(part.size());
    std::string& body = exchange.request.body;
    if (static_cast<std::int64_t>(body.size()) + size > config_.body_limit)
      exchange.refused = too_large();
    else if (!exchange.refused && bodies_ + size > kBodiesAtOnce * config_.body_limit)
      exchange.refused = HttpError(503, "too many requests at once", 1);
    if (exchange.refused) {
      exchange.discarded += size;
      return exchange.discarded <= kDiscardedBodies * config_.body_limit;
    }
    body.append(part);
    exchange.kept += size;
    bodies_ += size;
    return true;
  }

  /// The body is whole, or the reply has come.
  MHD_Result finish(const std::shared_ptr<Exchange>& exchange) {
    if (!exchange->handed_over && !exchange->refused) hand_over(exchange);
    const MutexLock lock(exchange->mutex);
    if (exchange->refused && !exchange->response)
      exchange->response = refusal_(std::move(exchange->request), *exchange->refused);
    if (exchange->response) return respond(*exchange);
    if (exchange->suspended) return MHD_YES;
    exchange->suspended = true;
    watcher_.watch_for_end(exchange->descriptor, exchange->id, exchange->gone);
    MHD_suspend_connection(exchange->connection);
    return MHD_YES;
  }

  void hand_over(const std::shared_ptr<Exchange>& exchange) {
    {
      const MutexLock lock(mutex_);
      if (stopping_) {
        exchange->refused = stopping();
        return;
      }
      exchange->handed_over = true;
    }
    watcher_.begin_phase(exchange->connection, true);
    handler_(std::move(exchange->request), exchange->gone.get_token(),
             [this, exchange](HttpResponse response) { reply(*exchange, std::move(response)); });
  }

  void reply(Exchange& exchange, HttpResponse response) {
    const MutexLock lock(exchange.mutex);
    if (std::exchange(exchange.replied, true)) return;
    exchange.response = std::move(response);
    watcher_.begin_phase(exchange.connection, false);
    if (!exchange.suspended) return;
    watcher_.stop_watching(exchange.descriptor, exchange.id);
    MHD_resume_connection(exchange.connection);
  }

  /// If the head of a request fills the library's memory, there is none left for an answer.
  static MHD_Result write_and_close(int descriptor, const HttpResponse& response) {
    std::string text = join_text("HTTP/1.1 ", response.status, ' ',
                                 MHD_get_reason_phrase_for(static_cast<unsigned>(response.status)),
                                 "\r\nConnection: close\r\nContent-Type: ", response.type,
                                 "\r\nContent-Length: ", response.body.size(), "\r\n");
    for (const auto& [name, value] : response.headers) text += join_text(name, ": ", value, "\r\n");
    text += "\r\n" + response.body;
    send(descriptor, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return MHD_NO;
  }

  MHD_Result respond(Exchange& exchange) REQUIRES(exchange.mutex) {
    const HttpResponse& response = *exchange.response;
    if (exchange.head.bytes > kMostHeadBytes) return write_and_close(exchange.descriptor, response);
    MHD_Response* made = MHD_create_response_from_buffer(
        response.body.size(), const_cast<char*>(response.body.data()), MHD_RESPMEM_MUST_COPY);
    if (made == nullptr) return MHD_NO;
    if (!response.type.empty())
      MHD_add_response_header(made, "Content-Type", response.type.c_str());
    for (const auto& [name, value] : response.headers)
      MHD_add_response_header(made, name.c_str(), value.c_str());
    if (draining_ || exchange.is_malformed) MHD_add_response_header(made, "Connection", "close");
    const MHD_Result queued =
        MHD_queue_response(exchange.connection, static_cast<unsigned>(response.status), made);
    MHD_destroy_response(made);
    return queued;
  }

  HttpError too_large() const {
    return {413, join_text("the request has more than ", config_.body_limit, " bytes")};
  }

  static HttpError stopping() { return {503, "the server is stopping", 1}; }

  void end(Exchange& exchange) {
    exchange.gone.request_stop();
    {
      const MutexLock lock(exchange.mutex);
      exchange.replied = true;  // from now on the connection may be another's
    }
    bodies_ -= exchange.kept;
    watcher_.begin_phase(exchange.connection, false);
    const MutexLock lock(mutex_);
    exchanges_.erase(exchange.id);
    if (exchanges_.empty()) answered_.notify_all();
  }

  void stop_listening() {
    if (draining_.exchange(true)) return;
    MHD_quiesce_daemon(daemon_);
    shutdown(listener_, SHUT_RDWR);
  }

  /// After it has returned, no request is taken. Returns how many are still under way.
  std::int64_t wait_until_answered(std::chrono::milliseconds limit) {
    MutexLock lock(mutex_);
    answered_.wait_for(lock, limit, [this]() REQUIRES(mutex_) { return exchanges_.empty(); });
    stopping_ = true;  // still locked: none is taken between the last answer and this
    return static_cast<std::int64_t>(exchanges_.size());
  }

  void refuse_all() {
    std::vector<std::shared_ptr<Exchange>> left;
    {
      const MutexLock lock(mutex_);
      stopping_ = true;
      for (const auto& [id, exchange] : exchanges_)
        if (auto held = exchange.lock(); held && held->handed_over) left.push_back(std::move(held));
    }
    for (const auto& exchange : left) reply(*exchange, plain_refusal({}, stopping()));
  }

  const HttpConfig config_;
  const HttpHandler handler_;
  const HttpRefusal refusal_;
  ConnectionWatcher watcher_;
  const int listener_;
  std::atomic<bool> draining_ = false;
  MHD_Daemon* daemon_ = nullptr;
  std::uint64_t last_id_ = 0;  // this and the next belong to the library's thread
  std::int64_t bodies_ = 0;    // bytes that are kept
  Mutex mutex_;
  std::condition_variable_any answered_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::unordered_map<std::uint64_t, std::weak_ptr<Exchange>> exchanges_ GUARDED_BY(mutex_);
};

HttpResponse plain_refusal(const HttpRequest&, const HttpError& why) {
  HttpResponse response{
      .status = why.status(),
      .body = join_text(R"({"error":")", why.what(), R"(","message":")", why.what(), R"("})")};
  if (why.retry_after() > 0)
    response.headers.emplace_back("Retry-After", std::to_string(why.retry_after()));
  return response;
}

HttpServer::HttpServer(const HttpConfig& config, HttpHandler handler, HttpRefusal refusal)
    : connections_(std::make_unique<Connections>(config, std::move(handler), std::move(refusal))) {}
HttpServer::~HttpServer() = default;

int HttpServer::port() const { return connections_->port(); }

std::int64_t HttpServer::drain(std::chrono::milliseconds limit) {
  return connections_->drain(limit);
}

}  // namespace dragoman
