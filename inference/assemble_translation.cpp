#include "inference/assemble_translation.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/one_line.h"
#include "base/utf8.h"
#include "inference/split.h"
#include "tokenizer/space_mark.h"

namespace dragoman {

namespace {

/// Appends the words of a part.
void append_words(const PreparedLine& line, const PreparedPart& part, const Hypothesis& hypothesis,
                  const Tokenizer& target, std::vector<TranslatedWord>& words) {
  const std::vector<TokenId>& tokens = hypothesis.tokens;
  for (std::size_t begin = 0, end; begin < tokens.size(); begin = end) {
    end = begin + 1;
    while (end < tokens.size() && !target.piece(tokens[end]).starts_with(kSpaceMark)) ++end;
    const std::span word(tokens.data() + begin, end - begin);
    TranslatedWord translated{.text = one_line(std::string(strip(target.decode(word))))};
    if (translated.text.empty()) continue;
    for (std::size_t t = begin; t < end; ++t)
      translated.sum += static_cast<double>(hypothesis.log_probabilities[t]);
    if (line.request->reports_attention) {
      const std::size_t source_length = hypothesis.attention.size() / tokens.size();
      translated.attention.resize(line.words);
      for (std::size_t t = begin; t < end; ++t)
        for (std::size_t position = 0; position < part.words.size(); ++position)
          translated.attention[part.words[position]] +=
              hypothesis.attention[t * source_length + position] / static_cast<float>(end - begin);
    }
    words.push_back(std::move(translated));
  }
}

/// The part must have hypotheses.
const Hypothesis& hypothesis_of(const PreparedPart& part, std::size_t rank) {
  return part.hypotheses[std::min(rank, part.hypotheses.size() - 1)];
}

std::vector<TranslatedWord> words_of(const PreparedLine& line, std::size_t rank,
                                     const Tokenizer& target) {
  std::vector<TranslatedWord> words;
  for (const PreparedPart& part : line.parts)
    if (!part.hypotheses.empty())
      append_words(line, part, hypothesis_of(part, rank), target, words);
  return words;
}

/// The prefix stands as it was given. The tokenizer may write it otherwise: "m²" as "m2".
std::string text_of(const PreparedPart& part, const Hypothesis& hypothesis,
                    const Tokenizer& target) {
  std::string text = target.decode(hypothesis.tokens);
  if (part.prefix_text.empty()) return text;
  const std::string prefix = target.decode(part.prefix.tokens);
  if (text.starts_with(prefix)) text.replace(0, prefix.size(), part.prefix_text);
  return text;
}

/// Without its words.
TranslatedText join(const PreparedLine& line, std::size_t rank, const Tokenizer& target) {
  TranslatedText joined;
  std::int64_t length = 0;
  double penalties = 0;
  for (std::size_t p = 0; p < line.parts.size(); ++p) {
    const PreparedPart& part = line.parts[p];
    if (part.hypotheses.empty()) continue;
    const Hypothesis& hypothesis = hypothesis_of(part, rank);
    const std::string text = text_of(part, hypothesis, target);
    if (p == 0)
      joined.text = text;
    else
      append_part(joined.text, line.parts[p - 1].text, text);
    joined.sum += hypothesis.sum;
    length += hypothesis.length;
    penalties += hypothesis.coverage_penalty;
  }
  // The translation of a line without text is its prefix.
  if (length == 0) joined.text = strip(line.prefix);
  joined.text = one_line(std::move(joined.text));
  if (length > 0)
    joined.score = normalized_score(joined.sum, length, line.request->settings->config) + penalties;
  return joined;
}

struct Ranked {
  std::size_t rank;
  TranslatedText text;
};

}  // namespace

Translation assemble_translation(const PreparedLine& line, const Tokenizer& target) {
  Translation translation{.line = line.number, .n_best = {}, .unmet = {}, .facts = line.facts};
  std::size_t ranks = 1;
  for (const PreparedPart& part : line.parts) {
    ranks = std::max(ranks, part.hypotheses.size());
    for (const RequiredText& text : part.unmet) translation.unmet.push_back(text.text);
    if (part.hypotheses.empty()) continue;
    const Hypothesis& best = part.hypotheses.front();
    if (best.cut) translation.facts.cut = 1;
    translation.facts.target_tokens += static_cast<std::int64_t>(best.tokens.size());
  }
  translation.facts.unmet = translation.unmet.empty() ? 0 : 1;
  std::vector<Ranked> ranked;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    ranked.push_back({rank, join(line, rank, target)});
  // After a search for terms the order stays: a translation that has its terms comes first, though
  // one that lacks them may have a higher score.
  const auto was_searched = [](const PreparedPart& part) { return !part.searched.empty(); };
  if (std::ranges::none_of(line.parts, was_searched))
    std::ranges::stable_sort(
        ranked, [](const Ranked& a, const Ranked& b) { return a.text.score > b.text.score; });
  for (auto& [rank, text] : ranked) {
    const bool is_best = translation.n_best.empty();
    if (line.request->reports_words && (is_best || !line.request->words_of_best_alone))
      text.words = words_of(line, rank, target);
    translation.n_best.push_back(std::move(text));
  }
  return translation;
}

}  // namespace dragoman
