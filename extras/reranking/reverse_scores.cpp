#include "extras/reranking/reverse_scores.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace dragoman {

std::int64_t add_reverse_scores(std::span<TranslationList> lines,
                                std::span<const std::string> sources, const ReverseModel& model,
                                const std::stop_token& stop) {
  std::vector<std::string> translations, originals;
  for (std::size_t line = 0; line < lines.size(); ++line)
    for (const ListedTranslation& translation : lines[line]) {
      translations.push_back(translation.text);
      originals.push_back(sources[line]);
    }
  auto pairs = pairs_of_lines(model.tokenizers, translations, originals, model.pairing);
  const auto is_too_long = [&model](const std::vector<SentencePair>& of_translation) {
    return std::ranges::any_of(of_translation, [&model](const SentencePair& pair) {
      return longer_side(pair) > model.max_positions;
    });
  };
  std::int64_t left_out = 0;
  auto of_list = pairs.begin();
  for (const TranslationList& list : lines) {
    const auto end = of_list + std::ssize(list);
    if (std::any_of(of_list, end, is_too_long)) {
      std::for_each(of_list, end, [](auto& of_translation) { of_translation.clear(); });
      ++left_out;
    }
    of_list = end;
  }
  const std::vector<std::vector<float>> scores =
      scores_of_lines(std::move(pairs), model.score, stop);
  auto of_translation = scores.begin();
  for (TranslationList& list : lines)
    for (ListedTranslation& translation : list) {
      const std::vector<float>& of_tokens = *of_translation++;
      if (of_tokens.empty()) continue;
      translation.reverse = std::accumulate(of_tokens.begin(), of_tokens.end(), 0.0) /
                            static_cast<double>(of_tokens.size());
    }
  return left_out;
}

}  // namespace dragoman
