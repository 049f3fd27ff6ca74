#include "extras/server/listen_socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace dragoman {

namespace {

/// The descriptor; below 0 where it can't, and errno says why.
int listen_at(const addrinfo& address) {
  const int listener = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return listener;
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, address.ai_addr, address.ai_addrlen) == 0 && listen(listener, SOMAXCONN) == 0)
    return listener;
  const int error = errno;
  close(listener);
  errno = error;
  return -1;
}

}  // namespace

int listen_at(const std::string& host, std::int64_t port) {
  const std::string number = std::to_string(port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(host.c_str(), number.c_str(), &hints, &found);
  if (failed != 0) throw Error("--host ", host, ": ", gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, &freeaddrinfo);
  int error = 0;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const int listener = listen_at(*at);
    if (listener >= 0) return listener;
    error = errno;
    // On a machine without IPv6 a name may have an address of it all the same.
    if (error != EADDRNOTAVAIL && error != EAFNOSUPPORT) break;
  }
  throw Error("cannot listen at ", host, ", port ", port, ": ", std::strerror(error),
              error == EADDRINUSE ? "; --port names another one" : "");
}

int port_of(int descriptor) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

std::string address_text(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address == nullptr) return text;
  if (address->sa_family == AF_INET)
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof text);
  if (address->sa_family == AF_INET6)
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text,
              sizeof text);
  return text;
}

}  // namespace dragoman
