// What ranks tell each other of themselves when they meet.
#pragma once

#include <string>
#include <vector>

#include "training/ranks/rank_place.h"

namespace dragoman {

struct RankIntroduction {
  std::string name;     ///< "rank 1 (host b, process 4711)"
  std::string machine;  ///< the same for all that see the same processes
  std::string process;
  std::string address;  ///< numeric, of the interface that leads to rank 0
  std::string rank_0;   ///< numeric, of rank 0 as this rank knows it
};

/// Throws Error where the name of rank 0's host leads to no address.
RankIntroduction introduction_of_this(const RankPlace& place);
std::string to_text(const RankIntroduction& introduction);
RankIntroduction introduction_from_text(const std::string& text);

/// The address by which the other ranks reach this one. A loopback serves only as long as all ranks
/// are on one machine; else rank 0's machine is what the others call it.
std::string reachable_address(const std::vector<RankIntroduction>& ranks, int rank);

/// Of a process of this machine.
bool has_ended(const std::string& process);

}  // namespace dragoman
