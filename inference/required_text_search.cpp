#include "inference/required_text_search.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "inference/make_phrases.h"

namespace dragoman {

namespace {

/// Mean log-probabilities of a hypothesis: of as many of its least probable tokens as the required
/// texts have pieces, and of the rest.
struct Means {
  double required, rest;
};

Means means_of(const Hypothesis& hypothesis, std::size_t pieces) {
  std::vector<float> all = hypothesis.log_probabilities;
  const auto rest = all.begin() + static_cast<std::ptrdiff_t>(std::min(pieces, all.size()));
  std::nth_element(all.begin(), rest, all.end());
  const auto mean = [](auto begin, auto end) {
    return begin == end ? 0 : std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
  };
  return {mean(all.begin(), rest), mean(rest, all.end())};
}

// How much lower the mean log-probability of the rest may be than that of the free translation.
constexpr double kMostLostInSearch = 1;
constexpr double kMostLostInPlace = 2;  // where the rest is that of the free translation

/// Whether a hypothesis with required texts, which take so many pieces, reads nearly as well as the
/// one without: the rest of it is nearly as probable, and it is not much shorter.
bool is_fluent(const Hypothesis& constrained, const Hypothesis& free, std::size_t required,
               double most_lost) {
  constexpr double kLeastLength = 0.5;  // as a fraction
  return static_cast<double>(constrained.length) >=
             kLeastLength * static_cast<double>(free.length) &&
         means_of(constrained, required).rest >= means_of(free, 0).rest - most_lost;
}

}  // namespace

/// Of texts, as the tokenizer of the target writes them.
std::size_t RequiredTextSearch::count_pieces(const std::vector<RequiredText>& texts) const {
  std::size_t pieces = 0;
  for (const RequiredText& text : texts) pieces += tokenizers_.target->encode(text.text).size();
  return pieces;
}

std::optional<SourceSentence> RequiredTextSearch::keep_or_search_again(
    PreparedLine& line, std::size_t number, std::vector<Hypothesis> hypotheses) const {
  PreparedPart& part = line.parts[number];
  if (part.required.empty()) {
    part.hypotheses = std::move(hypotheses);
    return std::nullopt;
  }
  const std::vector<RequiredText> unmet = unmet_texts(
      part.required, with_exact_texts(tokenizers_.target->decode(hypotheses.front().tokens),
                                      part.required, *tokenizers_.target));
  if (part.stage == PreparedPart::Stage::Free) {
    if (!unmet.empty()) part.free = hypotheses.front();
    part.hypotheses = std::move(hypotheses);
    part.unmet = unmet;
  } else {
    // A translation that was cut is as long with its words replaced.
    if (part.stage == PreparedPart::Stage::Replaced) hypotheses.front().cut = part.free->cut;
    keep_if_better(line, part, std::move(hypotheses), unmet);
  }
  const std::size_t searched_before = part.searched.size();
  add_searched(part, unmet);
  switch (part.stage) {
    case PreparedPart::Stage::Free:
      if (part.searched.empty()) return std::nullopt;
      part.stage = PreparedPart::Stage::Replaced;
      if (auto sentence = sentence_with_words_replaced(line, number)) return sentence;
      break;
    case PreparedPart::Stage::Replaced:
      if (part.unmet.empty() && has_unknown_texts(part)) return std::nullopt;
      break;
    case PreparedPart::Stage::Phrases:
      if (part.unmet.empty() || part.searched.size() == searched_before) return std::nullopt;
  }
  part.stage = PreparedPart::Stage::Phrases;
  return sentence_with_phrases(line, number);
}

/// Adds the unmet texts, but none with which the sentence would have more pieces than any sentence
/// needs: a search takes time for each.
void RequiredTextSearch::add_searched(PreparedPart& part,
                                      const std::vector<RequiredText>& unmet) const {
  // A text that is all to be copied needs at most a piece for each byte.
  const std::size_t most = kMostTermPieces + part.text.text.size();
  std::size_t pieces = count_pieces(part.searched);
  // If a text is required twice, the search gets both: while it gains one it may lose the other.
  for (const RequiredText& text : part.required) {
    if (std::ranges::find(unmet, text.text, &RequiredText::text) == unmet.end() ||
        std::ranges::find(part.searched, text) != part.searched.end())
      continue;
    const std::size_t more = count_pieces({text});
    if (pieces + more > most) continue;
    pieces += more;
    part.searched.push_back(text);
  }
}

/// Behind a word that the model does not expect at all, its probabilities are worth little, and a
/// search would choose by them.
bool RequiredTextSearch::has_unknown_texts(const PreparedPart& part) const {
  constexpr double kUnknown = -8;
  return means_of(part.hypotheses.front(), count_pieces(part.searched)).required < kUnknown;
}

void RequiredTextSearch::keep_if_better(const PreparedLine& line, PreparedPart& part,
                                        std::vector<Hypothesis> hypotheses,
                                        const std::vector<RequiredText>& unmet) const {
  const Hypothesis &now = hypotheses.front(), &before = part.hypotheses.front();
  const std::size_t pieces = count_pieces(part.required) - count_pieces(unmet);
  const bool is_in_place = part.stage == PreparedPart::Stage::Replaced;
  const bool fluent =
      is_fluent(now, *part.free, pieces, is_in_place ? kMostLostInPlace : kMostLostInSearch);
  const bool has_more = unmet.size() < part.unmet.size();
  const bool is_forced = line.request->demands->phrase_policy == PhrasePolicy::Always;
  const bool has_as_many = unmet.size() == part.unmet.size() && before.tokens != part.free->tokens;
  const bool reads_better = means_of(now, pieces).rest > means_of(before, pieces).rest;
  if (!(has_more && (fluent || is_forced)) && !(has_as_many && fluent && reads_better)) return;
  part.unmet = unmet;
  if (hypotheses.size() < part.hypotheses.size())  // an n-best list stays as long as it is
    hypotheses.insert(hypotheses.end(), part.hypotheses.begin(),
                      part.hypotheses.end() - static_cast<std::ptrdiff_t>(hypotheses.size()));
  part.hypotheses = std::move(hypotheses);
}

SourceSentence RequiredTextSearch::sentence_with_phrases(const PreparedLine& line,
                                                         std::size_t number) const {
  const PreparedPart& part = line.parts[number];
  const std::string source = tagged(part.tag, part.marked.text());
  const std::size_t lead = source.size() - part.marked.text().size();
  std::vector<RequiredText> texts = part.searched;
  for (RequiredText& text : texts) {
    text.begin = lead + part.marked.marked_offset(text.begin);
    text.end = lead + part.marked.marked_offset(text.end);
  }
  SourceSentence sentence =
      sentence_of(line, number, tokenizers_.source->encode(source), tokenizers_);
  sentence.required = {
      .prefix = part.prefix,
      .phrases = phrases_of(texts, source, *part.free, *tokenizers_.source, *tokenizers_.target),
      .phrase_policy = line.request->demands->phrase_policy};
  return sentence;
}

/// The first translation with the texts in the place of its words; none where no word can be
/// replaced.
std::optional<SourceSentence> RequiredTextSearch::sentence_with_words_replaced(
    const PreparedLine& line, std::size_t number) const {
  const PreparedPart& part = line.parts[number];
  if (!part.prefix.tokens.empty()) return std::nullopt;
  SourceSentence sentence = sentence_with_phrases(line, number);
  std::vector<TokenId> tokens = with_words_replaced(part.searched, sentence.required.phrases,
                                                    *part.free, *tokenizers_.target);
  if (tokens.empty() || has_excluded(tokens, line.request->settings->tokens)) return std::nullopt;
  tokens.push_back(tokenizers_.target->eos_id());
  sentence.required = {.prefix = {.tokens = std::move(tokens)}};
  return sentence;
}

}  // namespace dragoman
