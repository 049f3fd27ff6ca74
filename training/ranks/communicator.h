// The communication of processes that train together: sums and copies of tensors over c10d, texts
// and numbers over Rendezvous. A single process is rank 0 of 1, and no call communicates.
//
// All ranks make the same calls in the same order. If two ranks make different calls, both calls
// throw Error. If a rank has died, hangs or has given up, each call throws Error on every remaining
// rank, and the message names the lost rank.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "training/ranks/rank_info.h"

namespace dragoman {

class Communicator {
 public:
  /// Waits until all ranks have come, and throws Error if they do not come within ten times
  /// `silence_seconds`. Later a rank without a heartbeat for `silence_seconds` counts as hung.
  Communicator(const RankInfo& info, double silence_seconds);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();

  const RankInfo& info() const { return info_; }
  int rank() const { return info_.rank; }
  int size() const { return info_.size; }
  /// Rank 0 leads: it alone reads checkpoints, validates and writes.
  bool leads() const { return info_.rank == 0; }
  std::string name(int rank) const;  ///< "rank 1 (host b, process 4711)"

  /// Sums in place over all ranks. Numbers are added in the order of the ranks, so all ranks have
  /// the same bits.
  void sum(torch::Tensor& tensor);
  void sum(std::span<double> numbers);
  /// Begins to sum a tensor in place, on another thread, after the sums begun before. All ranks
  /// begin the same sums in the same order, and call finish_sums() before any other function.
  void begin_sum(const torch::Tensor& tensor);
  /// Waits for the sums that were begun.
  void finish_sums();
  /// Copies rank 0's tensor to all ranks.
  void broadcast(torch::Tensor& tensor);
  std::string broadcast(const std::string& text);
  /// The texts of all ranks, in the order of the ranks, on every rank. Each has at most 8 MiB.
  /// Numbers are concatenated in the order of the ranks.
  std::vector<std::string> gather(const std::string& text);
  std::vector<std::int64_t> gather(const std::vector<std::int64_t>& numbers);
  void wait_for_all() { gather(std::string()); }

  /// A token whose stop is requested when that of `stop` is, or when a rank is lost.
  std::stop_token stop_token(std::stop_token stop);
  /// Tells the others that this rank cannot continue, and why.
  void give_up(const std::string& reason);

 private:
  struct Group;

  RankInfo info_;
  std::unique_ptr<Group> group_;  ///< none if this process is alone
};

/// A fact that must be the same on all ranks that train together: {"--lr", "0.005"}.
struct CommonFact {
  std::string name, value;
};
using CommonFacts = std::vector<CommonFact>;

/// A text, the same on all ranks, about the first fact in which a rank differs from rank 0, and the
/// first such rank; empty if none differs. All ranks give the same names of facts in the same
/// order. "rank 1 (host b, process 7): --lr is '0.1', on rank 0 it is '0.005'".
std::string find_disagreement(Communicator& ranks, const CommonFacts& facts);

}  // namespace dragoman
