#include "training/rank_agreement.h"

#include <vector>

#include "base/error.h"
#include "training/rank_socket.h"

namespace dragoman {

std::string find_disagreement(Communicator& ranks, const CommonFacts& facts) {
  std::vector<std::string> values;
  for (const CommonFact& fact : facts) values.push_back(fact.value);
  const auto of_ranks = ranks.gather(pack_texts(values));
  const auto first = unpack_texts(of_ranks.front());
  for (int rank = 1; rank < ranks.size(); ++rank) {
    const auto theirs = unpack_texts(of_ranks[static_cast<std::size_t>(rank)]);
    for (std::size_t i = 0; i < facts.size(); ++i)
      if (theirs.at(i) != first.at(i))
        return join_text(ranks.name(rank), ": ", facts[i].name, " is '", theirs[i],
                         "', on rank 0 it is '", first[i], "'");
  }
  return "";
}

}  // namespace dragoman
