// The place where ranks meet: a store in which each rank counts up its heartbeats, leaves texts for
// the others, and says why it stops. The first rank that misses another tells all ranks its name.
//
// A thread sends the heartbeats, so a rank may work alone for as long as it likes, on a validation,
// say. Only a stopped process, a dead machine or a cut network is silent. A call to a store whose
// server hangs never returns, so that thread makes all calls to the store. A second thread counts
// how long the store has not answered, and then names rank 0, which has the store. Tensors go over
// c10d's backends.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "training/ranks/rank_info.h"

namespace at {
class Tensor;
}
namespace c10d {
class Store;
class Backend;
}  // namespace c10d

namespace dragoman {

using Milliseconds = std::chrono::milliseconds;

/// The first line of LibTorch's message.
std::string first_line(const std::exception& error);

enum class TensorWork { Sum, CopyOfRank0 };

/// Gloo on the CPU, NCCL on CUDA if LibTorch has it.
class TensorExchange {
 public:
  /// `address` is the one by which the others reach this rank. `limit` is that of the connection.
  TensorExchange(c10d::Store& store, const RankInfo& info, const std::string& address,
                 Milliseconds limit);
  TensorExchange(const TensorExchange&) = delete;
  TensorExchange& operator=(const TensorExchange&) = delete;
  ~TensorExchange();

  /// Works in place. All ranks call it at the same time. `lost` ends it. Throws std::exception on
  /// failure, and is not called again after that.
  void run(TensorWork work, at::Tensor& tensor, const std::stop_token& lost);

 private:
  c10::intrusive_ptr<c10d::Backend> gloo_, nccl_;
};

/// The object is shared with its thread, because a thread that hangs in a call outlives its owner.
class Rendezvous : public std::enable_shared_from_this<Rendezvous> {
 public:
  /// A rank without a heartbeat for `silence` counts as lost.
  Rendezvous(const RankInfo& info, Milliseconds silence);

  /// Waits until all ranks have come, ten times `silence` at most. Throws Error naming the ranks
  /// that have not come or do not fit.
  void join();
  /// Call it once, after join(). Tells the others that this rank has done its work (empty
  /// reason) or cannot continue. Rank 0 waits until the others have read it, because they need
  /// its store.
  void leave(const std::string& reason);

  /// "rank 1 (host b, process 4711)".
  const std::string& name(int rank) const { return ranks_[static_cast<std::size_t>(rank)].name; }
  TensorExchange& tensors() { return *tensors_; }
  /// Hands `text` (at most 8 MiB) to all ranks and returns the texts of all, by rank. All ranks
  /// call it the same number of times. Throws Error if a rank is lost, or this one leaves.
  std::vector<std::string> exchange(const std::string& text);
  /// Requested when a rank is lost, or this one leaves.
  std::stop_token lost() const { return lost_.get_token(); }
  /// Waits until it is known which rank is lost, and throws Error naming it. If no rank is
  /// found, the message is `symptom`.
  [[noreturn]] void throw_loss(const std::string& symptom);

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Rank {
    std::string name, process;  ///< `process` is empty for a rank of another machine
    std::string heartbeat;
    Milliseconds silence{0};
    bool left = false, process_ended = false;
  };

  // The thread that calls the store.
  void call_store();
  bool meet(c10d::Store& store);
  bool wait_for_introductions(c10d::Store& store);
  std::string missing_ranks(c10d::Store& store) const;
  bool connect(c10d::Store& store);
  void hand_over(c10d::Store& store);
  bool read_heartbeats(c10d::Store& store);
  std::string complaint(c10d::Store& store);
  void say_goodbye(c10d::Store& store);
  void tell_loss(c10d::Store& store, const std::string& text);
  void answered(Milliseconds allowance = Milliseconds(0));

  // Any thread.
  void watch(const std::stop_token& stop);
  void set_loss(const std::string& text);
  std::string loss();
  std::string server();
  Milliseconds awake_since(Time& last) const;

  const RankInfo info_;
  const Milliseconds silence_, joining_;  ///< limits: of a silent rank, and of the start
  const Milliseconds interval_;           ///< between heartbeats
  const std::size_t size_, own_;

  // Used by the thread that calls the store. Names and tensors do not change after all have joined.
  std::vector<Rank> ranks_;  ///< [size]
  std::unique_ptr<TensorExchange> tensors_;
  Time heartbeats_read_;
  std::int64_t heartbeats_ = 0, exchanges_ = 0;
  bool text_is_posted_ = false;

  Mutex mutex_;
  std::condition_variable_any changed_;
  bool joined_ GUARDED_BY(mutex_) = false;
  bool finished_ GUARDED_BY(mutex_) = false, hangs_ GUARDED_BY(mutex_) = false;
  std::optional<std::string> leaving_ GUARDED_BY(mutex_);  ///< and why: empty if all work is done
  std::string loss_ GUARDED_BY(mutex_);                    ///< names the lost rank
  std::optional<std::string> text_ GUARDED_BY(mutex_);     ///< to be handed over
  std::vector<std::string> texts_ GUARDED_BY(mutex_);      ///< of all ranks
  /// Since the store's last answer; below zero: an allowance.
  Milliseconds unanswered_ GUARDED_BY(mutex_);

  std::stop_source lost_;
  std::thread calls_;
  std::jthread watch_;
};

}  // namespace dragoman
