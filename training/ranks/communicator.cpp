#include "training/ranks/communicator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/error.h"
#include "training/ranks/background_sums.h"
#include "training/ranks/rendezvous.h"

namespace dragoman {

struct Communicator::Group {
  std::shared_ptr<Rendezvous> rendezvous;
  std::unique_ptr<BackgroundSums> sums;
  std::stop_source stop;
  using Callback = std::stop_callback<std::function<void()>>;
  std::optional<Callback> by_signal, by_loss;

  /// The texts of all ranks. `call` names this rank's step; all must be at the same. Processors of
  /// different kinds round a number differently, and a decision may depend on the last digit.
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

/// Sends bytes over c10d, as the text may be longer than the rendezvous allows.
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

}  // namespace dragoman
