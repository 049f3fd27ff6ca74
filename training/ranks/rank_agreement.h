// Ranks that train together must agree in what makes the run: configuration, version, text.
#pragma once

#include <string>
#include <vector>

#include "training/ranks/communicator.h"

namespace dragoman {

/// What all ranks must have in common: {"--lr", "0.005"}.
struct CommonFact {
  std::string name, value;
};
using CommonFacts = std::vector<CommonFact>;

/// The same text on all ranks: which rank differs from rank 0, and in what first; empty where none
/// does. All ranks name the same facts in the same order.
/// "rank 1 (host b, process 7): --lr is '0.1', on rank 0 it is '0.005'".
std::string find_disagreement(Communicator& ranks, const CommonFacts& facts);

}  // namespace dragoman
