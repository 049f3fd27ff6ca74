// Ranks that train together must have the same configuration, version and text.
#pragma once

#include <string>
#include <vector>

#include "training/ranks/communicator.h"

namespace dragoman {

/// A fact that must be the same on all ranks: {"--lr", "0.005"}.
struct CommonFact {
  std::string name, value;
};
using CommonFacts = std::vector<CommonFact>;

/// A text, the same on all ranks, about the first rank that differs from rank 0 and the first fact
/// in which it differs. Empty where no rank differs. All ranks give the same names of facts in the
/// same order. "rank 1 (host b, process 7): --lr is '0.1', on rank 0 it is '0.005'".
std::string find_disagreement(Communicator& ranks, const CommonFacts& facts);

}  // namespace dragoman
