// What holds ranks together: each has a connection to rank 0, on which it gives signs of life and
// hands texts to the others. A rank that dies, hangs or gives up is found by rank 0 (rank 0 by
// all), named, and told to all.
//
// A rank may work alone for as long as it likes, on a validation, say: a thread gives its signs of
// life. Only a stopped process, a dead machine or a cut network is silent.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "training/rank_place.h"
#include "training/rank_socket.h"

namespace dragoman {

class RankLinks {
 public:
  struct Limits {
    Milliseconds silence;  ///< without a sign of life a rank counts as lost
    Milliseconds joining;  ///< until all ranks must have come
  };
  /// How the others learn where rank 0 listens.
  struct NoticeBoard {
    std::function<void(const std::string&)> post;
    std::function<std::string()> read;
  };

  /// Waits until all ranks have come. Throws Error naming those that have not, or do not fit.
  RankLinks(const RankPlace& place, Limits limits, const NoticeBoard& board);
  RankLinks(const RankLinks&) = delete;
  RankLinks& operator=(const RankLinks&) = delete;
  /// The others are told that this rank has done its work, unless it has given up.
  ~RankLinks();

  /// The address of this machine that the other ranks reach.
  const std::string& address() const { return address_; }
  /// "rank 1 (host b, process 4711)".
  const std::string& name(int rank) const { return names_[static_cast<std::size_t>(rank)]; }

  /// Hands `text` to all ranks and returns those of all, by rank; all call it the same number of
  /// times. Throws Error where a rank is lost.
  std::vector<std::string> exchange(const std::string& text);
  /// Requested when a rank is lost.
  std::stop_token lost() const { return lost_.get_token(); }
  /// Throws Error saying which rank is lost; waits for that to be found. `symptom`: what is said
  /// where none is found.
  [[noreturn]] void throw_loss(const std::string& symptom);
  /// Tells the others that this rank cannot go on.
  void give_up(const std::string& reason);

 private:
  struct Link;

  void gather_ranks(const NoticeBoard& board);
  void admit(RankSocket socket, int rank, int size, const std::string& name);
  std::string missing_ranks() const;
  void join_rank_0(const NoticeBoard& board);
  void welcome_all();
  void watch(const std::stop_token& stop);
  void take_messages(Link& link);
  void take(Link& link, RankMessage& message);
  void check_silence(Milliseconds passed);
  void lose(const std::string& text);
  std::string next_text(Link& link);

  RankPlace place_;
  Limits limits_;
  std::string address_;
  std::vector<std::string> names_;            ///< [size]
  std::vector<std::unique_ptr<Link>> links_;  ///< of rank 0: to ranks 1, 2, ...; else: to rank 0

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string loss_;  ///< guarded, as the links' texts and states
  bool given_up_ = false;
  std::stop_source lost_;
  int wake_ = -1;  ///< wakes the watching thread
  std::jthread thread_;
};

}  // namespace dragoman
