#include "inference/split.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/utf8.h"

namespace dragoman {

namespace {

bool is_one_of(char32_t c, std::u32string_view set) {
  return set.find(c) != std::u32string_view::npos;
}

bool is_cjk(char32_t c) {
  return (c >= 0x3000 && c <= 0x30FF) || (c >= 0x31F0 && c <= 0x31FF) ||
         (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFF00 && c <= 0xFF9F) ||
         (c >= 0x20000 && c <= 0x3FFFF);
}

constexpr std::u32string_view kClosers = U"\"')]}\u2019\u201D\u00BB\u203A\u300D\u300F\uFF09\u3011";
constexpr std::u32string_view kSentenceEnds = U".!?\u2026\u061F\u06D4\u0964\u0965";
constexpr std::u32string_view kCjkSentenceEnds = U"\u3002\uFF01\uFF1F\uFF61";
constexpr std::u32string_view kClauseEnds = U",;:\u2013\u2014\u060C\u061B";
constexpr std::u32string_view kCjkClauseEnds = U"\uFF0C\u3001\uFF1B\uFF1A";

enum class Boundary { Sentence, Clause, Word, Character };

/// A stripped stretch of the line, in code points.
struct Range {
  std::size_t begin, end;
  std::size_t size() const { return end - begin; }
};

class Splitter {
 public:
  Splitter(std::string_view line, std::int64_t most, const CountPieces& count_pieces)
      : line_(line), most_(most), count_pieces_(count_pieces) {
    for (std::size_t offset = 0; offset < line.size();) {
      offsets_.push_back(offset);
      characters_.push_back(next_code_point(line, offset));
    }
    offsets_.push_back(line.size());
  }

  std::vector<LinePart> split() {
    const Range whole{0, characters_.size()};
    if (fits(whole)) {
      ranges_.push_back(whole);
    } else {
      std::size_t begin = 0;
      for (std::size_t i = 1; i < characters_.size(); ++i) {
        if (!is_boundary(Boundary::Sentence, i)) continue;
        split_in_halves(stripped({begin, i}));
        begin = i;
      }
      split_in_halves(stripped({begin, characters_.size()}));
    }
    std::vector<LinePart> parts;
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      const std::size_t next = i + 1 < ranges_.size() ? ranges_[i + 1].begin : characters_.size();
      parts.push_back({text(ranges_[i]), text({ranges_[i].end, next})});
    }
    return parts;
  }

 private:
  std::string_view text(Range range) const {
    return line_.substr(offsets_[range.begin], offsets_[range.end] - offsets_[range.begin]);
  }

  bool fits(Range range) const { return count_pieces_(text(range)) <= most_; }

  Range stripped(Range range) const {
    while (range.size() > 0 && is_space(characters_[range.begin])) ++range.begin;
    while (range.size() > 0 && is_space(characters_[range.end - 1])) --range.end;
    return range;
  }

  void split_in_halves(Range range) {
    if (range.size() == 0) return;
    if (range.size() == 1 || fits(range)) {
      ranges_.push_back(range);
      return;
    }
    const std::size_t cut = best_cut(range);
    split_in_halves(stripped({range.begin, cut}));
    split_in_halves(stripped({cut, range.end}));
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

  /// Whether such a stretch ends before character i, i > 0.
  bool is_boundary(Boundary kind, std::size_t i) const {
    switch (kind) {
      case Boundary::Sentence:
        return ends_sentence(i);
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

  bool ends_sentence(std::size_t i) const {
    if (is_one_of(characters_[i], kClosers)) return false;
    std::size_t end = i;
    while (end > 1 && is_one_of(characters_[end - 1], kClosers)) --end;
    if (is_one_of(characters_[end - 1], kCjkSentenceEnds))
      return !is_one_of(characters_[i], kCjkSentenceEnds);
    if (!is_one_of(characters_[end - 1], kSentenceEnds) || !is_space(characters_[i])) return false;
    std::size_t next = i;
    while (next < characters_.size() && is_space(characters_[next])) ++next;
    if (next < characters_.size() && general_category(characters_[next]) == "Ll") return false;
    return characters_[end - 1] != '.' || !is_abbreviation(end - 1);
  }

  /// Whether the word before the full stop at `stop` is a letter, an ordinal ("3. Mai") or has no
  /// vowel ("Dr.", "Mrs.", "bzw.").
  bool is_abbreviation(std::size_t stop) const {
    std::size_t digits = 0, letters = 0;
    bool vowel = false, other = false;
    std::size_t i = stop;
    for (; i > 0 && !is_space(characters_[i - 1]); --i) {
      const char32_t c = characters_[i - 1];
      if (is_one_of(c, U"([\"'\u201C\u201E\u00AB")) break;
      if (c >= '0' && c <= '9') {
        ++digits;
      } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
        ++letters;
        vowel = vowel || is_one_of(c, U"aeiouyAEIOUY");
      } else {
        other = true;
      }
    }
    if (other) return stop - i == 1 && general_category(characters_[i])[0] == 'L';
    if (letters == 0) return digits > 0 && digits <= 2;
    return letters == 1 || !vowel;
  }

  std::string_view line_;
  std::int64_t most_;
  const CountPieces& count_pieces_;
  std::u32string characters_;
  std::vector<std::size_t> offsets_;  // in bytes, of each character and of the end
  std::vector<Range> ranges_;
};

char32_t last_code_point(std::string_view text) {
  std::size_t offset = text.size() - 1;
  while (offset > 0 && (static_cast<unsigned char>(text[offset]) & 0xC0) == 0x80) --offset;
  return next_code_point(text, offset);
}

}  // namespace

std::vector<LinePart> split_line(std::string_view line, std::int64_t most,
                                 const CountPieces& count_pieces) {
  return Splitter(line, most, count_pieces).split();
}

void append_part(std::string& joined, const LinePart& before, std::string_view translation) {
  std::size_t first = 0;
  if (!joined.empty() && !translation.empty() && !is_cjk(last_code_point(joined)) &&
      !is_cjk(next_code_point(translation, first))) {
    if (before.separator.empty())
      joined += is_cjk(last_code_point(before.text)) ? " " : "";
    else if (before.separator.find_first_not_of(" \t") == std::string_view::npos)
      joined += before.separator;
    else
      joined += ' ';
  }
  joined += translation;
}

}  // namespace dragoman
