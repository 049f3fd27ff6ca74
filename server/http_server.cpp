#include "server/http_server.h"

#include <microhttpd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/mutex.h"
#include "base/utf8.h"
#include "server/connection_watcher.h"
#include "server/listen_socket.h"

namespace dragoman {

namespace {

constexpr std::size_t kHeaderBytes = 65'536;   // of a connection: request line and headers
constexpr std::int64_t kBodiesAtOnce = 64;     // as many of the largest size fit into memory
constexpr std::int64_t kDiscardedBodies = 16;  // so much of a body that is too large is read

// NOLINTBEGIN(readability-function-size): the library decides the parameters
MHD_Result add_header(void* headers, MHD_ValueKind, const char* name, std::size_t name_size,
                      const char* value, std::size_t value_size) {
  const std::string text(value == nullptr ? "" : value, value_size);
  auto& known = *static_cast<std::map<std::string, std::string, std::less<>>*>(headers);
  const auto [header, is_new] = known.emplace(ascii_lower({name, name_size}), text);
  if (!is_new) header->second.append(", ").append(text);
  return MHD_YES;
}

MHD_Result add_argument(void* query, MHD_ValueKind, const char* name, std::size_t name_size,
                        const char* value, std::size_t value_size) {
  static_cast<std::vector<std::pair<std::string, std::string>>*>(query)->emplace_back(
      std::string(name, name_size),
      value == nullptr ? std::string() : std::string(value, value_size));
  return MHD_YES;
}

// NOLINTEND(readability-function-size)

/// A request and the way back to its connection.
struct Exchange {
  Exchange(MHD_Connection* of, int socket, std::uint64_t number)
      : connection(of), descriptor(socket), id(number) {}

  MHD_Connection* const connection;
  const int descriptor;
  const std::uint64_t id;
  HttpRequest request = {};
  std::int64_t kept = 0, discarded = 0;  // bytes of the body
  int refused = 0;                       // status, where the handler does not get it
  bool handed_over = false;              // to the handler
  std::stop_source gone = {};
  Mutex mutex = {};
  std::optional<HttpResponse> response GUARDED_BY(mutex) = {};
  bool suspended GUARDED_BY(mutex) = false;
  bool replied GUARDED_BY(mutex) = false;
};

}  // namespace

class HttpServer::Connections {
 public:
  Connections(const HttpConfig& config, HttpHandler handler)
      : config_(config),
        handler_(std::move(handler)),
        watcher_(config.timeout),
        listener_(listen_at(config.host, config.port)) {
    daemon_ = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, nullptr,
        nullptr, &Connections::on_data, this, MHD_OPTION_EXTERNAL_LOGGER, &Connections::on_message,
        nullptr, MHD_OPTION_LISTEN_SOCKET, listener_, MHD_OPTION_NOTIFY_COMPLETED,
        &Connections::on_completed, this, MHD_OPTION_NOTIFY_CONNECTION, &Connections::on_connection,
        this, MHD_OPTION_CONNECTION_LIMIT, static_cast<unsigned>(config.connections),
        MHD_OPTION_CONNECTION_TIMEOUT,
        static_cast<unsigned>(std::max<std::int64_t>(1, (config.timeout.count() + 999) / 1000)),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, kHeaderBytes, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
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
    watcher.opened(connection, socket_of(connection));
  }

  static int socket_of(MHD_Connection* connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
  }

  // NOLINTNEXTLINE(readability-function-size): the library decides the parameters
  static MHD_Result on_data(void* self, MHD_Connection* connection, const char* url,
                            const char* method, const char*, const char* data, std::size_t* size,
                            void** exchange) {
    auto& connections = *static_cast<Connections*>(self);
    try {
      if (*exchange == nullptr) {
        auto begun = connections.begin(connection, url, method);
        *exchange = new std::shared_ptr<Exchange>(begun);
        if (!connections.is_refused_unread(*begun)) return MHD_YES;
        const MutexLock lock(begun->mutex);
        return connections.respond(*begun);
      }
      auto& current = *static_cast<std::shared_ptr<Exchange>*>(*exchange);
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

  std::shared_ptr<Exchange> begin(MHD_Connection* connection, const char* url, const char* method) {
    auto exchange = std::make_shared<Exchange>(connection, socket_of(connection), ++last_id_);
    HttpRequest& request = exchange->request;
    request.method = method;
    request.path = url;
    const auto* client = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (client != nullptr) request.client = address_text(client->client_addr);
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, &add_header, &request.headers);
    MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, &add_argument, &request.query);
    if (length_of(request) > static_cast<std::uint64_t>(config_.body_limit))
      exchange->refused = MHD_HTTP_CONTENT_TOO_LARGE;
    watcher_.begin_phase(connection, false);  // the body has its own time
    const MutexLock lock(mutex_);
    exchanges_[exchange->id] = exchange;
    return exchange;
  }

  static std::uint64_t length_of(const HttpRequest& request) {
    return std::strtoull(std::string(request.header("content-length")).c_str(), nullptr, 10);
  }

  /// Whether a request is answered before its body is read. A client that sends all the same finds
  /// its connection reset, and may not see the answer. So a body that is only somewhat too large is
  /// read first, unless the client waits for leave to send it.
  bool is_refused_unread(const Exchange& exchange) const {
    if (exchange.refused == 0) return false;
    const auto most = static_cast<std::uint64_t>(kDiscardedBodies * config_.body_limit);
    return length_of(exchange.request) > most || !exchange.request.header("expect").empty();
  }

  /// Keeps a part of the body, or not: nothing can be answered before the body has ended. False
  /// where that lasts too long.
  bool keep(Exchange& exchange, std::string_view part) {
    const auto size = static_cast<std::int64_t>(part.size());
    std::string& body = exchange.request.body;
    if (static_cast<std::int64_t>(body.size()) + size > config_.body_limit)
      exchange.refused = MHD_HTTP_CONTENT_TOO_LARGE;
    else if (exchange.refused == 0 && bodies_ + size > kBodiesAtOnce * config_.body_limit)
      exchange.refused = MHD_HTTP_SERVICE_UNAVAILABLE;
    if (exchange.refused != 0) {
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
    if (!exchange->handed_over && exchange->refused == 0) hand_over(exchange);
    const MutexLock lock(exchange->mutex);
    if (exchange->refused != 0 || exchange->response) return respond(*exchange);
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
        exchange->refused = MHD_HTTP_SERVICE_UNAVAILABLE;
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

  MHD_Result respond(Exchange& exchange) REQUIRES(exchange.mutex) {
    if (exchange.refused != 0 && !exchange.response) exchange.response = refusal(exchange.refused);
    const HttpResponse& response = *exchange.response;
    MHD_Response* made = MHD_create_response_from_buffer(
        response.body.size(), const_cast<char*>(response.body.data()), MHD_RESPMEM_MUST_COPY);
    if (made == nullptr) return MHD_NO;
    if (!response.type.empty())
      MHD_add_response_header(made, "Content-Type", response.type.c_str());
    for (const auto& [name, value] : response.headers)
      MHD_add_response_header(made, name.c_str(), value.c_str());
    if (draining_) MHD_add_response_header(made, "Connection", "close");
    const MHD_Result queued =
        MHD_queue_response(exchange.connection, static_cast<unsigned>(response.status), made);
    MHD_destroy_response(made);
    return queued;
  }

  HttpResponse refusal(int status) const {
    const bool is_too_large = status == MHD_HTTP_CONTENT_TOO_LARGE;
    const std::string text =
        is_too_large ? join_text("the request has more than ", config_.body_limit, " bytes")
        : draining_  ? "the server is stopping"
                     : "too many requests at once";
    HttpResponse response{
        .status = status,
        .body = join_text(R"({"error":")", text, R"(","message":")", text, R"("})")};
    if (!is_too_large) response.headers.emplace_back("Retry-After", "1");
    return response;
  }

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

  /// From its return on, no request is taken. Returns how many are still under way.
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
    for (const auto& exchange : left) reply(*exchange, refusal(MHD_HTTP_SERVICE_UNAVAILABLE));
  }

  const HttpConfig config_;
  const HttpHandler handler_;
  ConnectionWatcher watcher_;
  const int listener_;
  std::atomic<bool> draining_ = false;
  MHD_Daemon* daemon_ = nullptr;
  std::uint64_t last_id_ = 0;  // of the library's thread, as the next
  std::int64_t bodies_ = 0;    // bytes that are kept
  Mutex mutex_;
  std::condition_variable_any answered_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::unordered_map<std::uint64_t, std::weak_ptr<Exchange>> exchanges_ GUARDED_BY(mutex_);
};

HttpServer::HttpServer(const HttpConfig& config, HttpHandler handler)
    : connections_(std::make_unique<Connections>(config, std::move(handler))) {}
HttpServer::~HttpServer() = default;

int HttpServer::port() const { return connections_->port(); }

std::int64_t HttpServer::drain(std::chrono::milliseconds limit) {
  return connections_->drain(limit);
}

}  // namespace dragoman
