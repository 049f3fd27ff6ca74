#include "training/ranks/rank_agreement.h"

#include "base/error.h"

namespace dragoman {

std::string find_disagreement(Communicator& ranks, const CommonFacts& facts) {
  for (const CommonFact& fact : facts) {
    const auto values = ranks.gather(fact.value);
    for (int rank = 1; rank < ranks.size(); ++rank)
      if (const std::string& theirs = values[static_cast<std::size_t>(rank)];
          theirs != values.front())
        return join_text(ranks.name(rank), ": ", fact.name, " is '", theirs, "', on rank 0 it is '",
                         values.front(), "'");
  }
  return "";
}

}  // namespace dragoman
