#include "training/rank_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "base/error.h"

namespace dragoman {

namespace {

using Clock = std::chrono::steady_clock;

/// A longer message is none of ours.
constexpr std::size_t kLongestMessage = std::size_t{1} << 30;

struct Header {
  std::uint32_t kind, size;
};

std::string reason(int code) { return std::strerror(code); }

Milliseconds left_until(Clock::time_point deadline) {
  return std::max(Milliseconds(0),
                  std::chrono::duration_cast<Milliseconds>(deadline - Clock::now()));
}

bool wait_for(int descriptor, short events, Milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  for (;;) {
    pollfd entry{.fd = descriptor, .events = events, .revents = 0};
    const int ready = poll(&entry, 1, static_cast<int>(left_until(deadline).count()));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

/// Small messages leave at once.
void send_at_once(int descriptor) {
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

std::string numeric(const sockaddr_storage& address, socklen_t size) {
  char host[NI_MAXHOST] = "";
  getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof host, nullptr, 0,
              NI_NUMERICHOST);
  const std::string text = host;
  constexpr std::string_view kMapped = "::ffff:";  // IPv4 through a socket of both
  return text.starts_with(kMapped) ? text.substr(kMapped.size()) : text;
}

/// Throws Error with the system's reason.
RankSocket connect_to(const addrinfo& address, Milliseconds limit) {
  RankSocket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int failure = 0;
  if (connect(socket.descriptor(), address.ai_addr, address.ai_addrlen) != 0) failure = errno;
  if (failure == EINPROGRESS) {
    failure = ETIMEDOUT;
    socklen_t size = sizeof failure;
    if (wait_for(socket.descriptor(), POLLOUT, limit))
      getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &failure, &size);
  }
  if (failure != 0) throw Error(reason(failure));
  send_at_once(socket.descriptor());
  return socket;
}

}  // namespace

std::string pack_texts(const std::vector<std::string>& texts) {
  std::string packed;
  for (const std::string& text : texts) {
    const std::uint64_t size = text.size();
    packed.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
  }
  return packed;
}

std::vector<std::string> unpack_texts(std::string_view packed) {
  std::vector<std::string> texts;
  while (!packed.empty()) {
    std::uint64_t size = 0;
    if (packed.size() < sizeof size) throw Error("a message between ranks is cut off");
    std::memcpy(&size, packed.data(), sizeof size);
    packed.remove_prefix(sizeof size);
    if (size > packed.size()) throw Error("a message between ranks is cut off");
    texts.emplace_back(packed.substr(0, size));
    packed.remove_prefix(size);
  }
  return texts;
}

RankSocket::RankSocket(RankSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), received_(std::move(other.received_)) {}

RankSocket& RankSocket::operator=(RankSocket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(received_, other.received_);
  return *this;
}

RankSocket::~RankSocket() {
  if (descriptor_ >= 0) close(descriptor_);
}

RankSocket RankSocket::listening() {
  constexpr int kType = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  const int off = 0;
  sockaddr_in6 both{};
  both.sin6_family = AF_INET6;
  RankSocket socket(::socket(AF_INET6, kType, 0));
  if (setsockopt(socket.descriptor_, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0 ||
      bind(socket.descriptor_, reinterpret_cast<const sockaddr*>(&both), sizeof both) != 0) {
    sockaddr_in four{};  // a machine without IPv6
    four.sin_family = AF_INET;
    socket = RankSocket(::socket(AF_INET, kType, 0));
    if (bind(socket.descriptor_, reinterpret_cast<const sockaddr*>(&four), sizeof four) != 0)
      throw Error("cannot listen for the other ranks: ", reason(errno));
  }
  if (listen(socket.descriptor_, SOMAXCONN) != 0)
    throw Error("cannot listen for the other ranks: ", reason(errno));
  return socket;
}

RankSocket RankSocket::connected_to(const std::string& host, int port, Milliseconds limit) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const int unknown = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (unknown != 0) throw Error("cannot reach rank 0: ", host, ": ", gai_strerror(unknown));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, &freeaddrinfo);
  std::string failure;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    try {
      return connect_to(*address, limit);
    } catch (const Error& error) {  // the next address may do
      failure = error.what();
    }
  }
  throw Error("cannot reach rank 0 at ", host, ", port ", port, ": ", failure);
}

int RankSocket::port() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::string RankSocket::own_address() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size);
  return numeric(address, size);
}

std::string RankSocket::other_address() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getpeername(descriptor_, reinterpret_cast<sockaddr*>(&address), &size);
  return numeric(address, size);
}

std::optional<RankSocket> RankSocket::accept(Milliseconds limit) const {
  if (!wait_for(descriptor_, POLLIN, limit)) return std::nullopt;
  const int descriptor = accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  send_at_once(descriptor);
  return RankSocket(descriptor);
}

bool RankSocket::send(const RankMessage& message, Milliseconds limit) {
  const Header header{static_cast<std::uint32_t>(message.kind),
                      static_cast<std::uint32_t>(message.text.size())};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += message.text;
  const std::lock_guard lock(sending_);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t count =
        ::send(descriptor_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      if (!wait_for(descriptor_, POLLOUT, limit)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool RankSocket::receive() {
  char buffer[65'536];
  for (;;) {
    const ssize_t count = recv(descriptor_, buffer, sizeof buffer, 0);
    if (count > 0)
      received_.append(buffer, static_cast<std::size_t>(count));
    else if (count < 0 && errno == EAGAIN)
      return true;
    else if (count == 0 || errno != EINTR)
      return false;
  }
}

std::optional<RankMessage> RankSocket::next() {
  Header header{};
  if (received_.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, received_.data(), sizeof header);
  if (header.size > kLongestMessage ||
      header.kind > static_cast<std::uint32_t>(RankMessage::Kind::Bye))
    throw Error("a message that is none of Dragoman's");
  if (received_.size() < sizeof header + header.size) return std::nullopt;
  RankMessage message{static_cast<RankMessage::Kind>(header.kind),
                      received_.substr(sizeof header, header.size)};
  received_.erase(0, sizeof header + header.size);
  return message;
}

std::optional<RankMessage> RankSocket::wait(Milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  for (;;) {
    if (auto message = next()) return message;
    if (!wait_for(descriptor_, POLLIN, left_until(deadline))) return std::nullopt;
    if (!receive()) return next();
  }
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

}  // namespace dragoman
