#include "training/ranks/rank_introduction.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/error.h"

namespace dragoman {

namespace {

/// Two containers of one machine have different names, as each numbers its own processes.
std::string machine_of_this() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::error_code none;
  return boot + std::filesystem::read_symlink("/proc/self/ns/pid", none).string();
}

std::string numeric(const sockaddr* address, socklen_t size) {
  std::array<char, NI_MAXHOST> host{};
  getnameinfo(address, size, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST);
  return host.data();
}

/// Connecting a datagram socket sends nothing.
std::string address_towards(const addrinfo& there) {
  const int descriptor = socket(there.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_storage here{};
  socklen_t size = sizeof here;
  auto* address = reinterpret_cast<sockaddr*>(&here);
  const bool known = connect(descriptor, there.ai_addr, there.ai_addrlen) == 0 &&
                     getsockname(descriptor, address, &size) == 0;
  close(descriptor);
  return known ? numeric(address, size) : "";
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

}  // namespace

RankIntroduction introduction_of_this(const RankInfo& info) {
  RankIntroduction own{.name = "",
                       .machine = machine_of_this(),
                       .process = std::to_string(getpid()),
                       .address = "",
                       .rank_0 = ""};
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  own.name = join_text("rank ", info.rank, " (host ", host.data(), ", process ", own.process, ")");
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_DGRAM;
  const std::string port = std::to_string(info.master_port);
  if (const int unknown = getaddrinfo(info.master_host.c_str(), port.c_str(), &hints, &found))
    throw Error(own.name, " cannot reach rank 0: ", info.master_host,
                " (MASTER_ADDR): ", gai_strerror(unknown));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, &freeaddrinfo);
  for (; found != nullptr && own.address.empty(); found = found->ai_next) {
    own.address = address_towards(*found);
    own.rank_0 = numeric(found->ai_addr, found->ai_addrlen);
  }
  return own;
}

std::string to_text(const RankIntroduction& i) {
  return join_text(i.name, "\n", i.machine, "\n", i.process, "\n", i.address, "\n", i.rank_0);
}

RankIntroduction introduction_from_text(const std::string& text) {
  RankIntroduction i;
  std::istringstream lines(text);
  for (std::string* part : {&i.name, &i.machine, &i.process, &i.address, &i.rank_0})
    std::getline(lines, *part);
  return i;
}

std::string reachable_address(const std::vector<RankIntroduction>& ranks, int rank) {
  const std::string& own = ranks[static_cast<std::size_t>(rank)].address;
  if (!is_loopback(own)) return own;
  for (const RankIntroduction& other : ranks)
    if (!is_loopback(other.rank_0)) return other.rank_0;
  return own;
}

bool has_ended(const std::string& process) {
  std::string status;  // "4711 (a name) S ..."
  std::getline(std::ifstream("/proc/" + process + "/stat"), status);
  const std::size_t state = status.rfind(") ");
  // Z: ended, but the exit code has not been read yet.
  return state == std::string::npos || status[state + 2] == 'Z';
}

}  // namespace dragoman
