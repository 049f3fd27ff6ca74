#include "training/ranks/communicator.h"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/mutex.h"
#include "training/ranks/rendezvous.h"

namespace dragoman {

// ---- sums in the background ---------------------------------------------------------------------

/// Sums of tensors over the ranks, made on a thread of their own while the caller computes on.
class BackgroundSums {
 public:
  /// `sum` sums a tensor in place over all ranks, and waits for that.
  explicit BackgroundSums(std::function<void(torch::Tensor&)> sum);
  BackgroundSums(const BackgroundSums&) = delete;
  BackgroundSums& operator=(const BackgroundSums&) = delete;
  /// Waits for the sum under way, and forgets the others.
  ~BackgroundSums() = default;

  /// Sums are made one after the other. On a device other than the CPU a sum waits for the work
  /// that the caller has given its stream so far, and for no later work.
  void begin(const torch::Tensor& tensor);
  /// Waits for all sums. If one has failed, the others are left out and its exception is thrown.
  void finish();

 private:
  struct Summand {
    torch::Tensor tensor;
    std::optional<c10::Event> computed;  ///< none on the CPU
  };
  void work(const std::stop_token& stop);
  void sum(Summand& summand);

  const std::function<void(torch::Tensor&)> sum_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Summand> waiting_ GUARDED_BY(mutex_);
  bool is_summing_ GUARDED_BY(mutex_) = false;
  std::exception_ptr failure_ GUARDED_BY(mutex_);
  std::optional<c10::Stream> stream_;  // of the thread, on another device than the CPU
  std::jthread thread_;                // last: it uses the members above
};

BackgroundSums::BackgroundSums(std::function<void(torch::Tensor&)> sum)
    : sum_(std::move(sum)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

void BackgroundSums::begin(const torch::Tensor& tensor) {
  Summand summand{tensor, {}};
  if (!tensor.is_cpu()) {
    const c10::impl::VirtualGuardImpl device(tensor.device().type());
    summand.computed.emplace(tensor.device().type());
    summand.computed->record(device.getStream(tensor.device()));
  }
  const MutexLock lock(mutex_);
  waiting_.push_back(std::move(summand));
  changed_.notify_all();
}

void BackgroundSums::finish() {
  MutexLock lock(mutex_);
  while (is_summing_ || !waiting_.empty()) changed_.wait(lock);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void BackgroundSums::work(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  for (;;) {
    changed_.wait(lock, stop, [this]() REQUIRES(mutex_) { return !waiting_.empty(); });
    if (stop.stop_requested()) return;
    Summand summand = std::move(waiting_.front());
    waiting_.pop_front();
    if (!failure_) {
      is_summing_ = true;
      lock.unlock();
      std::exception_ptr failure;
      try {
        sum(summand);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      is_summing_ = false;
      failure_ = failure;
    }
    changed_.notify_all();
  }
}

void BackgroundSums::sum(Summand& summand) {
  if (!summand.computed) return sum_(summand.tensor);
  summand.computed->synchronize();  // first: all ranks then send at about the same time
  if (!stream_) {
    const torch::Device where = summand.tensor.device();
    stream_ = c10::impl::VirtualGuardImpl(where.type()).getStreamFromGlobalPool(where);
  }
  const c10::StreamGuard guard(*stream_);
  sum_(summand.tensor);
  stream_->synchronize();
}

// ---- the group ----------------------------------------------------------------------------------

struct Communicator::Group {
  std::shared_ptr<Rendezvous> rendezvous;
  std::unique_ptr<BackgroundSums> sums;
  std::stop_source stop;
  using Callback = std::stop_callback<std::function<void()>>;
  std::optional<Callback> by_signal, by_loss;

  /// The texts of all ranks. `call` names this rank's step, and all must be at the same step. They
  /// may not be: processors of different kinds round a number differently, and a decision may
  /// depend on the last digit.
  std::vector<std::string> exchange(const std::string& call, const std::string& text) {
    const std::string head = call + "\n";
    auto texts = rendezvous->exchange(head + text);
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
      if (!texts[rank].starts_with(head))
        throw Error(
            "the ranks' computations have parted: ", rendezvous->name(static_cast<int>(rank)),
            " is at another step than this one; use hosts of one kind, or "
            "--spike-factor 0");
      texts[rank].erase(0, head.size());
    }
    return texts;
  }

  /// Runs when all ranks have come. A failure then means that a rank is lost; the rendezvous knows
  /// which one.
  void run(TensorWork work, torch::Tensor& tensor) {
    exchange(work == TensorWork::Sum ? "sum of tensors" : "copy of a tensor", "");
    try {
      rendezvous->tensors().run(work, tensor, rendezvous->lost());
    } catch (const std::exception& error) {
      rendezvous->throw_loss("the exchange with the other ranks has failed: " + first_line(error));
    }
  }
};

Communicator::Communicator(const RankInfo& info, double silence_seconds) : info_(info) {
  if (info.size == 1) return;
  const Milliseconds silence(std::llround(1000 * silence_seconds));
  group_ = std::make_unique<Group>();
  group_->rendezvous = std::make_shared<Rendezvous>(info, silence);
  group_->rendezvous->join();
  group_->sums = std::make_unique<BackgroundSums>(
      [group = group_.get()](torch::Tensor& tensor) { group->run(TensorWork::Sum, tensor); });
}

Communicator::~Communicator() {
  if (group_) group_->rendezvous->leave("");
}

std::string Communicator::name(int rank) const {
  return group_ ? group_->rendezvous->name(rank) : "rank 0";
}

void Communicator::sum(torch::Tensor& tensor) {
  if (group_) group_->run(TensorWork::Sum, tensor);
}

void Communicator::sum(std::span<double> numbers) {
  if (!group_) return;
  const std::string bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
  const auto texts = group_->exchange(join_text("sum of ", numbers.size(), " numbers"), bytes);
  std::fill(numbers.begin(), numbers.end(), 0.0);
  std::vector<double> theirs(numbers.size());
  for (const std::string& text : texts) {
    std::memcpy(theirs.data(), text.data(), numbers.size_bytes());
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += theirs[i];
  }
}

void Communicator::begin_sum(const torch::Tensor& tensor) {
  if (group_) group_->sums->begin(tensor);
}

void Communicator::finish_sums() {
  if (group_) group_->sums->finish();
}

void Communicator::broadcast(torch::Tensor& tensor) {
  if (group_) group_->run(TensorWork::CopyOfRank0, tensor);
}

/// Sends bytes over c10d, because the text may be longer than the rendezvous allows.
std::string Communicator::broadcast(const std::string& text) {
  std::string bytes = text;
  bytes.resize(std::stoull(gather(std::to_string(text.size())).front()));
  if (bytes.empty()) return bytes;
  auto tensor =
      torch::from_blob(bytes.data(), static_cast<std::int64_t>(bytes.size()), torch::kUInt8);
  broadcast(tensor);
  return bytes;
}

std::vector<std::string> Communicator::gather(const std::string& text) {
  if (!group_) return {text};
  return group_->exchange("gather texts", text);
}

std::vector<std::int64_t> Communicator::gather(const std::vector<std::int64_t>& numbers) {
  if (!group_) return numbers;
  const std::string own(reinterpret_cast<const char*>(numbers.data()),
                        numbers.size() * sizeof numbers[0]);
  std::string bytes;
  for (const std::string& text : group_->exchange("gather numbers", own)) bytes += text;
  std::vector<std::int64_t> all(bytes.size() / sizeof numbers[0]);
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

std::stop_token Communicator::stop_token(std::stop_token stop) {
  if (!group_) return stop;
  const auto request = [group = group_.get()] { group->stop.request_stop(); };
  group_->by_signal.emplace(std::move(stop), request);
  group_->by_loss.emplace(group_->rendezvous->lost(), request);
  return group_->stop.get_token();
}

void Communicator::give_up(const std::string& reason) {
  if (group_) group_->rendezvous->leave(reason);
}

std::string find_disagreement(Communicator& ranks, const CommonFacts& facts) {
  for (const CommonFact& fact : facts) {
    const auto values = ranks.gather(fact.value);
    for (int rank = 1; rank < ranks.size(); ++rank)
      if (const std::string& theirs = values[static_cast<std::size_t>(rank)];
          theirs != values.front())
        return join_text(ranks.name(rank), ": ", fact.name, " is '", theirs, "', on rank 0 it is '",
                         values.front(), "'");
  }
  return "";
}

}  // namespace dragoman
