#include "training/ranks/rendezvous.h"

#include <c10/util/Exception.h>
#include <c10/util/Logging.h>
#include <torch/cuda.h>

#include <algorithm>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

#ifdef DRAGOMAN_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include "base/error.h"
#include "base/formatted_text.h"
#include "training/ranks/rank_info.h"

namespace dragoman {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char *kLoss = "loss", *kSize = "size";
constexpr Milliseconds kAtOnce(1);
/// Takes the place of a count of heartbeats when the rank has done its work, or has read that a
/// rank is lost.
constexpr const char* kLeft = "left";
constexpr const char* kGone = " is gone: it was killed, or its machine or the network has failed";

double seconds(Milliseconds time) { return static_cast<double>(time.count()) / 1000; }

std::string silent_for(Milliseconds time) {
  return join_text(" has sent no heartbeat for ", seconds(time),
                   " s: it is stopped, or its machine or the network is down");
}

// The keys of a rank's texts.
constexpr std::string_view kHeartbeat = "heartbeat", kIntroduction = "rank";
std::string exchanged(std::int64_t exchange) { return join_text("text/", exchange); }

std::string key(std::string_view text, std::size_t rank) { return join_text(text, "/", rank); }

std::vector<std::string> keys_of_all(std::size_t size, std::string_view text) {
  std::vector<std::string> keys;
  for (std::size_t rank = 0; rank < size; ++rank) keys.push_back(key(text, rank));
  return keys;
}

/// A connection to the store, for one thread; waits for the server, `limit` at most. Rank 0 serves
/// the store, unless torchrun does. Throws Error if there is no server. Calls to the store throw
/// std::exception if the server is gone, and never return if it hangs. A text in it has at most
/// 8 MiB.
c10::intrusive_ptr<c10d::Store> connect_to_store(const RankInfo& info, Milliseconds limit) {
  FLAGS_caffe2_log_level = c10::GLOG_FATAL;  // c10d prints failures that it also throws
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(info.master_port);
  options.isServer = info.rank == 0 && !info.launcher_serves_store;
  options.waitWorkers = false;
  options.timeout = limit;
  try {
    // Each of torchrun's attempts has keys of its own.
    return c10::make_intrusive<c10d::PrefixStore>(
        join_text("dragoman/", info.attempt),
        c10::make_intrusive<c10d::TCPStore>(info.master_host, options));
  } catch (const std::exception& error) {
    throw Error("rank ", info.rank,
                options.isServer ? " cannot listen at " : " cannot reach rank 0 at ",
                info.master_host, ", port ", info.master_port,
                " (MASTER_ADDR, MASTER_PORT): ", first_line(error));
  }
}

/// The texts of all keys at one moment. Returns nothing if a key has no text within the limit.
std::optional<std::vector<std::string>> get(c10d::Store& store,
                                            const std::vector<std::string>& keys,
                                            Milliseconds limit) {
  std::vector<std::string> texts;
  try {
    store.setTimeout(limit);
    for (const auto& bytes : store.multiGet(keys)) texts.emplace_back(bytes.begin(), bytes.end());
  } catch (const c10::DistStoreError&) {  // the limit was reached
    return std::nullopt;
  }
  return texts;
}

}  // namespace

std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

// ---- tensors ------------------------------------------------------------------------------------

TensorExchange::TensorExchange(c10d::Store& store, const RankInfo& info, const std::string& address,
                               Milliseconds limit) {
  // A connection of its own, because the backends use it in their own threads.
  const auto own = store.clone();
  const auto options = c10d::ProcessGroupGloo::Options::create(limit);
  options->devices = {c10d::ProcessGroupGloo::createDeviceForHostname(address)};
  const auto gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(own, info.rank, info.size, options);
  // Gloo's own limit would count time in which all ranks were suspended.
  gloo->setTimeout(std::chrono::hours(24 * 365));
  gloo_ = gloo;
#ifdef DRAGOMAN_NCCL
  if (torch::cuda::is_available())
    nccl_ = c10::make_intrusive<c10d::ProcessGroupNCCL>(
        c10::make_intrusive<c10d::PrefixStore>("nccl", own), info.rank, info.size);
#endif
}

TensorExchange::~TensorExchange() = default;

void TensorExchange::run(TensorWork work, torch::Tensor& tensor, const std::stop_token& lost) {
  const torch::NoGradGuard no_grad;
  const bool through_cpu = !tensor.is_cpu() && !nccl_;
  const bool on_cpu = tensor.is_cpu() || through_cpu;
  c10d::Backend& backend = on_cpu ? *gloo_ : *nccl_;
  std::vector<at::Tensor> tensors = {through_cpu ? tensor.cpu() : tensor};
  const auto running =
      work == TensorWork::Sum ? backend.allreduce(tensors) : backend.broadcast(tensors);
  // The backends' own wait would never notice that a rank is lost.
  while (!running->isCompleted()) {
    if (lost.stop_requested()) {
      // Gloo's end would wait for its thread, which waits for the lost rank.
      if (on_cpu) static_cast<void>(gloo_.release());
      throw Error("a rank is lost");
    }
    std::this_thread::sleep_for(std::chrono::microseconds(30));
  }
  running->wait();
  if (through_cpu) tensor.copy_(tensors.front());
}

// ---- the rendezvous -----------------------------------------------------------------------------

Rendezvous::Rendezvous(const RankInfo& info, Milliseconds silence)
    : info_(info),
      silence_(silence),
      joining_(10 * silence),
      interval_(std::clamp(silence / 10, Milliseconds(10), Milliseconds(500))),
      size_(static_cast<std::size_t>(info.size)),
      own_(static_cast<std::size_t>(info.rank)),
      ranks_(size_),
      heartbeats_read_(Clock::now()),
      unanswered_(-joining_) {}

// ---- the thread that calls the store ------------------------------------------------------------

void Rendezvous::call_store() {
  try {
    const auto connection = connect_to_store(info_, joining_);
    c10d::Store& store = *connection;
    for (bool stays = meet(store); stays;) {
      hand_over(store);
      if (Clock::now() - heartbeats_read_ >= interval_ && read_heartbeats(store))
        tell_loss(store, complaint(store));
      const MutexLock lock(mutex_);
      stays = loss_.empty() && !leaving_;
    }
    say_goodbye(store);
  } catch (const Error& error) {
    set_loss(error.what());
  } catch (const std::exception&) {
    set_loss(server() + kGone);
  }
  const MutexLock lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

/// Returns false if the ranks do not come or do not fit together; the loss is then known.
bool Rendezvous::meet(c10d::Store& store) {
  const RankIntroduction own = introduction_of_this(info_);
  if (own_ == 0) {
    for (const std::string& heartbeat : keys_of_all(size_, kHeartbeat)) store.set(heartbeat, "0");
    store.set(kLoss, "");
    store.set(kSize, std::to_string(size_));
  }
  answered(joining_);
  const auto found = get(store, {kSize}, joining_);
  if (!found) throw Error(own.name, ": rank 0 has not come within ", seconds(joining_), " s");
  const std::string& size = found->front();
  const std::string first = store.compareSet(key(kIntroduction, own_), "", to_text(own));
  if (size != std::to_string(size_))
    tell_loss(store,
              join_text(own.name, " counts ", counted(static_cast<std::int64_t>(size_), "rank"),
                        ", rank 0 counts ", size, "; start all with the same WORLD_SIZE"));
  else if (first != to_text(own))
    tell_loss(store, join_text("two processes have the same rank: ",
                               introduction_from_text(first).name, " and ", own.name));
  else if (!wait_for_introductions(store))
    tell_loss(store, missing_ranks(store));
  return loss().empty() && connect(store);
}

bool Rendezvous::wait_for_introductions(c10d::Store& store) {
  Time last = Clock::now();
  for (Milliseconds left = joining_; left > Milliseconds(0); left -= awake_since(last)) {
    if (get(store, keys_of_all(size_, kIntroduction), interval_)) return true;
    if (!read_heartbeats(store)) break;
  }
  return false;
}

std::string Rendezvous::missing_ranks(c10d::Store& store) const {
  std::string missing;
  for (std::size_t rank = 0; rank < size_; ++rank)
    if (!get(store, {key(kIntroduction, rank)}, kAtOnce))
      missing += join_text(missing.empty() ? "" : ", ", rank);
  return join_text("of ", size_, " ranks, these have not come within ", seconds(joining_),
                   " s: ", missing,
                   "; start all ranks, with the same WORLD_SIZE, MASTER_ADDR and MASTER_PORT");
}

bool Rendezvous::connect(c10d::Store& store) {
  std::vector<RankIntroduction> known;
  const auto texts = get(store, keys_of_all(size_, kIntroduction), silence_).value();
  for (const std::string& text : texts) known.push_back(introduction_from_text(text));
  {
    const MutexLock lock(mutex_);
    for (std::size_t rank = 0; rank < size_; ++rank) {
      ranks_[rank].name = known[rank].name;
      if (known[rank].machine == known[own_].machine) ranks_[rank].process = known[rank].process;
    }
  }
  try {
    answered(silence_);
    tensors_ = std::make_unique<TensorExchange>(store, info_, reachable_address(known, info_.rank),
                                                silence_);
  } catch (const std::exception& error) {
    tell_loss(store, join_text(name(info_.rank), " cannot reach the others: ", first_line(error)));
    return false;
  }
  read_heartbeats(store);
  const MutexLock lock(mutex_);
  joined_ = true;
  changed_.notify_all();
  return true;
}

/// Exchanges the text of this rank, if there is one, for those of all ranks. Ends in time for the
/// next heartbeat.
void Rendezvous::hand_over(c10d::Store& store) {
  std::string text;
  {
    MutexLock lock(mutex_);
    changed_.wait_for(lock, interval_,
                      [this]() REQUIRES(mutex_) { return text_ || leaving_ || !loss_.empty(); });
    if (!text_) return;
    if (!text_is_posted_) text = *text_;
  }
  if (!text_is_posted_) store.set(key(exchanged(exchanges_), own_), text);
  text_is_posted_ = true;
  auto texts = get(store, keys_of_all(size_, exchanged(exchanges_)), interval_);
  if (!texts) return;
  text_is_posted_ = false;
  {
    const MutexLock lock(mutex_);
    texts_ = std::move(*texts);
    text_.reset();
    changed_.notify_all();
  }
  // All ranks have begun this exchange, so all have read the texts of the one before.
  if (exchanges_ > 0) store.deleteKey(key(exchanged(exchanges_ - 1), own_));
  ++exchanges_;
}

/// Sends this rank's own heartbeat, too. Returns false if a rank has reported a loss.
bool Rendezvous::read_heartbeats(c10d::Store& store) {
  if (ranks_[own_].heartbeat != kLeft)
    store.set(key(kHeartbeat, own_), std::to_string(++heartbeats_));
  auto keys = keys_of_all(size_, kHeartbeat);
  keys.push_back(kLoss);
  const Milliseconds passed = awake_since(heartbeats_read_);
  const auto heartbeats = get(store, keys, silence_).value();
  answered();
  for (std::size_t i = 0; i < size_; ++i) {
    Rank& rank = ranks_[i];
    rank.left = heartbeats[i] == kLeft;
    rank.silence = heartbeats[i] == rank.heartbeat ? rank.silence + passed : Milliseconds(0);
    rank.heartbeat = heartbeats[i];
  }
  set_loss(heartbeats.back());
  return heartbeats.back().empty();
}

/// A text that names the lost rank; empty if none is lost.
std::string Rendezvous::complaint(c10d::Store& store) {
  for (std::size_t i = 0; i < size_; ++i) {
    Rank& rank = ranks_[i];
    if (rank.left) {
      // A rank that has left its text and then ended has done its part in this exchange.
      if (!text_is_posted_ || get(store, {key(exchanged(exchanges_), i)}, kAtOnce)) continue;
      return rank.name + " has ended before this rank";
    }
    if (rank.silence > silence_) return rank.name + silent_for(silence_);
    // The system may report the end of a process a little earlier than the store reports the end of
    // its work.
    if (rank.process_ended) return rank.name + kGone;
    rank.process_ended = !rank.process.empty() && has_ended(rank.process);
  }
  return "";
}

/// Tells the others that this rank leaves. Rank 0 waits until the other living ranks have read
/// that, because they need its store.
void Rendezvous::say_goodbye(c10d::Store& store) {
  MutexLock lock(mutex_);
  const std::string reason = leaving_.value_or("");
  lock.unlock();
  if (!reason.empty()) tell_loss(store, join_text(name(info_.rank), " has stopped: ", reason));
  store.set(key(kHeartbeat, own_), ranks_[own_].heartbeat = kLeft);
  if (own_ != 0) return;
  // A rank that reads of a loss leaves at its next heartbeat, which comes within two intervals.
  const Milliseconds limit = loss().empty() ? silence_ : 3 * interval_;
  do {
    std::this_thread::sleep_for(std::min(interval_, Milliseconds(20)));
    read_heartbeats(store);
  } while (std::any_of(ranks_.begin(), ranks_.end(),
                       [limit](const Rank& rank) { return !rank.left && rank.silence < limit; }));
}

/// The first rank that finds a loss tells the others. An empty text means no loss.
void Rendezvous::tell_loss(c10d::Store& store, const std::string& text) {
  if (!text.empty() && loss().empty()) set_loss(store.compareSet(kLoss, "", text));
}

void Rendezvous::answered(Milliseconds allowance) {
  const MutexLock lock(mutex_);
  unanswered_ = -allowance;
}

// ---- any thread ---------------------------------------------------------------------------------

/// Finds out whether a call hangs.
void Rendezvous::watch(const std::stop_token& stop) {
  Time last = Clock::now();
  MutexLock lock(mutex_);
  while (unanswered_ <= silence_) {
    changed_.wait_for(lock, stop, interval_, [] { return false; });
    if (finished_ || stop.stop_requested()) return;
    unanswered_ += awake_since(last);
  }
  hangs_ = true;
  lock.unlock();
  changed_.notify_all();
  set_loss(server() + silent_for(silence_));
}

void Rendezvous::set_loss(const std::string& text) {
  MutexLock lock(mutex_);
  if (text.empty() || !loss_.empty()) return;
  loss_ = text;
  lock.unlock();
  lost_.request_stop();
  changed_.notify_all();
}

std::string Rendezvous::loss() {
  const MutexLock lock(mutex_);
  return loss_;
}

std::string Rendezvous::server() {
  const MutexLock lock(mutex_);
  if (!info_.launcher_serves_store && !ranks_[0].name.empty()) return ranks_[0].name;
  return join_text("rank ", info_.rank, ": the store at ", info_.master_host, ", port ",
                   info_.master_port, " (MASTER_ADDR, MASTER_PORT)");
}

/// Counts only the time that this process was awake: ranks that were all stopped, as by a suspended
/// job, continue together.
Milliseconds Rendezvous::awake_since(Time& last) const {
  const Time now = Clock::now();
  const auto passed = std::chrono::duration_cast<Milliseconds>(now - std::exchange(last, now));
  return std::min(passed, 2 * interval_);
}

void Rendezvous::join() {
  const auto self = shared_from_this();
  calls_ = std::thread([self] { self->call_store(); });
  watch_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  MutexLock lock(mutex_);
  while (!joined_ && loss_.empty()) changed_.wait(lock);
  if (joined_) return;
  lock.unlock();
  leave("");
  throw Error(loss());
}

std::vector<std::string> Rendezvous::exchange(const std::string& text) {
  MutexLock lock(mutex_);
  if (!loss_.empty()) throw Error(loss_);
  text_ = text;
  changed_.notify_all();
  while (text_ && loss_.empty() && !leaving_) changed_.wait(lock);
  if (text_) throw Error(loss_.empty() ? "this rank leaves" : loss_);
  return std::move(texts_);
}

void Rendezvous::throw_loss(const std::string& symptom) {
  MutexLock lock(mutex_);
  changed_.wait_for(lock, 2 * silence_, [this]() REQUIRES(mutex_) { return !loss_.empty(); });
  throw Error(loss_.empty() ? symptom : loss_);
}

void Rendezvous::leave(const std::string& reason) {
  if (!calls_.joinable()) return;
  MutexLock lock(mutex_);
  leaving_ = reason;
  changed_.notify_all();
  lock.unlock();
  lost_.request_stop();  // ends a wait for a device
  lock.lock();
  while (!finished_ && !hangs_) changed_.wait(lock);
  const bool finished = finished_;
  lock.unlock();
  if (finished)
    calls_.join();
  else
    calls_.detach();
  watch_ = {};
}

}  // namespace dragoman
