#include "inference/line_scores.h"

#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/threads.h"
#include "base/utf8.h"
#include "tokenizer/sentence_pairs.h"

namespace dragoman {

std::vector<std::vector<SentencePair>> pairs_of_lines(const TokenizerPair& tokenizers,
                                                      std::span<const std::string> sources,
                                                      std::span<const std::string> targets,
                                                      const Pairing& pairing) {
  using TextPair = std::pair<std::string_view, std::string_view>;
  std::vector<std::vector<SentencePair>> lines(sources.size());
  parallel_for(std::ssize(lines), pairing.threads, [&](std::int64_t i) {
    const auto line = static_cast<std::size_t>(i);
    const std::string_view source = strip(sources[line]), target = strip(targets[line]);
    const std::vector<TextPair> texts = pairing.by_sentence
                                            ? pairs_of_sentences(source, target)
                                            : std::vector<TextPair>{{source, target}};
    for (const auto& [text, translation] : texts)
      lines[line].push_back(
          {tokenizers.source_tokens(text), tokenizers.target_tokens(translation)});
  });
  return lines;
}

std::vector<std::vector<float>> scores_of_lines(std::vector<std::vector<SentencePair>> lines,
                                                const PairScorer& scorer,
                                                const std::stop_token& stop) {
  std::vector<SentencePair> pairs;
  for (auto& line : lines)
    pairs.insert(pairs.end(), std::move_iterator(line.begin()), std::move_iterator(line.end()));
  const std::vector<std::vector<float>> of_pairs = scorer(pairs, stop);
  std::vector<std::vector<float>> scores;
  auto next = of_pairs.begin();
  for (const auto& line : lines) {
    std::vector<float>& of_line = scores.emplace_back();
    for (std::size_t i = 0; i < line.size(); ++i, ++next)
      of_line.insert(of_line.end(), next->begin(), next->end());
  }
  return scores;
}

}  // namespace dragoman
