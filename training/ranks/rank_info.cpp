#include "training/ranks/rank_info.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"

namespace dragoman {

namespace {

/// Slurm gives no port. Jobs of one host use different ports, below the range that systems hand
/// out.
constexpr int kFirstPort = 15'000, kPorts = 15'000;

class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  bool has(const std::string& name) const { return environment_(name).has_value(); }
  std::string text(const std::string& name) const {
    const auto found = environment_(name);
    if (!found || found->empty())
      throw UsageError("the variable ", name,
                       " is not set; training on several ranks needs it (scripts/launch, torchrun "
                       "and srun set it)");
    return *found;
  }
  int integer(const std::string& name, int least, int most) const {
    const std::string digits = text(name);
    const std::optional<int> value = number_from<int>(digits);
    if (!value || *value < least || *value > most)
      throw UsageError("the variable ", name, " is '", digits, "': a number from ", least, " to ",
                       most, " is needed");
    return *value;
  }
  int integer_or(const std::string& name, int missing, int least, int most) const {
    return has(name) ? integer(name, least, most) : missing;
  }

 private:
  const Environment& environment_;
};

constexpr int kMostRanks = 1 << 20, kMostPort = 65'535;

RankInfo torchrun_info(const Variables& variables) {
  RankInfo info;
  info.size = variables.integer("WORLD_SIZE", 1, kMostRanks);
  if (info.size == 1) return info;
  info.rank = variables.integer("RANK", 0, info.size - 1);
  info.local_rank = variables.integer_or("LOCAL_RANK", info.rank, 0, info.rank);
  info.local_size = variables.integer_or("LOCAL_WORLD_SIZE", 1, 1, info.size);
  info.master_host = variables.text("MASTER_ADDR");
  info.master_port = variables.integer("MASTER_PORT", 1, kMostPort);
  if (variables.has("TORCHELASTIC_USE_AGENT_STORE"))
    info.launcher_serves_store = variables.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  if (variables.has("TORCHELASTIC_RESTART_COUNT"))
    info.attempt = variables.text("TORCHELASTIC_RESTART_COUNT");
  return info;
}

RankInfo slurm_info(const Variables& variables) {
  RankInfo info;
  info.size = variables.integer("SLURM_STEP_NUM_TASKS", 1, kMostRanks);
  if (info.size == 1) return info;
  info.rank = variables.integer("SLURM_PROCID", 0, info.size - 1);
  info.local_rank = variables.integer("SLURM_LOCALID", 0, info.rank);
  info.master_host = variables.has("MASTER_ADDR")
                         ? variables.text("MASTER_ADDR")
                         : first_host(variables.text("SLURM_STEP_NODELIST"));
  info.master_port = variables.has("MASTER_PORT")
                         ? variables.integer("MASTER_PORT", 1, kMostPort)
                         : kFirstPort + variables.integer("SLURM_JOB_ID", 0, 1 << 30) % kPorts;
  return info;
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

RankInfo rank_info(const Environment& environment) {
  const Variables variables(environment);
  if (variables.has("RANK") || variables.has("WORLD_SIZE")) return torchrun_info(variables);
  // Only srun sets this one. A script of sbatch has SLURM_PROCID and SLURM_NTASKS, too, and is one
  // process.
  if (variables.has("SLURM_STEP_NUM_TASKS")) return slurm_info(variables);
  return {};
}

std::string first_host(const std::string& list) {
  const std::size_t end = list.find_first_of(",[");
  std::string host = list.substr(0, end);
  if (end == std::string::npos || list[end] == ',') return host;
  const std::size_t last = list.find_first_of(",-]", end + 1);
  return host + list.substr(end + 1, last - end - 1);
}

// ---- the introduction ---------------------------------------------------------------------------

namespace {

/// Two containers of one machine have different names, because each numbers its own
/// processes.
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
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  RankIntroduction own;
  own.machine = machine_of_this();
  own.process = std::to_string(getpid());
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

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankIntroduction, name, machine, process, address, rank_0)

std::string to_text(const RankIntroduction& introduction) {
  return json_text(nlohmann::json(introduction));
}

RankIntroduction introduction_from_text(const std::string& text) {
  return parse_json(text).get<RankIntroduction>();
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
