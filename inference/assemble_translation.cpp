#include "inference/assemble_translation.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/formatted_text.h"
#include "base/utf8.h"
#include "inference/required_text_search.h"
#include "inference/split.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

std::string translated_text(const PreparedPart& part, const Hypothesis& hypothesis,
                            const Tokenizer& target) {
  std::string text;
  if (part.unseen.copies.empty())
    text = target.decode(hypothesis.tokens);
  else
    for (const WrittenUnit& unit : place_copies(part, hypothesis, target)) text += unit.text;
  text = with_exact_texts(std::move(text), part.required, target);
  if (part.prefix_text.empty()) return text;
  const std::string prefix = target.decode(part.prefix.tokens);
  if (text.starts_with(prefix)) text.replace(0, prefix.size(), part.prefix_text);
  return text;
}

namespace {

/// Appends the words of a part.
void append_words(const PreparedLine& line, const PreparedPart& part, const Hypothesis& hypothesis,
                  const Tokenizer& target, std::vector<TranslatedWord>& words) {
  const std::vector<TokenId>& tokens = hypothesis.tokens;
  for (std::size_t begin = 0, end; begin < tokens.size(); begin = end) {
    end = begin + 1;
    while (end < tokens.size() && !target.piece(tokens[end]).starts_with(kSpaceMark)) ++end;
    const std::span word(tokens.data() + begin, end - begin);
    const std::string text = with_exact_texts(target.decode(word), part.required, target);
    TranslatedWord translated{.text = one_line(std::string(strip(text)))};
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

/// Appends the words of a part with copies. A word that the model has not read attends to its
/// source, as do the second and later words of a copied name.
void append_words(const PreparedLine& line, const PreparedPart& part, const Hypothesis& hypothesis,
                  const std::vector<WrittenUnit>& units, std::vector<TranslatedWord>& words) {
  const std::size_t first = words.size();
  std::vector<float> tokens;  // of each word
  const auto add_tokens = [&](const WrittenUnit& unit) {
    TranslatedWord& word = words.back();
    for (std::size_t t = unit.begin; t < unit.end; ++t)
      word.sum += static_cast<double>(hypothesis.log_probabilities[t]);
    if (!line.request->reports_attention) return;
    if (unit.copy && tokens.back() == 0)
      word.attention[part.unseen.copies[*unit.copy].word] = tokens.back() = 1;
    tokens.back() += static_cast<float>(unit.end - unit.begin);
    for (std::size_t t = unit.begin; t < unit.end; ++t)
      for (std::size_t position = 0; position < part.words.size(); ++position)
        word.attention[part.words[position]] +=
            hypothesis
                .attention[t * (hypothesis.attention.size() / hypothesis.tokens.size()) + position];
  };
  for (const WrittenUnit& unit : units) {
    std::string_view rest = unit.text;
    for (std::size_t word = 0; !rest.empty(); ++word) {
      const std::size_t blanks = std::min(rest.find_first_not_of(' '), rest.size());
      if (blanks > 0 || words.size() == first) {
        words.push_back({.text = {}, .attention = std::vector<float>(line.words)});
        tokens.push_back(0);
      }
      rest.remove_prefix(blanks);
      const std::size_t end = std::min(rest.find(' '), rest.size());
      words.back().text += rest.substr(0, end);
      rest.remove_prefix(end);
      if (word == 0) {
        add_tokens(unit);
      } else if (const auto copy = unit.copy ? unit.copy : unit.word;
                 copy && line.request->reports_attention) {
        const std::size_t source = part.unseen.copies[*copy].word + word;
        words.back().attention[std::min(source, line.words - 1)] = tokens.back() = 1;
      }
    }
  }
  for (std::size_t w = first; w < words.size(); ++w)
    for (float& weight : words[w].attention) weight /= std::max(tokens[w - first], 1.0F);
  std::erase_if(words, [](const TranslatedWord& word) { return word.text.empty(); });
}

/// The part must have hypotheses.
const Hypothesis& hypothesis_of(const PreparedPart& part, std::size_t rank) {
  return part.hypotheses[std::min(rank, part.hypotheses.size() - 1)];
}

std::vector<std::string_view> words_between_spaces(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t end = offset;
    if (!is_space(next_code_point(text, offset))) continue;
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = offset;
  }
  if (begin < text.size()) words.push_back(text.substr(begin));
  return words;
}

/// The number of the word of a text that begins at or contains `place`.
std::size_t word_at(std::string_view text, std::size_t place) {
  const std::string_view before = text.substr(0, place);
  const auto words = words_between_spaces(before);
  const bool is_inside =
      !words.empty() && words.back().data() + words.back().size() == before.data() + place;
  return words.size() - (is_inside ? 1 : 0);
}

/// Appends the words of a stretch that is copied. Each attends to itself.
void append_words(const PreparedLine& line, const CopiedStretch& stretch,
                  std::vector<TranslatedWord>& words) {
  const auto copied = words_between_spaces(stretch.text);
  if (copied.empty()) return;
  const auto space = static_cast<std::size_t>(copied.front().data() - stretch.text.data());
  std::size_t source = word_at(line.text, stretch.begin + space);
  for (const std::string_view word : copied) {
    TranslatedWord& added = words.emplace_back();
    added.text = one_line(std::string(word));
    if (!line.request->reports_attention) continue;
    added.attention.resize(line.words);
    added.attention[std::min(source++, line.words - 1)] = 1;  // a number may have got a space
  }
}

/// Makes one word of words [i - 1] and [i]. `translated` is the one whose attention counts.
void join_words(std::vector<TranslatedWord>& words, std::size_t i, std::size_t translated) {
  TranslatedWord &word = words[i - 1], &next = words[i];
  word.text += next.text;
  word.sum += next.sum;
  if (translated == i) word.attention = std::move(next.attention);
  words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
}

/// Appends the words of a part: those of its translation, and those that are copied. There may be
/// no white space between the two.
void append_words(const PreparedLine& line, const PreparedPart& part, std::size_t rank,
                  const Tokenizer& target, std::vector<TranslatedWord>& words) {
  const std::string_view before = part.before.text, behind = part.behind.text;
  const auto is_apart = [](std::string_view text, bool at_end) {
    const std::string_view rest = strip(text);
    return rest.empty() || (at_end ? !text.ends_with(rest) : !text.starts_with(rest));
  };
  append_words(line, part.before, words);
  if (part.hypotheses.empty()) return;
  const std::size_t first = words.size();
  const Hypothesis& hypothesis = hypothesis_of(part, rank);
  if (part.unseen.copies.empty())
    append_words(line, part, hypothesis, target, words);
  else
    append_words(line, part, hypothesis, place_copies(part, hypothesis, target), words);
  if (!is_apart(before, /*at_end=*/true) && first < words.size()) join_words(words, first, first);
  const std::size_t last = words.size();
  append_words(line, part.behind, words);
  if (!is_apart(behind, /*at_end=*/false) && last > 0) join_words(words, last, last - 1);
}

std::vector<TranslatedWord> words_of(const PreparedLine& line, std::size_t rank,
                                     const Tokenizer& target) {
  std::vector<TranslatedWord> words;
  for (const PreparedPart& part : line.parts) append_words(line, part, rank, target, words);
  return words;
}

/// The translation with the text around it; empty if the part has no text for the tokenizer.
std::string text_of(const PreparedPart& part, std::size_t rank, const Tokenizer& target) {
  if (part.hypotheses.empty()) return part.before.text;
  return join_text(part.before.text, translated_text(part, hypothesis_of(part, rank), target),
                   part.behind.text);
}

/// The translation of a rank, without its words.
TranslatedText join(const PreparedLine& line, std::size_t rank, const Tokenizer& target) {
  TranslatedText joined;
  std::int64_t length = 0;
  double penalties = 0;
  bool has_text = false;
  for (std::size_t p = 0; p < line.parts.size(); ++p) {
    const PreparedPart& part = line.parts[p];
    if (part.hypotheses.empty() && part.before.text.empty()) continue;
    has_text = true;
    const std::string text = text_of(part, rank, target);
    if (p == 0)
      joined.text = text;
    else
      append_part(joined.text, line.parts[p - 1].text, text);
    if (part.hypotheses.empty()) continue;
    const Hypothesis& hypothesis = hypothesis_of(part, rank);
    joined.sum += hypothesis.sum;
    length += hypothesis.length;
    penalties += hypothesis.coverage_penalty;
  }
  // The translation of a line without text is its prefix.
  if (!has_text) joined.text = strip(line.prefix);
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
  Translation translation{
      .line = line.number, .n_best = {}, .unmet = {}, .unknown = {}, .facts = line.facts};
  std::size_t ranks = 1;
  for (const PreparedPart& part : line.parts) {
    ranks = std::max(ranks, part.hypotheses.size());
    for (const RequiredText& text : part.unmet) translation.unmet.push_back(text.text);
    for (const CopiedText& copy : part.unseen.copies)
      translation.unknown.emplace_back(part.text.text.substr(copy.begin, copy.end - copy.begin));
    if (part.hypotheses.empty()) continue;
    const Hypothesis& best = part.hypotheses.front();
    if (best.cut) translation.facts.cut = 1;
    translation.facts.target_tokens += static_cast<std::int64_t>(best.tokens.size());
  }
  translation.facts.unmet = translation.unmet.empty() ? 0 : 1;
  std::vector<Ranked> ranked;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    ranked.push_back({rank, join(line, rank, target)});
  // After a search for terms the order stays: a translation that has its terms comes first, even if
  // one that lacks them has a higher score.
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
