#include "inference/required_text_search.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/utf8.h"
#include "inference/assemble_translation.h"
#include "inference/search/token_rules.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

// ---- phrases, and texts in the place of words --------------------------------------------------

namespace {

/// The pieces of a text that directly follows `before`; none if a piece has some of both.
std::vector<TokenId> pieces_after(std::string_view before, const std::string& text,
                                  const Tokenizer& tokenizer) {
  std::vector<TokenId> ids;
  for (const PieceSpan& piece : tokenizer.encode_with_offsets(std::string(before) + text)) {
    if (piece.begin < before.size() && piece.end > before.size()) return {};
    if (piece.begin >= before.size()) ids.push_back(piece.id);
  }
  return ids;
}

bool starts_with_capital(std::string_view text) {
  std::size_t offset = 0;
  return !text.empty() && general_category(next_code_point(text, offset)) == "Lu";
}

std::string with_capital(std::string_view text) {
  std::size_t offset = 0;
  const char32_t first = next_code_point(text, offset);
  if (general_category(first) != "Ll") return std::string(text);
  return upper_case(to_utf8({&first, 1})) + std::string(text.substr(offset));
}

/// `gets_capital`: if it begins the sentence.
std::vector<PhraseSpelling> spellings_of(const std::string& text, bool gets_capital,
                                         const Tokenizer& tokenizer) {
  const char32_t first = code_points(text).front();
  if (is_unspaced(first))
    if (std::vector<TokenId> tokens = pieces_after("\u3001", text, tokenizer); !tokens.empty())
      return {{std::move(tokens), PhraseStart::Word}};
  std::vector<PhraseSpelling> spellings = {
      {tokenizer.encode(text), PhraseStart::Word},
      {pieces_after("(", text, tokenizer), PhraseStart::Attached}};
  if (gets_capital && general_category(first) == "Ll")
    spellings.push_back({tokenizer.encode(with_capital(text)), PhraseStart::Sentence});
  // Spellings that the tokenizer cannot write are not searched for.
  std::erase_if(spellings, [&](const PhraseSpelling& spelling) {
    return std::ranges::find(spelling.tokens, tokenizer.unk_id()) != spelling.tokens.end();
  });
  return spellings;
}

/// Positions [begin, end) of the source's pieces that have some of `text`.
std::pair<std::size_t, std::size_t> positions_of(const RequiredText& text,
                                                 const std::vector<PieceSpan>& pieces) {
  std::size_t begin = pieces.size(), end = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].begin >= text.end || pieces[i].end <= text.begin) continue;
    begin = std::min(begin, i);
    end = i + 1;
  }
  return {begin, end};
}

/// A word of a translation: tokens [begin, end), and the attention when the first was written.
struct AttendedWord {
  std::size_t begin, end;
  double attention;
};

/// The word of the hypothesis that stands for the phrase's source positions: the longest of the
/// words that begin while these get about the most attention. There is none without attention.
std::optional<AttendedWord> word_instead_of(const RequiredPhrase& phrase,
                                            const Hypothesis& hypothesis,
                                            const Tokenizer& tokenizer) {
  if (hypothesis.tokens.empty() || hypothesis.attention.empty() || !phrase.has_positions())
    return std::nullopt;
  const std::size_t source_length = hypothesis.attention.size() / hypothesis.tokens.size();
  std::vector<double> attention;
  for (std::size_t t = 0; t < hypothesis.tokens.size(); ++t)
    attention.push_back(phrase.attention(
        std::span(hypothesis.attention).subspan(t * source_length, source_length)));
  const double most = *std::ranges::max_element(attention);
  std::optional<AttendedWord> found;
  std::size_t longest = 0;
  for (std::size_t begin = 0, end; begin < hypothesis.tokens.size(); begin = end) {
    std::string word = tokenizer.piece(hypothesis.tokens[begin]);
    for (end = begin + 1; end < hypothesis.tokens.size(); ++end) {
      const std::string piece = tokenizer.piece(hypothesis.tokens[end]);
      if (piece.starts_with(kSpaceMark)) break;
      word += piece;
    }
    if (attention[begin] < kAboutTheMost * most || word.size() <= longest) continue;
    longest = word.size();
    found = {begin, end, attention[begin]};
  }
  return found;
}

void find_instead(RequiredPhrase& phrase, const Hypothesis& hypothesis,
                  const Tokenizer& tokenizer) {
  const auto word = word_instead_of(phrase, hypothesis, tokenizer);
  if (!word) return;
  phrase.instead = hypothesis.tokens[word->begin];
  const bool is_once = std::ranges::count(hypothesis.tokens, phrase.instead) == 1;
  phrase.instead_attention = is_once ? 0 : word->attention;
}

/// A word of a translation, and the text that takes its place.
struct Replacement {
  AttendedWord word;
  const RequiredText* text;
};

/// The replacements in the order of the words, at most one for each word.
std::vector<Replacement> replacements_of(const std::vector<RequiredText>& texts,
                                         const RequiredPhrases& phrases,
                                         const Hypothesis& hypothesis, const Tokenizer& tokenizer) {
  const auto text_of = [&](std::size_t t) { return tokenizer.decode({&hypothesis.tokens[t], 1}); };
  const auto is_in_word = [&](std::size_t t) {
    return std::ranges::any_of(code_points(text_of(t)), is_word_character);
  };
  std::vector<Replacement> replacements;
  for (std::size_t i = 0; i < static_cast<std::size_t>(phrases.count()); ++i) {
    auto word = word_instead_of(phrases[i], hypothesis, tokenizer);
    if (!word) continue;
    while (word->begin < word->end && !is_in_word(word->end - 1)) --word->end;
    // A piece of a space alone stays with its word.
    while (word->begin < word->end && !is_in_word(word->begin) && !text_of(word->begin).empty())
      ++word->begin;
    if (word->begin < word->end) replacements.push_back({*word, &texts[i]});
  }
  const auto begin_of = [](const Replacement& one) { return one.word.begin; };
  std::ranges::stable_sort(replacements, {}, begin_of);
  const auto rest = std::ranges::unique(replacements, {}, begin_of);
  replacements.erase(rest.begin(), rest.end());
  return replacements;
}

}  // namespace

RequiredPhrases phrases_of(const std::vector<RequiredText>& texts, std::string_view source,
                           const Hypothesis& hypothesis, const Tokenizer& source_tokenizer,
                           const Tokenizer& target_tokenizer) {
  const std::vector<PieceSpan> pieces = source_tokenizer.encode_with_offsets(source);
  const bool capital = starts_with_capital(target_tokenizer.decode(hypothesis.tokens));
  std::vector<RequiredPhrase> phrases;
  for (const RequiredText& text : texts) {
    const auto [begin, end] = positions_of(text, pieces);
    phrases.push_back(
        {.spellings = spellings_of(text.text, capital && text.inflects, target_tokenizer),
         .ends_word = is_word_character(code_points(text.text).back()),
         .begin = begin,
         .end = end,
         .source_pieces = pieces.size()});
    find_instead(phrases.back(), hypothesis, target_tokenizer);
  }
  return RequiredPhrases(std::move(phrases));
}

std::vector<TokenId> with_words_replaced(const std::vector<RequiredText>& texts,
                                         const RequiredPhrases& phrases,
                                         const Hypothesis& hypothesis, const Tokenizer& tokenizer) {
  const std::span<const TokenId> tokens = hypothesis.tokens;
  std::string replaced;
  const auto append = [&](std::size_t begin, const std::string& text) {
    const bool is_word =
        !replaced.empty() && tokenizer.piece(tokens[begin]).starts_with(kSpaceMark);
    replaced += is_word ? " " + text : text;
  };
  const auto append_tokens = [&](std::size_t begin, std::size_t end) {
    if (begin < end) append(begin, tokenizer.decode(tokens.subspan(begin, end - begin)));
  };
  std::size_t done = 0;
  for (const auto& [word, text] : replacements_of(texts, phrases, hypothesis, tokenizer)) {
    append_tokens(done, word.begin);
    const bool gets_capital = text->inflects && replaced.empty() &&
                              starts_with_capital(tokenizer.decode(tokens.subspan(word.begin, 1)));
    append(word.begin, gets_capital ? with_capital(text->text) : text->text);
    done = word.end;
  }
  if (done == 0) return {};
  append_tokens(done, tokens.size());
  std::vector<TokenId> all = tokenizer.encode(replaced);
  if (std::ranges::find(all, tokenizer.unk_id()) != all.end()) return {};
  return all;
}

std::vector<TextChange> exact_texts(std::string_view translation,
                                    const std::vector<RequiredText>& texts,
                                    const Tokenizer& tokenizer) {
  // The search resumes here, by the text as the tokenizer writes it.
  std::map<std::string, std::size_t> done;
  std::vector<TextChange> changes;
  const auto is_of_word = [translation](std::size_t place) {
    return is_word_character(next_code_point(translation, place));
  };
  const auto is_word = [&](std::size_t begin, std::size_t end) {
    return (begin == 0 || !is_of_word(character_start(translation, begin - 1))) &&
           (end == translation.size() || !is_of_word(end));
  };
  const auto is_free = [&changes](std::size_t begin, std::size_t end) {
    return std::ranges::none_of(changes, [begin, end](const TextChange& change) {
      return change.begin < end && begin < change.end;
    });
  };
  for (const RequiredText& text : texts) {
    if (text.inflects) continue;
    const std::string written = tokenizer.decode(tokenizer.encode(text.text));
    const bool is_another_text =
        std::ranges::find(texts, written, &RequiredText::text) != texts.end();
    if (written.empty() || is_another_text) continue;  // as it should be, or another text
    std::size_t& from = done[written];
    for (std::size_t at; (at = translation.find(written, from)) != std::string::npos;) {
      from = at + written.size();
      if (!is_word(at, from) || !is_free(at, from)) continue;
      changes.push_back({at, from, text.text});
      break;
    }
  }
  std::ranges::sort(changes, {}, &TextChange::begin);
  return changes;
}

std::string with_exact_texts(std::string_view translation, const std::vector<RequiredText>& texts,
                             const Tokenizer& tokenizer) {
  return MarkedText(translation, exact_texts(translation, texts, tokenizer)).text();
}

// ---- the searches ------------------------------------------------------------------------------

namespace {

/// Mean log-probabilities of a hypothesis: of its least probable tokens, as many as the required
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
constexpr double kMostLostInPlace = 2;  // if the rest is that of the free translation

/// Whether a hypothesis with required texts of `required` pieces reads nearly as well as the one
/// without: the rest of it is nearly as probable, and it is not much shorter.
bool is_fluent(const Hypothesis& constrained, const Hypothesis& free, std::size_t required,
               double most_lost) {
  constexpr double kLeastLength = 0.5;  // as a fraction
  return static_cast<double>(constrained.length) >=
             kLeastLength * static_cast<double>(free.length) &&
         means_of(constrained, required).rest >= means_of(free, 0).rest - most_lost;
}

}  // namespace

/// The number of pieces of the texts, as the target's tokenizer writes them.
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

/// Adds the unmet texts, but none that would give the sentence more pieces than any sentence needs:
/// a search takes time for each piece.
void RequiredTextSearch::add_searched(PreparedPart& part,
                                      const std::vector<RequiredText>& unmet) const {
  // A text that is copied whole needs at most a piece for each byte.
  const std::size_t most = kMostTermPieces + part.text.text.size();
  std::size_t pieces = count_pieces(part.searched);
  // If a text is required twice, the search gets both: it might gain one and lose the other.
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

/// After a word that the model does not expect at all, its probabilities are worth little, but a
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

/// The first translation with the texts in the place of its words; none if no word can be replaced.
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
