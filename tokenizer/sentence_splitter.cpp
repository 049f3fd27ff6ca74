#include "tokenizer/sentence_splitter.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/utf8.h"
#include "tokenizer/abbreviations.h"

namespace dragoman {

namespace {

// ---- kinds of characters ----

bool is_letter(char32_t c) { return general_category(c)[0] == 'L'; }
bool is_digit(char32_t c) { return general_category(c) == "Nd"; }
bool is_capital(char32_t c) { return general_category(c) == "Lu" || general_category(c) == "Lt"; }
bool is_small(char32_t c) { return general_category(c) == "Ll"; }

bool is_letter_or_number(char32_t c) {
  return general_category(c)[0] == 'L' || general_category(c)[0] == 'N';
}

bool is_kana(char32_t c) { return c >= 0x3041 && c <= 0x30FF; }

bool is_ideographic(char32_t c) {
  return is_kana(c) || (c >= 0x3400 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x20000 && c <= 0x3FFFF);
}

bool is_emoji(char32_t c) {
  return (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x2600 && c <= 0x27BF) || c == 0xFE0F ||
         c == 0x200D;
}

bool is_greek(char32_t c) { return (c >= 0x370 && c <= 0x3FF) || (c >= 0x1F00 && c <= 0x1FFF); }

// ---- stops, quotes and brackets at the ends and beginnings of sentences ----

// After these a sentence ends if white space follows.
constexpr std::u32string_view kStops = U".!?\u2026\u061F\u06D4\u0589\u037E\u203C\u2047\u2048\u2049";
// After these a sentence ends also without white space: Chinese and Japanese, Indic, Ethiopic,
// Khmer and Burmese stops.
constexpr std::u32string_view kUnspacedStops =
    U"\u3002\uFF01\uFF1F\uFF61\uFF0E\u0964\u0965\u1362\u1367\u1368\u17D4\u17D5\u104B";
constexpr std::u32string_view kClosers =
    U"\"')]}\u2019\u201D\u201C\u2018\u00BB\u00AB\u203A\u2039\u300D\u300F\uFF09\u3011\u300B\u3009*_";
// Characters that may stand before the first word of a sentence.
constexpr std::u32string_view kOpeners =
    U"\"'([{\u2018\u201C\u201E\u201A\u00AB\u00BB\u2039\u203A\u300C\u300E\uFF08\u3010\u300A\u3008"
    U"\u00BF\u00A1-\u2013\u2014\u2022\u00B7*#@_\u2026";
// Characters at which the search for an abbreviation stops: brackets, quotes, apostrophes, dashes.
constexpr std::u32string_view kWordBorders =
    U"\"'([{\u2018\u2019\u201C\u201D\u201E\u201A\u00AB\u00BB\u2039\u203A\u300C\u300E\uFF08/\u2013"
    U"\u2014\u00BF\u00A1*_,;:";
// Brackets whose contents are not a sentence by themselves.
constexpr std::array<std::u32string_view, 5> kBrackets = {U"()", U"[]", U"\uFF08\uFF09",
                                                          U"\u300C\u300D", U"\u300E\u300F"};

bool is_any_stop(char32_t c) { return is_one_of(c, kStops) || is_one_of(c, kUnspacedStops); }

// ---- the rules ----

constexpr std::size_t kLongestInBrackets = 200;  // longer ones may hold sentences
constexpr std::size_t kLongestLead = 10;         // openers and white space before a first word
constexpr std::size_t kLongestTag = 100;

/// Whether a word is a Roman number; "I" counts as a word.
bool is_roman(std::string_view word) {
  return word != "I" && !word.empty() && word.find_first_not_of("IVXLC") == word.npos;
}

/// Stops that stand together, with the closers after them: characters [begin, end).
struct SentenceStop {
  std::size_t begin, marks_end, end;
  std::size_t next;  ///< the next character that is not white space
};

class SentenceSplitter {
 public:
  explicit SentenceSplitter(std::string_view text) : text_(text) {
    bool capitals = false, small = false;
    for (std::size_t offset = 0; offset < text.size();) {
      offsets_.push_back(offset);
      const char32_t c = next_code_point(text, offset);
      characters_.push_back(c);
      capitals = capitals || (c < 0x80 ? c >= 'A' && c <= 'Z' : is_capital(c));
      small = small || (c < 0x80 ? c >= 'a' && c <= 'z' : is_small(c));
    }
    offsets_.push_back(text.size());
    has_capitals_ = capitals;
    letter_case_ = capitals && small ? LetterCase::Kept : LetterCase::Lost;
    find_brackets();
  }

  std::vector<std::string_view> split() {
    std::vector<std::string_view> sentences;
    begin_ = after_space(0);
    for (std::size_t i = begin_; i < size();) {
      if (const std::size_t close = closing_of(i); close > i) {
        has_word_ = true;
        i = close;
      } else if (!is_stop(i)) {
        has_word_ = has_word_ || is_letter_or_number(characters_[i]);
        ++i;
      } else {
        const SentenceStop stop = stop_at(i);
        if (ends_sentence(stop)) {
          sentences.push_back(between(begin_, stop.end));
          begin_ = stop.next;
          has_word_ = false;
        }
        i = stop.end;
      }
    }
    if (begin_ < size()) sentences.push_back(strip(between(begin_, size())));
    return sentences;
  }

 private:
  std::size_t size() const { return characters_.size(); }
  std::string_view between(std::size_t begin, std::size_t end) const {
    return text_.substr(offsets_[begin], offsets_[end] - offsets_[begin]);
  }
  bool is_space_at(std::size_t i) const { return i < size() && is_space(characters_[i]); }
  std::size_t after_space(std::size_t i) const {
    while (is_space_at(i)) ++i;
    return i;
  }

  void find_brackets() {
    std::array<std::vector<std::size_t>, kBrackets.size()> open;
    for (std::size_t i = 0; i < size(); ++i)
      for (std::size_t kind = 0; kind < kBrackets.size(); ++kind) {
        if (characters_[i] == kBrackets[kind][0]) {
          open[kind].push_back(i);
        } else if (characters_[i] == kBrackets[kind][1] && !open[kind].empty()) {
          brackets_.push_back({open[kind].back(), i});
          open[kind].pop_back();
        }
      }
    std::ranges::sort(brackets_, {}, &Bracket::begin);
  }

  /// The position at which the bracket that opens at `i` closes, if no sentence ends in it;
  /// otherwise `i`. A bracket that begins a sentence may have the sentence's stop before its own
  /// end.
  std::size_t closing_of(std::size_t i) {
    while (next_bracket_ < brackets_.size() && brackets_[next_bracket_].begin < i) ++next_bracket_;
    if (next_bracket_ == brackets_.size() || brackets_[next_bracket_].begin != i) return i;
    const std::size_t end = brackets_[next_bracket_].end;
    if (end - i > kLongestInBrackets || (i == begin_ && characters_[i] < 0x80)) return i;
    return i == begin_ && is_stop(end - 1) ? std::max(i, end - 1) : end;
  }

  bool is_stop(std::size_t i) const {
    return is_any_stop(characters_[i]) ||
           (characters_[i] == ';' && i > 0 && is_greek(characters_[i - 1]));
  }

  /// Whether a character after a stop may close a quotation or a bracket. U+201C and U+2018 close
  /// German ones; after a stop of Chinese they open the next.
  bool is_closer(std::size_t i, std::size_t stop) const {
    const bool opens =
        is_one_of(characters_[i], U"\u201C\u2018") && is_one_of(characters_[stop], kUnspacedStops);
    return is_one_of(characters_[i], kClosers) && !opens;
  }

  /// The position after the number of a source in brackets, if one begins at `i`: "grew.[12] It".
  std::size_t after_citation(std::size_t i) const {
    if (i == size() || characters_[i] != '[') return i;
    std::size_t end = i + 1;
    while (end < size() && is_digit(characters_[end])) ++end;
    return end > i + 1 && end < size() && characters_[end] == ']' ? end + 1 : i;
  }

  SentenceStop stop_at(std::size_t begin) const {
    SentenceStop stop{.begin = begin, .marks_end = begin, .end = begin, .next = begin};
    while (stop.end < size()) {
      const std::size_t tag = after_tag(stop.end);
      if (is_stop(stop.end))
        stop.marks_end = ++stop.end;
      else if (is_closer(stop.end, begin))
        ++stop.end;
      else if (tag > stop.end && characters_[stop.end + 1] == '/')
        stop.end = tag;
      else
        break;
    }
    for (std::size_t end = stop.end; (end = after_citation(stop.end)) > stop.end;) stop.end = end;
    while (stop.end < size() && is_emoji(characters_[stop.end])) ++stop.end;
    // "« Oui. » Il", "Ja! 😀 Nein"
    for (std::size_t i = after_space(stop.end); i > stop.end; i = after_space(stop.end)) {
      const bool closes = i < size() && is_one_of(characters_[i], U"\u00BB\u203A") &&
                          (i + 1 == size() || is_space(characters_[i + 1]));
      if (i == size() || !(closes || is_emoji(characters_[i]))) break;
      stop.end = i + 1;
      while (stop.end < size() && is_emoji(characters_[stop.end])) ++stop.end;
    }
    stop.next = after_space(stop.end);
    return stop;
  }

  bool ends_sentence(const SentenceStop& stop) const {
    if (stop.next == size() || !has_word_) return false;
    const bool unspaced = is_unspaced(stop);
    const std::size_t word = first_word(stop.next);
    if (word == size() || (!unspaced && !is_space_at(stop.end))) return false;
    if (unspaced) {
      const bool is_quoted = stop.end > stop.marks_end && !is_space_at(stop.end);
      return !(is_quoted && is_kana(characters_[stop.next]));
    }
    if (is_small(characters_[word]) && has_capitals_ && !numbers_item(word) && !is_name(word))
      return false;
    const std::u32string_view marks(&characters_[stop.begin], stop.marks_end - stop.begin);
    if (marks == U".") return full_stop_ends(stop.begin, word);
    const bool is_ellipsis = marks.find_first_not_of(U".\u2026") == marks.npos;
    return !(is_ellipsis && is_digit(characters_[word]));
  }

  bool is_unspaced(const SentenceStop& stop) const {
    for (std::size_t i = stop.begin; i < stop.marks_end; ++i) {
      const char32_t c = characters_[i];
      const bool in_number = c == 0xFF0E && i > 0 && i + 1 < size() &&
                             is_digit(characters_[i - 1]) && is_digit(characters_[i + 1]);
      if (is_one_of(c, kUnspacedStops) && !in_number) return true;
      if (stop.begin == 0 || !is_ideographic(characters_[stop.begin - 1])) continue;
      const bool is_number =
          is_one_of(characters_[stop.begin - 1],
                    U"\u3007\u4E00\u4E8C\u4E09\u56DB\u4E94\u516D\u4E03\u516B\u4E5D\u5341");
      const bool is_full_stop = c == '.' && !is_number && stop.marks_end == stop.begin + 1 &&
                                stop.next < size() && is_ideographic(characters_[stop.next]);
      if (c == '!' || c == '?' || is_full_stop) return true;
    }
    return false;
  }

  /// The position after the tag ("<b>", "</b>") that begins at `i`; `i` if none does.
  std::size_t after_tag(std::size_t i) const {
    const bool begins = i + 1 < size() && characters_[i] == '<' &&
                        (is_letter(characters_[i + 1]) || characters_[i + 1] == '/');
    const std::size_t most = begins ? std::min(size(), i + kLongestTag) : i;
    for (std::size_t end = i + 2; end < most; ++end)
      if (characters_[end] == '>') return end + 1;
    return i;
  }

  /// The first letter or digit from `i` on, if a sentence may begin there; otherwise size().
  std::size_t first_word(std::size_t i) const {
    std::size_t most = std::min(size(), i + kLongestLead);
    for (; i < most; ++i) {
      if (const std::size_t end = after_tag(i); end > i) {
        most = std::min(size(), end + kLongestLead);
        i = end - 1;
        continue;
      }
      const char32_t c = characters_[i];
      if (is_letter_or_number(c)) return i;
      if (!is_space(c) && !is_one_of(c, kOpeners) && general_category(c) != "Sc") break;
    }
    return size();
  }

  /// Whether a word is the letter or Roman number of an item in a list: "b) ", "iii) ".
  bool numbers_item(std::size_t word) const {
    std::size_t end = word;
    while (end < size() && is_one_of(characters_[end], U"ivx")) ++end;
    if (end == word) ++end;
    return end < size() && characters_[end] == ')' && is_space_at(end + 1);
  }

  /// Whether a word with a small first letter may still begin a sentence: "@ann", "#rain", "iPad".
  bool is_name(std::size_t word) const {
    if (word > 0 && is_one_of(characters_[word - 1], U"@#")) return true;
    return word + 1 < size() && is_capital(characters_[word + 1]);
  }

  std::string_view word_from(std::size_t begin) const {
    std::size_t end = begin;
    while (end < size() &&
           (is_letter(characters_[end]) || general_category(characters_[end])[0] == 'M'))
      ++end;
    return between(begin, end);
  }

  /// The beginning of the word that ends at `end`.
  std::size_t word_begin(std::size_t end) const {
    std::size_t begin = end;
    while (begin > begin_ && !is_space(characters_[begin - 1]) &&
           !is_one_of(characters_[begin - 1], kWordBorders))
      --begin;
    return begin;
  }

  /// Whether a single full stop ends a sentence if one could begin at `next`.
  bool full_stop_ends(std::size_t stop, std::size_t next) const {
    const std::size_t begin = word_begin(stop);
    if (begin == stop) return true;
    const auto is_number = [&](std::size_t from) {
      return std::all_of(characters_.begin() + static_cast<std::ptrdiff_t>(from),
                         characters_.begin() + static_cast<std::ptrdiff_t>(stop), is_digit);
    };
    if (is_number(begin)) return number_ends(begin, stop, next);
    if (stop - begin == 1) return letter_ends(begin, next);
    switch (kind_of(begin, stop)) {
      case Abbreviation::None:
        return !is_dotted(begin, stop) || begins_sentence(next);
      case Abbreviation::Inside:
        return false;
      case Abbreviation::BeforeNumber:
        return !is_digit(characters_[next]) && !is_roman(word_from(next));
      case Abbreviation::Anywhere:
        return begins_sentence(next);
    }
    return true;
  }

  bool begins_sentence(std::size_t next) const {
    if (!has_capitals_) return false;
    const std::string word(word_from(next));
    const std::size_t letters = code_points(word).size(), after = next + letters;
    const char32_t mark = after < size() ? characters_[after] : U' ';
    if (letters == 1 && mark == '.') return false;    // an initial
    const bool elided = is_one_of(mark, U"'\u2019");  // "C'est"
    return often_begins_sentence(word) || (elided && often_begins_sentence(word + "'"));
  }

  /// Whether characters are letters between full stops: "U.S", "a.m".
  bool is_dotted(std::size_t begin, std::size_t end) const {
    bool dotted = false;
    for (std::size_t i = begin, letters = 0; i < end; ++i) {
      const bool dot = characters_[i] == '.';
      dotted = dotted || dot;
      letters = dot ? 0 : letters + 1;
      if (letters > 2 || !(dot || is_letter(characters_[i]))) return false;
    }
    return dotted;
  }

  /// The kind of the word [begin, end). Short words before it count with it ("z. B"). If
  /// the word is unknown, the text after its last hyphen counts ("Dipl.-Ing").
  Abbreviation kind_of(std::size_t begin, std::size_t end) const {
    constexpr int kMostWords = 4;
    Abbreviation kind = abbreviation(between(begin, end), letter_case_);
    if (kind == Abbreviation::None)
      for (std::size_t i = end; i-- > begin;)
        if (characters_[i] == '-') return abbreviation(between(i + 1, end), letter_case_);
    std::string chain(between(begin, end));
    for (int words = 1; words < kMostWords; ++words) {
      const std::size_t before = begin >= begin_ + 2 ? word_begin(begin - 1) : begin;
      const bool is_short = is_space_at(begin - 1) && before + 1 < begin && begin - before <= 5 &&
                            characters_[begin - 2] == '.';
      if (before == begin || !is_short) break;
      begin = before;
      chain.insert(0, between(before, word_end(before)));
      const Abbreviation of_chain = abbreviation(chain, letter_case_);
      if (of_chain != Abbreviation::None) kind = of_chain;
    }
    return kind;
  }

  /// The position after the full stop of the word that begins at `begin`.
  std::size_t word_end(std::size_t begin) const {
    std::size_t end = begin;
    while (end < size() && !is_space(characters_[end])) ++end;
    return end;
  }

  /// Whether a full stop after a number ends the sentence. A number of up to three digits may be
  /// an ordinal ("am 3. Mai") or number an item of a list ("1. First").
  bool number_ends(std::size_t begin, std::size_t stop, std::size_t next) const {
    if (stop - begin > 3) return true;
    if (begin == begin_ || is_month(word_from(next)) || is_ideographic(characters_[next]))
      return false;
    const std::string_view before = word_before(begin);
    if (is_digit(characters_[next])) {  // "3. 5. 2026"
      if (before.ends_with('.') && before[0] >= '0' && before[0] <= '9') return false;
      std::size_t end = next;
      while (end < size() && is_digit(characters_[end])) ++end;
      return stop - begin > 2 || end - next > 2 || end == size() || characters_[end] != '.';
    }
    if (begins_sentence(next)) return true;
    if (before == "und" || before == "bis" || before == "oder") {  // "17. und 18. Jahrhundert"
      const std::size_t word = word_begin(begin - 1);
      return word >= begin_ + 2 && characters_[word - 2] != '.';
    }
    return !comes_before_ordinal(before);
  }

  /// The word before the one that begins at `begin`; empty if it ends with punctuation.
  std::string_view word_before(std::size_t begin) const {
    if (begin < begin_ + 2 || !is_space(characters_[begin - 1])) return {};
    return between(word_begin(begin - 1), begin - 1);
  }

  /// Whether a full stop after a single letter ends the sentence. The letter is an initial ("J.
  /// Doe"), the first of an abbreviation ("z. B."), or the last of its sentence ("vitamin C. The").
  bool letter_ends(std::size_t letter, std::size_t next) const {
    const char32_t c = characters_[letter];
    if (!is_capital(c) && !is_small(c)) return true;
    if (is_small(c) && letter > begin_ && is_one_of(characters_[letter - 1], U"'\u2019"))
      return true;  // "Hoy's."
    if (letter == begin_ || is_digit(characters_[next])) return false;
    if (kind_of(letter, letter + 1) == Abbreviation::Inside) return false;
    const std::string_view before = word_before(letter);
    if (is_capital(c) && before.ends_with('.')) return false;
    return begins_sentence(next);
  }

  struct Bracket {
    std::size_t begin, end;
  };

  std::string_view text_;
  std::u32string characters_;
  std::vector<std::size_t> offsets_;  // byte offsets of each character and of the end
  std::vector<Bracket> brackets_;
  std::size_t next_bracket_ = 0;
  std::size_t begin_ = 0;  // of the current sentence
  bool has_word_ = false;  // the current sentence has a word
  bool has_capitals_ = false;
  LetterCase letter_case_ = LetterCase::Kept;
};

/// Whether the text has a character that can end a sentence before its own end.
bool may_have_several(std::string_view text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' || c == '!' || c == '?' || c == ';') return true;
    // A byte that may begin a stop beyond ASCII: U+037E, 0589, 061F, 06D4, 0964, ..., 203C, 2026,
    // 3002, FF01, ...
    const auto lead = static_cast<unsigned char>(c);
    if (lead >= 0xCD && lead != 0xD0 && lead != 0xD1) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string_view> split_sentences(std::string_view text) {
  const std::string_view whole = strip(text);
  if (whole.empty()) return {};
  if (!may_have_several(whole)) return {whole};
  return SentenceSplitter(whole).split();
}

std::vector<std::pair<std::string_view, std::string_view>> pairs_of_sentences(
    std::string_view source, std::string_view target) {
  const auto sources = split_sentences(source), targets = split_sentences(target);
  if (sources.size() != targets.size() || sources.size() < 2) return {{source, target}};
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  for (std::size_t i = 0; i < sources.size(); ++i) pairs.emplace_back(sources[i], targets[i]);
  return pairs;
}

}  // namespace dragoman
