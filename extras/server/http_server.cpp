#include "extras/server/http_server.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <condition_variable>
#include <coroutine>
#include <functional>
#include <new>
#include <optional>
#include <stop_token>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/mutex.h"
#include "base/threads.h"
#include "extras/server/coroutines.h"
#include "extras/server/request_parser.h"

namespace dragoman {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Tcp = asio::ip::tcp;

constexpr std::size_t kReadBytes = 16'384;     // at once
constexpr std::int64_t kBodiesAtOnce = 64;     // bodies of the largest size that fit into memory
constexpr std::int64_t kDiscardedBodies = 16;  // times the limit of a body that are read

// ---- the socket that listens --------------------------------------------------------------------

/// Listens at `host` (a name or an address, IPv4 or IPv6); port 0 is any that is free. Throws Error
/// naming the flag if it can't.
Tcp::acceptor listen_at(asio::io_context& io, const std::string& host, std::int64_t port) {
  error_code fault;
  const auto flags = Tcp::resolver::passive | Tcp::resolver::numeric_service;
  const auto addresses = Tcp::resolver(io).resolve(host, std::to_string(port), flags, fault);
  if (fault) throw Error("--host ", host, ": ", fault.message());
  for (const auto& found : addresses) {
    Tcp::acceptor acceptor(io);
    acceptor.open(found.endpoint().protocol(), fault);
    if (!fault) acceptor.set_option(Tcp::acceptor::reuse_address(true), fault);
    if (!fault) acceptor.bind(found.endpoint(), fault);
    if (!fault) acceptor.listen(asio::socket_base::max_listen_connections, fault);
    if (!fault) return acceptor;
    // On a machine without IPv6 a name may have an address of it all the same.
    if (fault != asio::error::address_family_not_supported &&
        fault != boost::system::errc::address_not_available)
      break;
  }
  throw Error("cannot listen at ", host, ", port ", port, ": ", fault.message(),
              fault == asio::error::address_in_use ? "; --port names another one" : "");
}

/// "127.0.0.1", "::1"; empty if the client has gone.
std::string client_of(const Tcp::socket& socket) {
  error_code fault;
  const asio::ip::address address = socket.remote_endpoint(fault).address();
  if (fault) return {};
  if (!address.is_v6()) return address.to_string();
  asio::ip::address_v6 without_scope = address.to_v6();
  without_scope.scope_id(0);
  return without_scope.to_string();
}

// ---- connections, requests and replies ----------------------------------------------------------

/// A connection. Only the thread that serves all of them sees it.
struct Session {
  using OnEnd = std::function<void(Session&)>;

  Session(Tcp::socket socket, OnEnd then)
      : client(client_of(socket)),
        stream(std::move(socket)),
        reply_comes(stream.get_executor()),
        on_end(std::move(then)) {
    reply_comes.expires_at(asio::steady_timer::time_point::max());
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { on_end(*this); }

  /// Whether bytes have come that nobody has read.
  bool has_unread() {
    error_code fault;
    return stream.socket().available(fault) > 0;
  }

  const std::string client;
  boost::beast::tcp_stream stream;
  asio::steady_timer reply_comes;  // cancelled then
  const OnEnd on_end;
  std::string received = {};             // what no request has taken yet
  std::coroutine_handle<> serving = {};  // which this belongs to
  bool waits_for_head = false;
  bool has_last_call = false;
  bool is_under_way = false;  // a request has come, and is not answered
};

/// A request that is being received.
struct IncomingRequest {
  explicit IncomingRequest(std::int64_t& kept_bodies) : bodies(kept_bodies) {}
  IncomingRequest(const IncomingRequest&) = delete;
  IncomingRequest& operator=(const IncomingRequest&) = delete;
  ~IncomingRequest() { bodies -= kept; }

  std::int64_t& bodies;  // bytes of all that are kept
  RequestParser parser = {};
  std::int64_t kept = 0, discarded = 0;   // bytes of the body
  std::optional<HttpError> refused = {};  // the handler does not get it
  bool is_last = false;                   // nobody knows where the next one begins
};

/// A request that its handler has.
struct Exchange {
  explicit Exchange(Session* of) : session(of) {}

  Session* session;  // null: the connection has ended
  std::stop_source gone = {};
  std::optional<HttpResponse> response = {};
  bool has_reply = false;  // the response may be read
};

/// Replies on their way from any thread to that of the connections. A reply needs no memory. This
/// lives as long as anyone may reply.
class Replies {
 public:
  const WakeUp& wake_up() const { return wake_up_; }

  /// Makes room for one more.
  void expect() {
    const MutexLock lock(mutex_);
    waiting_.reserve(expected_ + 1);
    ++expected_;
  }

  /// The first reply to a request counts.
  void add(const std::shared_ptr<Exchange>& exchange, HttpResponse response) {
    {
      const MutexLock lock(mutex_);
      if (is_closed_ || exchange->response) return;
      exchange->response = std::move(response);
      waiting_.push_back(exchange);
    }
    wake_up_.wake();
  }

  /// Null if there is none.
  std::shared_ptr<Exchange> take() {
    const MutexLock lock(mutex_);
    if (waiting_.empty()) return nullptr;
    std::shared_ptr<Exchange> last = std::move(waiting_.back());
    waiting_.pop_back();
    --expected_;
    return last;
  }

  /// Later replies are lost.
  void close() {
    const MutexLock lock(mutex_);
    is_closed_ = true;
    waiting_.clear();
  }

 private:
  const WakeUp wake_up_;
  Mutex mutex_;
  std::size_t expected_ GUARDED_BY(mutex_) = 0;
  std::vector<std::shared_ptr<Exchange>> waiting_ GUARDED_BY(mutex_);
  bool is_closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace

class HttpServer::Connections {
 public:
  Connections(const HttpConfig& config, HttpHandler handler, HttpRefusal refusal)
      : config_(config),
        handler_(std::move(handler)),
        refusal_(std::move(refusal)),
        listener_(listen_at(io_, config.host, config.port)),
        port_(listener_.local_endpoint().port()),
        woken_(io_, dup(replies_->wake_up().descriptor())),
        pause_(io_),
        accepting_(repeat(&Connections::accept).handle),
        delivering_(repeat(&Connections::deliver).handle) {
    accepting_.resume();
    delivering_.resume();
    thread_ = std::jthread([this] { run(); });
  }
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  ~Connections() {
    asio::post(io_, [this] {
      stop_listening();
      is_stopping_ = true;
      for (const auto& exchange : exchanges_)
        replies_->add(exchange, plain_refusal({}, stopping()));
    });
    wait_until_answered(std::chrono::seconds(1));
    io_.stop();
    thread_.join();
    replies_->close();
    while (!sessions_.empty()) (*sessions_.begin())->serving.destroy();
    accepting_.destroy();
    delivering_.destroy();
  }

  int port() const { return port_; }

  std::int64_t drain(std::chrono::milliseconds limit) {
    asio::post(io_, [this] { stop_listening(); });
    return wait_until_answered(limit);
  }

 private:
  // ---- the thread -------------------------------------------------------------------------------

  /// If memory runs out, what was being done is lost, and all else continues.
  void run() {
    while (!io_.stopped()) {
      try {
        io_.run();
      } catch (const std::exception&) {
      }
      lost_.resume();
    }
  }

  using Work = Task<void> (Connections::*)();

  /// Even if memory runs out.
  Root repeat(Work work) {
    for (;;) try {
        co_await (this->*work)();
      } catch (const std::exception&) {
        std::this_thread::sleep_for(kPause);
      }
  }

  /// Opens the next connection.
  Task<void> accept() {
    if (!is_draining_ && static_cast<std::int64_t>(sessions_.size()) < config_.connections) {
      Tcp::socket socket(io_);
      Operation accepting(
          lost_, [&](auto handler) { listener_.async_accept(socket, std::move(handler)); });
      co_await accepting;
      if (!accepting.fault()) {
        open(std::move(socket));
        co_return;
      }
    }
    pause_.expires_after(kPause);  // until a connection or a descriptor is free
    Operation pausing(lost_, [this](auto handler) { pause_.async_wait(std::move(handler)); });
    co_await pausing;
  }

  /// Brings replies to the connections that wait for them.
  Task<void> deliver() {
    Operation waking(lost_, [this](auto handler) {
      woken_.async_wait(asio::posix::stream_descriptor::wait_read, std::move(handler));
    });
    co_await waking;
    if (waking.fault()) throw std::bad_alloc();
    replies_->wake_up().clear();
    while (const auto exchange = replies_->take()) {
      exchange->has_reply = true;
      if (exchange->session == nullptr) continue;
      exchange->session->stream.cancel();
      exchange->session->reply_comes.cancel();
    }
  }

  // ---- a connection -----------------------------------------------------------------------------

  void open(Tcp::socket socket) {
    error_code ignored;
    socket.set_option(Tcp::no_delay(true), ignored);
    auto session =
        std::make_unique<Session>(std::move(socket), [this](Session& ended) { close(ended); });
    sessions_.insert(session.get());
    Session& opened = *session;
    opened.serving = serve(std::move(session)).handle;
    opened.serving.resume();
  }

  void close(Session& session) {
    set_under_way(session, false);
    sessions_.erase(&session);
  }

  /// Answers the requests of a connection, one after the other.
  Root serve(std::unique_ptr<Session> session) {
    // GCC 12 compiles co_await in the condition of while to an illegal instruction.
    for (bool stays = true; stays; set_under_way(*session, stays && is_draining_))
      stays = co_await serve_request(*session);
  }

  /// Whether the connection stays open.
  Task<bool> serve_request(Session& session) {
    IncomingRequest incoming(bodies_);
    if (!co_await receive_head(session, incoming)) co_return false;
    if (!incoming.is_last && !co_await receive_body(session, incoming)) co_return false;
    if (!incoming.refused && is_stopping_) incoming.refused = stopping();
    RequestParser& parser = incoming.parser;
    const bool is_head = parser.request.method == "HEAD";
    std::optional<HttpResponse> response;
    if (incoming.refused)
      response = refusal_(std::move(parser.request), *incoming.refused);
    else
      response = co_await handle(session, std::move(parser.request));
    if (!response) co_return false;
    const bool is_last_of_all = is_draining_ && session.received.empty() && !session.has_unread();
    const bool stays = !incoming.is_last && parser.keep_alive() && !is_last_of_all;
    const std::string_view kept_open = parser.is_http_1_0() ? "keep-alive" : "";
    const std::string head = head_of(*response, stays ? kept_open : "close");
    if (is_head || response->status == kNoContent) response->body.clear();
    if (!co_await send(session, head, response->body)) co_return false;
    if (!stays) co_await end(session);
    co_return stays;
  }

  /// Appends what comes next to what has been received. False if nothing does.
  Task<bool> receive(Session& session) {
    std::string& received = session.received;
    const std::size_t size = received.size();
    received.resize(size + kReadBytes);
    Operation reading(lost_, [&](auto handler) {
      session.stream.async_read_some(asio::buffer(received.data() + size, kReadBytes),
                                     std::move(handler));
    });
    co_await reading;
    received.resize(size + reading.count());
    co_return !reading.fault();
  }

  /// All of it, in the time that a client has for an answer. False if the client does not take it.
  Task<bool> send(Session& session, std::string_view head, std::string_view body) {
    session.stream.expires_after(config_.timeout);
    const std::array<asio::const_buffer, 2> all{asio::buffer(head), asio::buffer(body)};
    Operation writing(
        lost_, [&](auto handler) { asio::async_write(session.stream, all, std::move(handler)); });
    co_await writing;
    co_return !writing.fault();
  }

  /// Ends a connection after its last answer. What the client still sends is read for a while: the
  /// system resets a connection that is closed with bytes unread, and the answer may be lost.
  Task<void> end(Session& session) {
    set_under_way(session, false);
    error_code ignored;
    session.stream.socket().shutdown(Tcp::socket::shutdown_send, ignored);
    session.stream.expires_after(std::min<std::chrono::milliseconds>(config_.timeout, kPatience));
    for (std::int64_t read = 0; read < config_.body_limit; read += kReadBytes) {
      session.received.clear();
      if (!co_await receive(session)) break;
    }
  }

  // ---- a request --------------------------------------------------------------------------------

  /// False if the connection ends without a request.
  Task<bool> receive_head(Session& session, IncomingRequest& incoming) {
    std::string& received = session.received;
    std::size_t size = 0, searched = 0;
    session.stream.expires_after(config_.timeout);
    for (;;) {
      while (received.starts_with("\r\n")) received.erase(0, 2);  // RFC 9112, section 2.2
      size = head_size(received, searched);
      if (size > 0 || received.size() > kMostHeadReceived) break;
      const bool is_last_call = is_draining_;
      if (is_last_call && !std::exchange(session.has_last_call, true))
        session.stream.expires_after(kLastCall);
      searched = received.size() - std::min<std::size_t>(2, received.size());
      session.waits_for_head = true;
      const bool has_come = co_await receive(session);
      session.waits_for_head = false;
      if (!has_come && (is_last_call || !is_draining_)) co_return false;
    }
    set_under_way(session, true);
    RequestParser& parser = incoming.parser;
    if (size == 0) size = received.size();
    parser.request.client = session.client;
    incoming.refused = parser.read_head(std::string_view(received).substr(0, size));
    incoming.is_last = incoming.refused.has_value();
    received.erase(0, size);
    co_return true;
  }

  /// A client that sends a large body all the same finds its connection reset, and may not see the
  /// answer. So a body that is only somewhat too large is read before it is refused, unless the
  /// client waits for leave to send it. False if the connection ends before the body does.
  Task<bool> receive_body(Session& session, IncomingRequest& incoming) {
    RequestParser& parser = incoming.parser;
    const auto announced =
        static_cast<std::int64_t>(std::min<std::uint64_t>(body_size_of(parser.request), INT64_MAX));
    const bool waits_for_leave = !parser.request.header("expect").empty();
    if (announced > config_.body_limit) incoming.refused = too_large();
    incoming.is_last = incoming.refused && (waits_for_leave || announced > most_discarded());
    session.stream.expires_after(config_.timeout);
    if (waits_for_leave && !parser.is_done() && !incoming.is_last && !parser.is_http_1_0() &&
        !co_await send(session, "HTTP/1.1 100 Continue\r\n\r\n", ""))
      co_return false;
    while (!incoming.is_last) {
      const std::optional<HttpError> broken = parser.read_body(session.received);
      keep_body(incoming);
      if (broken) incoming.refused = broken;
      incoming.is_last = broken || incoming.discarded > most_discarded();
      if (parser.is_done() || incoming.is_last) break;
      if (!co_await receive(session)) co_return false;
    }
    co_return true;
  }

  /// Counts what the body has grown by, or discards it.
  void keep_body(IncomingRequest& incoming) {
    std::string& body = incoming.parser.request.body;
    const auto size = static_cast<std::int64_t>(body.size());
    const std::int64_t bodies = bodies_ - incoming.kept + size;
    if (size > config_.body_limit)
      incoming.refused = too_large();
    else if (!incoming.refused && bodies > kBodiesAtOnce * config_.body_limit)
      incoming.refused = HttpError(503, "too many requests at once", 1);
    if (!incoming.refused) {
      incoming.kept = size;
      bodies_ = bodies;
      return;
    }
    incoming.discarded += size;
    bodies_ -= std::exchange(incoming.kept, 0);
    body = std::string();
  }

  /// The handler's answer; nothing if the client has gone. What the client sends meanwhile is kept,
  /// and so the end of the connection is seen.
  Task<std::optional<HttpResponse>> handle(Session& session, HttpRequest request) {
    const auto exchange = std::make_shared<Exchange>(&session);
    const auto leave = [this](Exchange* left) {
      left->session = nullptr;
      left->gone.request_stop();
      std::erase_if(exchanges_, [left](const auto& known) { return known.get() == left; });
    };
    const std::unique_ptr<Exchange, decltype(leave)> left(exchange.get(), leave);
    exchanges_.insert(exchange);
    replies_->expect();
    session.stream.expires_never();
    handler_(std::move(request), exchange->gone.get_token(),
             [replies = replies_, exchange](HttpResponse response) {
               replies->add(exchange, std::move(response));
             });
    while (!exchange->has_reply) {
      const bool reads = !exchange->gone.stop_requested() &&
                         session.received.size() < static_cast<std::size_t>(kMostHeadBytes);
      if (!reads)
        co_await wait_for_reply(session);
      else if (!co_await receive(session) && !exchange->has_reply)
        exchange->gone.request_stop();
    }
    if (exchange->gone.stop_requested()) co_return std::nullopt;
    co_return std::move(exchange->response);
  }

  Task<void> wait_for_reply(Session& session) {
    Operation waiting(lost_,
                      [&](auto handler) { session.reply_comes.async_wait(std::move(handler)); });
    co_await waiting;
    if (waiting.fault() == boost::system::errc::not_enough_memory) throw std::bad_alloc();
  }

  std::int64_t most_discarded() const { return kDiscardedBodies * config_.body_limit; }

  HttpError too_large() const {
    return {413, join_text("the request has more than ", size_text(config_.body_limit))};
  }

  static HttpError stopping() { return {503, "the server is stopping", 1}; }

  // ---- the end ----------------------------------------------------------------------------------

  /// Opens the connections that wait for it, and no more. A connection has kLastCall for its next
  /// request: a client that has just got an answer may be sending it.
  void stop_listening() {
    if (std::exchange(is_draining_, true)) return;
    error_code fault;
    listener_.non_blocking(true, fault);
    while (!fault) {
      Tcp::socket socket(io_);
      listener_.accept(socket, fault);
      if (!fault) open(std::move(socket));
    }
    listener_.close(fault);
    for (Session* session : sessions_) {
      if (!session->waits_for_head) continue;
      set_under_way(*session, true);
      if (!session->has_unread()) session->stream.cancel();
    }
    // What has been read, but not looked at, is looked at first.
    asio::post(io_, [this] {
      const MutexLock lock(mutex_);
      is_drained_ = true;
      answered_.notify_all();
    });
  }

  void set_under_way(Session& session, bool is_under_way) {
    if (std::exchange(session.is_under_way, is_under_way) == is_under_way) return;
    const MutexLock lock(mutex_);
    under_way_ += is_under_way ? 1 : -1;
    if (under_way_ == 0) answered_.notify_all();
  }

  /// Returns how many are still under way.
  std::int64_t wait_until_answered(std::chrono::milliseconds limit) {
    MutexLock lock(mutex_);
    answered_.wait_for(lock, limit,
                       [this]() REQUIRES(mutex_) { return is_drained_ && under_way_ == 0; });
    return under_way_;
  }

  static constexpr std::chrono::milliseconds kPause{10};
  static constexpr std::chrono::milliseconds kPatience{2000};
  static constexpr std::chrono::milliseconds kLastCall{250};

  const HttpConfig config_;
  const HttpHandler handler_;
  const HttpRefusal refusal_;
  const std::shared_ptr<Replies> replies_ = std::make_shared<Replies>();

  // Only the thread that serves the connections uses these.
  std::unordered_set<Session*> sessions_;
  std::unordered_set<std::shared_ptr<Exchange>> exchanges_;
  std::int64_t bodies_ = 0;  // bytes that are kept
  bool is_draining_ = false, is_stopping_ = false;

  Mutex mutex_;
  std::condition_variable_any answered_;
  bool is_drained_ GUARDED_BY(mutex_) = false;
  std::int64_t under_way_ GUARDED_BY(mutex_) = 0;

  LostOperations lost_;
  asio::io_context io_{1};
  Tcp::acceptor listener_;
  const int port_;
  asio::posix::stream_descriptor woken_;
  asio::steady_timer pause_;
  const std::coroutine_handle<> accepting_, delivering_;
  std::jthread thread_;
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
