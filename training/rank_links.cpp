#include "training/rank_links.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <random>

#include "base/error.h"
#include "base/hash.h"

namespace dragoman {

namespace {

using Clock = std::chrono::steady_clock;
using Kind = RankMessage::Kind;

/// A stranger that connects and says nothing must not hold up the ranks.
constexpr Milliseconds kHelloLimit{5000};

std::string name_of_this(int rank) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return join_text("rank ", rank, " (host ", host.data(), ", process ", getpid(), ")");
}

double seconds(Milliseconds time) { return static_cast<double>(time.count()) / 1000; }

/// Tells the ranks of one run from whatever else may connect.
std::string random_word() {
  std::random_device device;
  return hex16(std::uint64_t{device()} << 32 | device());
}

Milliseconds time_until(Clock::time_point deadline) {
  return std::max(Milliseconds(0),
                  std::chrono::duration_cast<Milliseconds>(deadline - Clock::now()));
}

}  // namespace

struct RankLinks::Link {
  RankSocket socket;
  int rank = 0;
  Milliseconds silence{0};        // of the watching thread alone
  std::deque<std::string> texts;  // guarded by mutex_, as the next
  bool open = true;
};

RankLinks::RankLinks(const RankPlace& place, Limits limits, const NoticeBoard& board)
    : place_(place), limits_(limits), names_(static_cast<std::size_t>(place.size)) {
  names_[static_cast<std::size_t>(place.rank)] = name_of_this(place.rank);
  if (place.rank == 0)
    gather_ranks(board);
  else
    join_rank_0(board);
  wake_ = eventfd(0, EFD_CLOEXEC);
  thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

RankLinks::~RankLinks() {
  thread_.request_stop();
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(wake_, &one, sizeof one);
  thread_.join();
  close(wake_);
  if (!given_up_)
    for (const auto& link : links_) link->socket.send({Kind::Bye, ""}, limits_.silence);
}

void RankLinks::gather_ranks(const NoticeBoard& board) {
  const RankSocket listener = RankSocket::listening();
  const std::string word = random_word();
  board.post(pack_texts({word, std::to_string(listener.port())}));
  links_.resize(static_cast<std::size_t>(place_.size) - 1);
  const auto deadline = Clock::now() + limits_.joining;
  while (std::find(links_.begin(), links_.end(), nullptr) != links_.end()) {
    auto socket = listener.accept(time_until(deadline));
    if (!socket) throw Error(missing_ranks());
    const auto hello = socket->wait(kHelloLimit);
    if (!hello || hello->kind != Kind::Text) continue;
    const auto words = unpack_texts(hello->text);
    if (words.size() == 4 && words[0] == word)
      admit(std::move(*socket), std::stoi(words[1]), std::stoi(words[2]), words[3]);
  }
  welcome_all();
}

std::string RankLinks::missing_ranks() const {
  std::string missing;
  for (std::size_t i = 0; i < links_.size(); ++i)
    if (!links_[i]) missing += join_text(missing.empty() ? "" : ", ", i + 1);
  return join_text("of ", place_.size, " ranks these have not come within ",
                   seconds(limits_.joining), " s: ", missing,
                   "; start all ranks, with the same WORLD_SIZE, MASTER_ADDR and MASTER_PORT");
}

void RankLinks::admit(RankSocket socket, int rank, int size, const std::string& name) {
  if (size != place_.size)
    throw Error(name, " counts ", size, " ranks, rank 0 counts ", place_.size,
                "; start all with the same WORLD_SIZE");
  auto& link = links_[static_cast<std::size_t>(rank) - 1];
  std::string& known = names_[static_cast<std::size_t>(rank)];
  if (link) throw Error("two processes are one rank: ", known, " and ", name);
  known = name;
  link = std::make_unique<Link>();
  link->socket = std::move(socket);
  link->rank = rank;
}

/// Tells each rank the address by which the others reach it: what rank 0 sees of it. Ranks of rank
/// 0's own machine have come by the loopback, which serves only as long as all have.
void RankLinks::welcome_all() {
  address_ = links_.front()->socket.own_address();
  for (const auto& link : links_)
    if (!is_loopback(link->socket.other_address())) address_ = link->socket.own_address();
  for (const auto& link : links_) {
    const std::string seen = link->socket.other_address();
    std::vector<std::string> words = {is_loopback(seen) ? address_ : seen};
    words.insert(words.end(), names_.begin(), names_.end());
    link->socket.send({Kind::Text, pack_texts(words)}, limits_.silence);
  }
}

void RankLinks::join_rank_0(const NoticeBoard& board) {
  const auto deadline = Clock::now() + limits_.joining;
  const auto posted = unpack_texts(board.read());
  auto link = std::make_unique<Link>();
  link->socket =
      RankSocket::connected_to(place_.master_host, std::stoi(posted.at(1)), time_until(deadline));
  link->socket.send({Kind::Text, pack_texts({posted.at(0), std::to_string(place_.rank),
                                             std::to_string(place_.size),
                                             names_[static_cast<std::size_t>(place_.rank)]})},
                    limits_.silence);
  const auto welcome = link->socket.wait(time_until(deadline) + kHelloLimit);
  if (!welcome) throw Error("rank 0 has not begun: not all ranks have come, or it has stopped");
  auto words = unpack_texts(welcome->text);
  address_ = words.at(0);
  names_.assign(words.begin() + 1, words.end());
  links_.push_back(std::move(link));
}

/// Time counts only as far as this process was awake: ranks that were stopped all together, as by
/// a suspended job, go on together.
void RankLinks::watch(const std::stop_token& stop) {
  const Milliseconds interval =
      std::clamp(limits_.silence / 10, Milliseconds(10), Milliseconds(1000));
  std::vector<pollfd> entries;
  auto last = Clock::now() - interval;
  while (!stop.stop_requested()) {
    const auto passed = std::chrono::duration_cast<Milliseconds>(Clock::now() - last);
    if (passed >= interval) {
      last = Clock::now();
      check_silence(std::min(passed, 2 * interval));
    }
    entries = {{.fd = wake_, .events = POLLIN, .revents = 0}};
    for (const auto& link : links_)
      entries.push_back(
          {.fd = link->open ? link->socket.descriptor() : -1, .events = POLLIN, .revents = 0});
    poll(entries.data(), entries.size(), static_cast<int>(interval.count()));
    for (std::size_t i = 0; i < links_.size(); ++i)
      if (entries[i + 1].revents != 0) take_messages(*links_[i]);
  }
}

/// Also gives this rank's own sign of life.
void RankLinks::check_silence(Milliseconds passed) {
  for (const auto& link : links_) {
    if (!link->open) continue;
    link->silence += passed;
    if (link->silence > limits_.silence)
      lose(join_text(name(link->rank), " has given no sign of life for ", seconds(limits_.silence),
                     " s: it is stopped, or its machine or the network is"));
    link->socket.send({Kind::Alive, ""}, Milliseconds(0));
  }
}

void RankLinks::take_messages(Link& link) {
  const bool connected = link.socket.receive();
  link.silence = Milliseconds(0);
  try {
    while (auto message = link.socket.next()) take(link, *message);
  } catch (const Error& error) {
    lose(join_text(name(link.rank), " sends ", error.what()));
  }
  if (connected || !link.open) return;
  // Before the link counts as closed, or who waits for its text would think that it has ended well.
  lose(join_text(name(link.rank),
                 " is gone: it was killed, or its machine or the network has failed"));
  const std::lock_guard lock(mutex_);
  link.open = false;
}

void RankLinks::take(Link& link, RankMessage& message) {
  switch (message.kind) {
    case Kind::Alive:
      return;
    case Kind::Text: {
      const std::lock_guard lock(mutex_);
      link.texts.push_back(std::move(message.text));
      break;
    }
    case Kind::Bye: {
      const std::lock_guard lock(mutex_);
      link.open = false;
      break;
    }
    case Kind::Failed:
      lose(join_text(name(link.rank), " has stopped: ", message.text));
      return;
    case Kind::Lost:
      lose(message.text);
      return;
  }
  changed_.notify_all();
}

void RankLinks::lose(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    if (!loss_.empty()) return;
    loss_ = text;
  }
  if (place_.rank == 0)
    for (const auto& link : links_) link->socket.send({Kind::Lost, text}, Milliseconds(0));
  lost_.request_stop();
  changed_.notify_all();
}

std::string RankLinks::next_text(Link& link) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !link.texts.empty() || !link.open || !loss_.empty(); });
  // A rank that has sent its text and then ended has done its part in this exchange.
  if (link.texts.empty() && !loss_.empty()) throw Error(loss_);
  if (link.texts.empty()) throw Error(name(link.rank), " has ended before this rank");
  std::string text = std::move(link.texts.front());
  link.texts.pop_front();
  return text;
}

std::vector<std::string> RankLinks::exchange(const std::string& text) {
  if (place_.rank != 0) {
    links_.front()->socket.send({Kind::Text, text}, limits_.silence);
    return unpack_texts(next_text(*links_.front()));
  }
  std::vector<std::string> texts = {text};
  for (const auto& link : links_) texts.push_back(next_text(*link));
  const std::string packed = pack_texts(texts);
  for (const auto& link : links_) link->socket.send({Kind::Text, packed}, limits_.silence);
  return texts;
}

void RankLinks::throw_loss(const std::string& symptom) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limits_.silence + Milliseconds(1000), [this] { return !loss_.empty(); });
  throw Error(loss_.empty() ? symptom : loss_);
}

void RankLinks::give_up(const std::string& reason) {
  given_up_ = true;
  {
    const std::lock_guard lock(mutex_);
    if (!loss_.empty()) return;  // the others know
  }
  const RankMessage message =
      place_.rank == 0 ? RankMessage{Kind::Lost, join_text(name(0), " has stopped: ", reason)}
                       : RankMessage{Kind::Failed, reason};
  for (const auto& link : links_) link->socket.send(message, limits_.silence);
}

}  // namespace dragoman
