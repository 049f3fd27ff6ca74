#include "inference/assemble_translation.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/formatted_text.h"
#include "base/utf8.h"
#include "inference/required_text_search.h"
#include "inference/split.h"
#include "tokenizer/terms.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

std::string translated_text(const PreparedPart& part, const Hypothesis& hypothesis,
                            const Tokenizer& target) {
  std::string text;
  if (part.unseen.copies.empty())
    text = target.decode(hypothesis.tokens);
  else
    for (const WrittenUnit& unit : place_copies(part, hypothesis, target)) text += unit.text;
  text = with_exact_texts(text, part.required, target);
  if (part.prefix_text.empty()) return text;
  const std::string prefix = target.decode(part.prefix.tokens);
  if (text.starts_with(prefix)) text.replace(0, prefix.size(), part.prefix_text);
  return text;
}

namespace {

/// Writes changes of a text into its units. A change that spans several stands in the first of
/// them.
void change_units(const std::string& text, const std::vector<TextChange>& changes,
                  std::vector<WrittenUnit>& units) {
  const MarkedText changed(text, changes);
  std::size_t end = 0, written = 0;
  for (WrittenUnit& unit : units) {
    end += unit.text.size();
    const auto within = std::ranges::find_if(changes, [end](const TextChange& change) {
      return change.begin < end && end < change.end;
    });
    const std::size_t until = changed.marked_offset(within == changes.end() ? end : within->end);
    unit.text = changed.text().substr(written, until - written);
    written = until;
  }
}

/// The units of the part's translation, with its copies and exact texts.
std::vector<WrittenUnit> written_units(const PreparedPart& part, const Hypothesis& hypothesis,
                                       const Tokenizer& target) {
  std::vector<WrittenUnit> units = part.unseen.copies.empty()
                                       ? units_of(hypothesis.tokens, target)
                                       : place_copies(part, hypothesis, target);
  if (part.required.empty()) return units;
  std::string text;
  for (const WrittenUnit& unit : units) text += unit.text;
  change_units(text, exact_texts(text, part.required, target), units);
  return units;
}

/// A word of a translation: tokens [begin, end) of the hypothesis, and the word of the line that it
/// is a copy of.
struct WrittenWord {
  std::string text = {};
  std::size_t begin = 0, end = 0;
  std::optional<std::size_t> source = std::nullopt;

  void add_tokens(const WrittenUnit& unit) {
    if (unit.begin == unit.end) return;
    if (begin == end) begin = unit.begin;
    end = unit.end;
  }
};

/// The words between blanks. A copied text may have several. A unit that the model has written has
/// one: some tokenizers have pieces of several words. A word that the model has not read attends to
/// its source, as do the second and later words of a copied name.
std::vector<WrittenWord> words_of(const std::vector<WrittenUnit>& units,
                                  const std::vector<CopiedText>& copies) {
  std::vector<WrittenWord> words;
  for (const WrittenUnit& unit : units) {
    const auto copy = unit.copy ? unit.copy : unit.word;
    std::string_view rest = unit.text;
    // All of its text belongs to an exact text that stands in the unit before.
    if (rest.empty() && !words.empty()) words.back().add_tokens(unit);
    for (std::size_t number = 0; !rest.empty(); ++number) {
      const std::size_t blanks = std::min(rest.find_first_not_of(' '), rest.size());
      if (blanks > 0 || words.empty()) words.emplace_back();
      WrittenWord& word = words.back();
      rest.remove_prefix(blanks);
      const std::size_t end = copy ? std::min(rest.find(' '), rest.size()) : rest.size();
      word.text += rest.substr(0, end);
      rest.remove_prefix(end);
      if (number > 0) {
        word.source = copies[*copy].word + number;
        continue;
      }
      if (unit.copy && word.begin == word.end && !word.source)
        word.source = copies[*unit.copy].word;
      word.add_tokens(unit);
    }
  }
  return words;
}

/// The attention of a word to the words of the line: the mean of its tokens, and of its copy.
std::vector<float> attention_of(const WrittenWord& word, const PreparedPart& part,
                                const Hypothesis& hypothesis, std::size_t words) {
  std::vector<float> attention(words);
  const auto count = static_cast<float>(word.end - word.begin + (word.source ? 1 : 0));
  if (word.source) attention[std::min(*word.source, words - 1)] = 1 / count;
  for (std::size_t t = word.begin; t < word.end; ++t) {
    const std::size_t source_length = hypothesis.attention.size() / hypothesis.tokens.size();
    for (std::size_t position = 0; position < part.words.size(); ++position)
      attention[part.words[position]] += hypothesis.attention[t * source_length + position] / count;
  }
  return attention;
}

/// Appends the words of a part's translation.
void append_words(const PreparedLine& line, const PreparedPart& part, const Hypothesis& hypothesis,
                  const Tokenizer& target, std::vector<TranslatedWord>& words) {
  const std::vector<WrittenUnit> units = written_units(part, hypothesis, target);
  for (const WrittenWord& word : words_of(units, part.unseen.copies)) {
    TranslatedWord translated{.text = one_line(std::string(strip(word.text)))};
    if (translated.text.empty()) continue;
    for (std::size_t t = word.begin; t < word.end; ++t)
      translated.sum += static_cast<double>(hypothesis.log_probabilities[t]);
    if (line.request->reports_attention)
      translated.attention = attention_of(word, part, hypothesis, line.words);
    words.push_back(std::move(translated));
  }
}

/// The part must have hypotheses.
const Hypothesis& hypothesis_of(const PreparedPart& part, std::size_t rank) {
  return part.hypotheses[std::min(rank, part.hypotheses.size() - 1)];
}

/// The number of the word of a text that begins at or contains `place`.
std::size_t word_at(std::string_view text, std::size_t place) {
  const std::vector<ByteRange> words = words_between_spaces(text.substr(0, place));
  return words.size() - (!words.empty() && words.back().end == place ? 1 : 0);
}

/// Appends the words of a stretch that is copied. Each attends to itself.
void append_words(const PreparedLine& line, const CopiedStretch& stretch,
                  std::vector<TranslatedWord>& words) {
  const std::vector<ByteRange> copied = words_between_spaces(stretch.text);
  if (copied.empty()) return;
  std::size_t source = word_at(line.text, stretch.begin + copied.front().begin);
  for (const ByteRange& word : copied) {
    TranslatedWord& added = words.emplace_back();
    added.text = one_line(std::string(word.of(stretch.text)));
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
  const std::string_view before = part.before.text, after = part.after.text;
  const auto is_apart = [](std::string_view text, bool at_end) {
    const std::string_view rest = strip(text);
    return rest.empty() || (at_end ? !text.ends_with(rest) : !text.starts_with(rest));
  };
  append_words(line, part.before, words);
  if (part.hypotheses.empty()) return;
  const std::size_t first = words.size();
  append_words(line, part, hypothesis_of(part, rank), target, words);
  if (!is_apart(before, /*at_end=*/true) && first < words.size()) join_words(words, first, first);
  const std::size_t last = words.size();
  append_words(line, part.after, words);
  if (!is_apart(after, /*at_end=*/false) && last > 0) join_words(words, last, last - 1);
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
                   part.after.text);
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
  Translation translation{.line = line.number, .facts = line.facts};
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
