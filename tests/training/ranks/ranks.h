// Several ranks as threads of one test.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "training/ranks/rank_info.h"

namespace dragoman {

/// Runs work(rank) of all ranks at the same time; returns what each has thrown, or "".
inline std::vector<std::string> run_ranks(int size, const std::function<void(int rank)>& work) {
  std::vector<std::string> errors(static_cast<std::size_t>(size));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        work(rank);
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  threads.clear();
  return errors;
}

inline RankInfo info_on_loopback(int rank, int size, int port) {
  RankInfo info;
  info.rank = info.local_rank = rank;
  info.size = info.local_size = size;
  info.master_host = "127.0.0.1";
  info.master_port = port;
  return info;
}

}  // namespace dragoman
