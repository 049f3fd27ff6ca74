// Facts about a rank, which the ranks exchange when they meet.
#pragma once

#include <string>
#include <vector>

#include "training/ranks/rank_info.h"

namespace dragoman {

struct RankIntroduction {
  std::string name;     ///< "rank 1 (host b, process 4711)"
  std::string machine;  ///< the same for all ranks that see the same processes
  std::string process;
  std::string address;  ///< numeric, of the interface that leads to rank 0
  std::string rank_0;   ///< numeric, of rank 0 as this rank knows it
};

/// Throws Error where the name of rank 0's host leads to no address.
RankIntroduction introduction_of_this(const RankInfo& info);
std::string to_text(const RankIntroduction& introduction);
RankIntroduction introduction_from_text(const std::string& text);

/// The address by which the other ranks reach this one. A loopback address serves only if all ranks
/// are on one machine; otherwise a rank on rank 0's machine has the address by which the others
/// know rank 0.
std::string reachable_address(const std::vector<RankIntroduction>& ranks, int rank);

/// Whether a process of this machine has ended.
bool has_ended(const std::string& process);

}  // namespace dragoman
