// What several processes that train together do together: sums and copies of tensors over c10d,
// texts and numbers over RankBoard. One process is rank 0 of 1, and all of this is nothing.
//
// All ranks make the same calls in the same order. Each throws Error, on every rank that is left,
// where a rank has died, hangs or has given up: it says which one.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "training/ranks/rank_place.h"

namespace dragoman {

class Communicator {
 public:
  /// Waits until all ranks have come, ten times as long as `silence_seconds`, after which a rank
  /// without a sign of life counts as hung. Throws Error where they do not.
  Communicator(const RankPlace& place, double silence_seconds);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();

  const RankPlace& place() const { return place_; }
  int rank() const { return place_.rank; }
  int size() const { return place_.size; }
  /// Rank 0 leads: it alone reads checkpoints, validates and writes.
  bool leads() const { return place_.rank == 0; }
  std::string name(int rank) const;  ///< "rank 1 (host b, process 4711)"

  /// In place, over all ranks; numbers in the order of the ranks, the same bits on all.
  void sum(torch::Tensor& tensor);
  void sum(std::span<double> numbers);
  /// Rank 0's.
  void broadcast(torch::Tensor& tensor);
  std::string broadcast(const std::string& text);
  /// Of all ranks, to all, in their order.
  std::vector<std::string> gather(const std::string& text);
  std::vector<std::int64_t> gather(const std::vector<std::int64_t>& numbers);
  void wait_for_all() { gather(std::string()); }

  /// Requested when `stop` is, and when a rank is lost.
  std::stop_token stop_token(std::stop_token stop);
  /// Tells the others that this rank cannot go on, and why.
  void give_up(const std::string& reason);

 private:
  struct Group;

  RankPlace place_;
  std::unique_ptr<Group> group_;  ///< none where this process is alone
};

}  // namespace dragoman
