#include "tokenizer/sentence_pairs.h"

#include "tokenizer/sentence_splitter.h"

namespace dragoman {

std::vector<std::pair<std::string_view, std::string_view>> pairs_of_sentences(
    std::string_view source, std::string_view target) {
  const auto sources = split_sentences(source), targets = split_sentences(target);
  if (sources.size() != targets.size() || sources.size() < 2) return {{source, target}};
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  for (std::size_t i = 0; i < sources.size(); ++i) pairs.emplace_back(sources[i], targets[i]);
  return pairs;
}

}  // namespace dragoman
