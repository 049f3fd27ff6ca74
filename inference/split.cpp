#include "inference/split.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "tokenizer/sentence_splitter.h"

namespace dragoman {

namespace {

bool is_cjk(char32_t c) {
  return (c >= 0x3000 && c <= 0x30FF) || (c >= 0x31F0 && c <= 0x31FF) ||
         (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFF00 && c <= 0xFF9F) ||
         (c >= 0x20000 && c <= 0x3FFFF);
}

constexpr std::u32string_view kClauseEnds = U",;:\u2013\u2014\u060C\u061B";
constexpr std::u32string_view kCjkClauseEnds = U"\uFF0C\u3001\uFF1B\uFF1A";

enum class Boundary { Clause, Word, Character };

/// A stripped stretch of the sentence, in code points.
struct Range {
  std::size_t begin, end;
  std::size_t size() const { return end - begin; }
};

bool fits(const std::vector<TokenId>& tokens, std::int64_t most) {
  return static_cast<std::int64_t>(tokens.size()) <= most;
}

/// Halves a sentence until its parts have few enough pieces.
class SentenceHalving {
 public:
  SentenceHalving(std::string_view sentence, std::int64_t most, const Encode& encode)
      : sentence_(sentence), most_(most), encode_(encode) {
    for (std::size_t offset = 0; offset < sentence.size();) {
      offsets_.push_back(offset);
      characters_.push_back(next_code_point(sentence, offset));
    }
    offsets_.push_back(sentence.size());
    const auto pieces = static_cast<std::size_t>(most);
    if (characters_.size() > kLong * pieces) most_whole_ = std::max<std::size_t>(pieces / 2, 1);
  }

  void append_parts(std::vector<LinePart>& parts) const {
    append_halves({0, characters_.size()}, parts);
  }

 private:
  std::string_view text(Range range) const {
    return sentence_.substr(offsets_[range.begin], offsets_[range.end] - offsets_[range.begin]);
  }

  Range stripped(Range range) const {
    while (range.size() > 0 && is_space(characters_[range.begin])) ++range.begin;
    while (range.size() > 0 && is_space(characters_[range.end - 1])) --range.end;
    return range;
  }

  /// In a long sentence the halves come first: a stretch with a half that is too long is too long
  /// itself, and need not be encoded.
  void append_halves(Range range, std::vector<LinePart>& parts) const {
    if (range.size() == 0) return;
    const std::size_t before = parts.size();
    const bool halves_first = range.size() > most_whole_;
    if (!halves_first && append_whole(range, parts)) return;
    const std::size_t cut = best_cut(range);
    append_halves(stripped({range.begin, cut}), parts);
    append_halves(stripped({cut, range.end}), parts);
    if (!halves_first || parts.size() > before + 2) return;
    if (append_whole(range, parts)) parts.erase(parts.end() - 3, parts.end() - 1);
  }

  /// Appends the range as one part, if it is not too long. Returns whether it did.
  bool append_whole(Range range, std::vector<LinePart>& parts) const {
    std::vector<TokenId> tokens = encode_(text(range));
    if (range.size() > 1 && !fits(tokens, most_)) return false;
    parts.push_back({.text = text(range), .tokens = std::move(tokens)});
    return true;
  }

  /// The cut nearest to the middle: a clause's end or a space if the middle half has one.
  std::size_t best_cut(Range range) const {
    const std::size_t quarter = range.size() / 4;
    const Range middle{range.begin + quarter, range.end - quarter};
    for (const Boundary kind : {Boundary::Clause, Boundary::Word})
      if (const auto cut = nearest_to_middle(kind, middle)) return *cut;
    if (const auto cut = nearest_to_middle(Boundary::Character, range)) return *cut;
    return range.begin + range.size() / 2;
  }

  std::optional<std::size_t> nearest_to_middle(Boundary kind, Range range) const {
    const std::size_t middle = range.begin + range.size() / 2;
    for (std::size_t distance = 0; distance <= range.size() / 2 + 1; ++distance) {
      for (const std::size_t i : {middle + distance, middle - distance})
        if (i > range.begin && i < range.end && is_boundary(kind, i)) return i;
    }
    return std::nullopt;
  }

  /// Whether a clause, word or character ends before character i, i > 0.
  bool is_boundary(Boundary kind, std::size_t i) const {
    switch (kind) {
      case Boundary::Clause:
        return is_one_of(characters_[i - 1], kCjkClauseEnds) ||
               (is_space(characters_[i]) && is_one_of(characters_[i - 1], kClauseEnds));
      case Boundary::Word:
        return is_space(characters_[i]);
      case Boundary::Character:
        return !continues_character(i);
    }
    return false;
  }

  bool continues_character(std::size_t i) const {
    constexpr char32_t kZeroWidthJoiner = 0x200D;
    const char32_t c = characters_[i];
    return general_category(c)[0] == 'M' || c == kZeroWidthJoiner ||
           characters_[i - 1] == kZeroWidthJoiner || (c >= 0x1F3FB && c <= 0x1F3FF);
  }

  /// A sentence with more characters than this for each piece that it may have is long.
  static constexpr std::size_t kLong = 4;

  std::string_view sentence_;
  std::int64_t most_;
  std::size_t most_whole_ = std::numeric_limits<std::size_t>::max();  // larger: halves first
  const Encode& encode_;
  std::u32string characters_;
  std::vector<std::size_t> offsets_;  // in bytes, of each character and of the end
};

char32_t last_code_point(std::string_view text) {
  std::size_t offset = character_start(text, text.size() - 1);
  return next_code_point(text, offset);
}

/// Whether a sentence ends with a CJK character, apart from quotation marks and brackets after it:
/// "\u3002\u201D".
bool ends_in_cjk(std::string_view sentence) {
  while (!sentence.empty()) {
    const char32_t last = last_code_point(sentence);
    if (is_cjk(last)) return true;
    const std::string_view category = general_category(last);
    if (category != "Pf" && category != "Pi" && category != "Pe") return false;
    sentence.remove_suffix(sentence.size() - character_start(sentence, sentence.size() - 1));
  }
  return false;
}

/// White space as it is, but a blank if it would break the line or is as wide as a CJK character.
std::string without_breaks(std::string_view space) {
  std::string text;
  for (std::size_t offset = 0; offset < space.size();) {
    const char32_t c = next_code_point(space, offset);
    const bool is_plain = c == '\t' || (general_category(c) == "Zs" && c != 0x3000);
    if (is_plain)
      append_utf8(text, c);
    else if (!text.ends_with(' '))
      text += ' ';
  }
  return text;
}

/// The sentences of a line. Two are one if the end of the first is within a stretch of `whole`.
std::vector<std::string_view> sentences_of(std::string_view line,
                                           const std::vector<ByteRange>& whole) {
  std::vector<std::string_view> sentences;
  std::size_t next = 0, end_of_whole = 0;
  for (const std::string_view sentence : split_sentences(line)) {
    const auto begin = static_cast<std::size_t>(sentence.data() - line.data());
    for (; next < whole.size() && whole[next].begin < begin; ++next)
      end_of_whole = std::max(end_of_whole, whole[next].end);
    const bool is_cut = begin < end_of_whole;
    if (is_cut && !sentences.empty()) {
      const char* first = sentences.back().data();
      const char* end = sentence.data() + sentence.size();
      sentences.back() = {first, static_cast<std::size_t>(end - first)};
    } else {
      sentences.push_back(sentence);
    }
  }
  return sentences;
}

}  // namespace

std::vector<LinePart> split_line(std::string_view line, SentenceCuts cuts, std::int64_t most,
                                 const Encode& encode, const std::vector<ByteRange>& whole) {
  std::vector<LinePart> parts;
  if (cuts == SentenceCuts::InLongLines) {
    std::vector<TokenId> tokens = encode(line);
    if (fits(tokens, most)) return {{.text = line, .tokens = std::move(tokens)}};
  }
  for (const std::string_view sentence : sentences_of(line, whole)) {
    if (!parts.empty()) parts.back().ends_sentence = true;
    SentenceHalving(sentence, most, encode).append_parts(parts);
  }
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const char* end = parts[i].text.data() + parts[i].text.size();
    parts[i].separator = {end, static_cast<std::size_t>(parts[i + 1].text.data() - end)};
  }
  return parts;
}

void append_part(std::string& joined, const LinePart& before, std::string_view translation) {
  std::size_t first = 0;
  if (!joined.empty() && !translation.empty()) {
    const bool source_is_cjk = ends_in_cjk(before.text);
    if (ends_in_cjk(joined) || is_cjk(next_code_point(translation, first)))
      joined += source_is_cjk ? before.separator : "";
    else if (before.separator.empty())
      joined += source_is_cjk || before.ends_sentence ? " " : "";
    else
      joined += without_breaks(before.separator);
  }
  joined += translation;
}

}  // namespace dragoman
