#include "inference/make_phrases.h"

#include <algorithm>
#include <map>
#include <optional>
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

/// `gets_capital`: where it begins the sentence.
std::vector<PhraseSpelling> spellings_of(const std::string& text, bool gets_capital,
                                         const Tokenizer& tokenizer) {
  const char32_t first = code_points(text).front();
  if (is_unspaced(first))
    if (std::vector<TokenId> tokens = pieces_behind("\u3001", text, tokenizer); !tokens.empty())
      return {{std::move(tokens), PhraseStart::Word}};
  std::vector<PhraseSpelling> spellings = {
      {tokenizer.encode(text), PhraseStart::Word},
      {pieces_behind("(", text, tokenizer), PhraseStart::Attached}};
  if (gets_capital && general_category(first) == "Ll")
    spellings.push_back({tokenizer.encode(with_capital(text)), PhraseStart::Sentence});
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

/// A word of a translation: tokens [begin, end), and the attention when the first was written.
struct AttendedWord {
  std::size_t begin, end;
  double attention;
};

/// The word of the hypothesis that stands for the phrase's source positions. Among the words that
/// begin while these get about the most attention it is the longest: an article attends to its
/// noun, too. None without attention.
std::optional<AttendedWord> word_instead_of(const RequiredPhrase& phrase,
                                            const Hypothesis& hypothesis,
                                            const Tokenizer& tokenizer) {
  constexpr double kAboutTheMost = 0.6;
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

/// In the order of the words; no two of one word.
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

std::string with_exact_texts(std::string translation, const std::vector<RequiredText>& texts,
                             const Tokenizer& tokenizer) {
  std::map<std::string, std::size_t> done;  // by the tokenizer's writing: where the search resumes
  const auto is_of_word = [&translation](std::size_t place) {
    return is_word_character(next_code_point(translation, place));
  };
  const auto is_word = [&](std::size_t begin, std::size_t end) {
    return (begin == 0 || !is_of_word(character_start(translation, begin - 1))) &&
           (end == translation.size() || !is_of_word(end));
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
      if (!is_word(at, from)) continue;
      translation.replace(at, written.size(), text.text);
      from = at + text.text.size();
      break;
    }
  }
  return translation;
}

}  // namespace dragoman
