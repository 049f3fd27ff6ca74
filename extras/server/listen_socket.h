// A socket that listens, and the addresses of sockets as text.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

namespace dragoman {

/// The descriptor of a socket that listens at `host` (a name or an address, IPv4 or IPv6); port 0
/// is any that is free. Throws Error naming the flag where it can't.
int listen_at(const std::string& host, std::int64_t port);

/// The port of a socket.
int port_of(int descriptor);

/// "127.0.0.1", "::1"; empty for other kinds of sockets.
std::string address_text(const sockaddr* address);

}  // namespace dragoman
