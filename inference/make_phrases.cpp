#include "inference/make_phrases.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/utf8.h"
#include "base/word_characters.h"
#include "inference/search/token_rules.h"
#include "tokenizer/space_mark.h"

namespace dragoman {

namespace {

/// Pieces of a text that stands right behind `before`, or nothing where a piece has some of both.
std::vector<TokenId> pieces_behind(std::string_view before, const std::string& text,
                                   const Tokenizer& tokenizer) {
  std::vector<TokenId> ids;
  for (const PieceSpan& piece : tokenizer.encode_with_offsets(std::string(before) + text)) {
    if (piece.begin < before.size() && piece.end > before.size()) return {};
    if (piece.begin >= before.size()) ids.push_back(piece.id);
  }
  return ids;
}

std::vector<PhraseSpelling> spellings_of(const std::string& text, bool starts_with_capital,
                                         const Tokenizer& tokenizer) {
  const char32_t first = code_points(text).front();
  if (is_unspaced(first))
    if (std::vector<TokenId> tokens = pieces_behind("\u3001", text, tokenizer); !tokens.empty())
      return {{std::move(tokens), PhraseStart::Word}};
  std::vector<PhraseSpelling> spellings = {
      {tokenizer.encode(text), PhraseStart::Word},
      {pieces_behind("(", text, tokenizer), PhraseStart::Attached}};
  if (starts_with_capital && general_category(first) == "Ll") {
    const std::string letter = to_utf8({&first, 1});
    spellings.push_back(
        {tokenizer.encode(upper_case(letter) + text.substr(letter.size())), PhraseStart::Sentence});
  }
  // The search is not asked for what the tokenizer cannot write.
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

/// Finds the word that the hypothesis has instead of the phrase, and keeps its first token. Among
/// the words that begin while the phrase's source positions get about the most attention it is the
/// longest: an article attends to its noun, too.
void find_instead(RequiredPhrase& phrase, const Hypothesis& hypothesis,
                  const Tokenizer& tokenizer) {
  constexpr double kAboutTheMost = 0.6;
  if (hypothesis.tokens.empty() || hypothesis.attention.empty() || !phrase.has_positions()) return;
  const std::size_t source_length = hypothesis.attention.size() / hypothesis.tokens.size();
  std::vector<double> attention;
  for (std::size_t t = 0; t < hypothesis.tokens.size(); ++t)
    attention.push_back(phrase.attention(
        std::span(hypothesis.attention).subspan(t * source_length, source_length)));
  const double most = *std::ranges::max_element(attention);
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
    phrase.instead = hypothesis.tokens[begin];
    const bool is_once = std::ranges::count(hypothesis.tokens, phrase.instead) == 1;
    phrase.instead_attention = is_once ? 0 : attention[begin];
  }
}

}  // namespace

RequiredPhrases phrases_of(const std::vector<RequiredText>& texts, std::string_view source,
                           const Hypothesis& hypothesis, const Tokenizer& source_tokenizer,
                           const Tokenizer& target_tokenizer) {
  const std::vector<PieceSpan> pieces = source_tokenizer.encode_with_offsets(source);
  const std::string translation = target_tokenizer.decode(hypothesis.tokens);
  std::size_t offset = 0;
  const bool capital =
      !translation.empty() && general_category(next_code_point(translation, offset)) == "Lu";
  std::vector<RequiredPhrase> phrases;
  for (const RequiredText& text : texts) {
    const auto [begin, end] = positions_of(text, pieces);
    phrases.push_back({.spellings = spellings_of(text.text, capital, target_tokenizer),
                       .ends_word = is_word_character(code_points(text.text).back()),
                       .begin = begin,
                       .end = end,
                       .source_pieces = pieces.size()});
    find_instead(phrases.back(), hypothesis, target_tokenizer);
  }
  return RequiredPhrases(std::move(phrases));
}

}  // namespace dragoman
