#include "training/ranks/communicator.h"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <future>
#include <optional>
#include <utility>

#include "base/error.h"
#include "training/ranks/rendezvous.h"

namespace dragoman {

// ---- sums in the background ---------------------------------------------------------------------

/// Sums of tensors over the ranks, made one after the other, each on a thread of its own, while the
/// caller computes on.
class BackgroundSums {
 public:
  /// `sum` sums a tensor in place over all ranks, and waits for that.
  explicit BackgroundSums(std::function<void(torch::Tensor&)> sum) : sum_(std::move(sum)) {}

  /// On a device other than the CPU a sum waits for the work that the caller has given its stream
  /// so far, and for no later work.
  void begin(const torch::Tensor& tensor) {
    std::optional<c10::Event> computed;  // none on the CPU
    if (!tensor.is_cpu()) {
      const c10::impl::VirtualGuardImpl device(tensor.device().type());
      computed.emplace(tensor.device().type());
      computed->record(device.getStream(tensor.device()));
    }
    last_ = std::async(std::launch::async, [this, tensor = tensor, computed = std::move(computed),
                                            before = std::move(last_)]() mutable {
      if (before.valid()) before.get();
      sum(tensor, computed);
    });
  }
  /// Waits for all sums. If one has failed, the others are left out and its exception is thrown.
  void finish() {
    if (last_.valid()) last_.get();
  }

 private:
  void sum(torch::Tensor& tensor, const std::optional<c10::Event>& computed) {
    if (!computed) return sum_(tensor);
    computed->synchronize();  // first: all ranks then send at about the same time
    if (!stream_)
      stream_ = c10::impl::VirtualGuardImpl(tensor.device().type())
                    .getStreamFromGlobalPool(tensor.device());
    const c10::StreamGuard guard(*stream_);
    sum_(tensor);
    stream_->synchronize();
  }

  const std::function<void(torch::Tensor&)> sum_;
  std::optional<c10::Stream> stream_;  // of the sums, on another device than the CPU
  std::future<void> last_;  // last member: its end waits for the sums, which use the others
};

// ---- the group ----------------------------------------------------------------------------------

struct Communicator::Group {
  std::shared_ptr<Rendezvous> rendezvous;
  BackgroundSums sums{[this](torch::Tensor& tensor) { run(TensorWork::Sum, tensor); }};
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
            "the ranks' computations have diverged: ", rendezvous->name(static_cast<int>(rank)),
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
  if (group_) group_->sums.begin(tensor);
}

void Communicator::finish_sums() {
  if (group_) group_->sums.finish();
}

void Communicator::broadcast(torch::Tensor& tensor) {
  if (group_) group_->run(TensorWork::CopyOfRank0, tensor);
}

/// Sends bytes over c10d, because the text may be longer than the rendezvous allows.
std::string Communicator::broadcast(const std::string& text) {
  std::string bytes = text;
  bytes.resize(std::stoull(gather(std::to_string(text.size())).front()));
  if (bytes.empty()) return bytes;
  auto tensor = torch::from_blob(bytes.data(), std::ssize(bytes), torch::kUInt8);
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
