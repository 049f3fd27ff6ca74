// The ranks' use of c10d, which no other file includes: its TCPStore, where all ranks read and
// write texts under keys, and its sums and copies of tensors.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

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

/// A connection to the store, for one thread. Rank 0 serves the store, unless torchrun does. Calls
/// throw std::exception if the server is gone, and never return if it hangs.
class RankStore {
 public:
  /// Waits for the server, `limit` at most. Throws Error if there is none.
  RankStore(const RankInfo& info, Milliseconds limit);
  RankStore(const RankStore&) = delete;
  RankStore& operator=(const RankStore&) = delete;
  ~RankStore();

  /// `text` has at most 8 MiB.
  void set(const std::string& key, const std::string& text);
  /// Stores `text` unless the key has a text, and returns the key's text.
  std::string set_first(const std::string& key, const std::string& text);
  void remove(const std::string& key);
  /// The texts of all keys at one moment. Returns nothing if a key has no text within the limit.
  std::optional<std::vector<std::string>> get(const std::vector<std::string>& keys,
                                              Milliseconds limit);

 private:
  friend class TensorExchange;

  c10::intrusive_ptr<c10d::Store> store_;
};

enum class TensorWork { Sum, CopyOfRank0 };

/// Gloo on the CPU, NCCL on CUDA if LibTorch has it.
class TensorExchange {
 public:
  /// `address` is the one by which the others reach this rank. `limit` is that of a transfer.
  TensorExchange(const RankStore& store, const RankInfo& info, const std::string& address,
                 Milliseconds limit);
  TensorExchange(const TensorExchange&) = delete;
  TensorExchange& operator=(const TensorExchange&) = delete;
  ~TensorExchange();

  /// Works in place. All ranks call it at the same time. `lost` ends the wait for a device. Throws
  /// std::exception on failure.
  void run(TensorWork work, at::Tensor& tensor, const std::stop_token& lost);

 private:
  c10::intrusive_ptr<c10d::Backend> gloo_, nccl_;
};

}  // namespace dragoman
