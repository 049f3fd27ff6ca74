#include "inference/assemble_translation.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

namespace {

bool makes_words(char32_t c) {
  const char category = general_category(c)[0];
  return category == 'L' || category == 'N' || category == 'M';
}

bool is_unspaced_letter(char32_t c) { return makes_words(c) && is_unspaced(c); }

char32_t first_of(std::string_view text) {
  std::size_t offset = 0;
  return text.empty() ? U' ' : next_code_point(text, offset);
}

char32_t last_of(std::string_view text) {
  return text.empty() ? U' ' : first_of(text.substr(character_start(text, text.size() - 1)));
}

/// The bytes from the first to the last letter or digit; empty, at the end of the text, if it has
/// none.
ByteRange core_of(std::string_view text) {
  ByteRange core{text.size(), text.size()};
  bool is_found = false;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t begin = offset;
    if (!makes_words(next_code_point(text, offset))) continue;
    if (!std::exchange(is_found, true)) core.begin = begin;
    core.end = offset;
  }
  return core;
}

/// Whether a unit begins with `piece`, after the piece `before`.
bool begins_unit(const std::string& before, const std::string& piece) {
  const auto has_unspaced = [](const std::string& text) {
    return std::ranges::any_of(code_points(text), is_unspaced_letter);
  };
  return piece.starts_with(kSpaceMark) || has_unspaced(piece) || has_unspaced(before);
}

}  // namespace

std::vector<WrittenUnit> units_of(std::span<const TokenId> tokens, const Tokenizer& target) {
  const std::string whole = target.decode(tokens);
  std::vector<WrittenUnit> units;
  std::size_t begin = 0, written = 0;
  for (std::size_t end = 1; end <= tokens.size(); ++end) {
    std::size_t size = whole.size();
    if (end < tokens.size()) {
      if (!begins_unit(target.piece(tokens[end - 1]), target.piece(tokens[end]))) continue;
      const std::string text = target.decode(tokens.first(end));
      if (!whole.starts_with(text)) continue;  // ends within the bytes of a character
      size = text.size();
    }
    units.push_back({.begin = begin, .end = end, .text = whole.substr(written, size - written)});
    begin = end;
    written = size;
  }
  return units;
}

namespace {

class CopyPlacer {
 public:
  CopyPlacer(const PreparedPart& part, const Hypothesis& hypothesis, const Tokenizer& target)
      : part_(part),
        source_(part.text.text),
        read_(part.marked.text()),
        hypothesis_(hypothesis),
        units_(units_of(hypothesis.tokens, target)),
        taken_(units_.size(), false),
        replaced_(units_.size(), false),
        placed_(units_.size() + 1) {}

  std::vector<WrittenUnit> placed() {
    const std::vector<CopiedText>& copies = part_.unseen.copies;
    for (std::size_t c = 0; c < copies.size(); ++c)
      if (copies[c].kind == CopiedText::Kind::Sign || !replace_word(c)) place_beside(c);
    return written();
  }

 private:
  /// The copies that stand before a unit, after its last letter, and after all of it.
  struct Neighbours {
    std::vector<std::size_t> before, after_word, after;
  };

  std::string_view text_of(const CopiedText& copy) const {
    return source_.substr(copy.begin, copy.end - copy.begin);
  }
  bool has_blank_before(const CopiedText& copy) const {
    return copy.begin > 0 && is_space(last_of(source_.substr(0, copy.begin)));
  }
  bool has_blank_after(const CopiedText& copy) const {
    return copy.end < source_.size() && is_space(first_of(source_.substr(copy.end)));
  }

  /// The bytes that the model reads instead of a word.
  ByteRange read_bytes(const CopiedText& word) const {
    const std::size_t begin = part_.marked.marked_offset(word.begin);
    return {begin, word.stand_in.empty() ? part_.marked.marked_offset(word.end)
                                         : begin + word.stand_in.size()};
  }

  /// The attention of a unit's tokens to bytes of the text that the model reads, on average.
  double attention(const WrittenUnit& unit, ByteRange bytes) const {
    if (hypothesis_.attention.empty() || unit.begin == unit.end) return 0;
    const std::size_t source_length = hypothesis_.attention.size() / hypothesis_.tokens.size();
    double sum = 0;
    for (std::size_t p = 0; p < part_.pieces.size(); ++p) {
      const PieceSpan& piece = part_.pieces[p];
      if (piece.begin >= bytes.end || std::max(piece.end, piece.begin + 1) <= bytes.begin) continue;
      for (std::size_t t = unit.begin; t < unit.end; ++t)
        sum += static_cast<double>(hypothesis_.attention[t * source_length + p]);
    }
    return sum / static_cast<double>(unit.end - unit.begin);
  }

  /// The unit that attends most to these bytes; none without attention.
  std::optional<std::size_t> unit_of(ByteRange bytes) const {
    std::optional<std::size_t> best;
    double most = 0;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      if (core_of(units_[u].text).empty()) continue;
      const double here = attention(units_[u], bytes);
      if (here > most) best = u, most = here;
    }
    return best;
  }

  /// The last word before byte `at` of the text that is read; empty if there is none.
  ByteRange word_before(std::size_t at) const {
    const ByteRange core = core_of(std::string_view(read_).substr(0, at));
    if (core.empty()) return {0, 0};
    std::size_t begin = character_start(read_, core.end - 1);
    const bool is_alone = is_unspaced_letter(first_of(std::string_view(read_).substr(begin)));
    while (!is_alone && begin > 0) {
      const std::size_t before = character_start(read_, begin - 1);
      if (is_space(first_of(std::string_view(read_).substr(before)))) break;
      begin = before;
    }
    return {begin, core.end};
  }

  ByteRange word_after(std::size_t at) const {
    const std::string_view rest = std::string_view(read_).substr(at);
    const ByteRange core = core_of(rest);
    if (core.empty()) return {0, 0};
    std::size_t end = core.begin;
    const bool is_alone = is_unspaced_letter(next_code_point(rest, end));
    while (!is_alone && end < rest.size()) {
      std::size_t after = end;
      if (is_space(next_code_point(rest, after))) break;
      end = after;
    }
    return {at + core.begin, at + end};
  }

  /// Whether no other word of the source gets more of the unit's attention.
  bool looks_most_at(const WrittenUnit& unit, ByteRange bytes) const {
    const double here = attention(unit, bytes);
    for (std::size_t begin = 0; begin < read_.size();) {
      const ByteRange word = word_after(begin);
      if (word.empty()) break;
      const bool is_same = word.begin < bytes.end && bytes.begin < word.end;
      if (!is_same && attention(unit, word) > here) return false;
      begin = word.end;
    }
    return true;
  }

  /// The place of a stand-in in a unit: between other characters than letters and digits ("X-29"),
  /// or with an ending of one letter.
  struct Place {
    std::size_t unit, begin;
  };
  std::optional<Place> place_of(const std::string& stand_in) const {
    for (const std::size_t ending : {std::size_t{0}, std::size_t{1}})
      for (std::size_t u = 0; u < units_.size(); ++u) {
        if (replaced_[u]) continue;
        const std::string_view text = units_[u].text;
        for (ByteRange word{0, 0}; word.begin < text.size(); word.begin = word.end) {
          while (word.end < text.size()) {
            std::size_t after = word.end;
            if (!makes_words(next_code_point(text, after))) break;
            word.end = after;
          }
          if (word.end - word.begin == stand_in.size() + ending &&
              text.substr(word.begin).starts_with(stand_in))
            return Place{u, word.begin};
          if (word.end < text.size()) next_code_point(text, word.end);
        }
      }
    return std::nullopt;
  }

  /// The units from first to last that attend to a word of the source, and more to it than to any
  /// other.
  struct Units {
    std::size_t first, last;
  };
  std::optional<Units> units_for(ByteRange word) const {
    const auto best = unit_of(word);
    if (!best) return std::nullopt;
    const double most = attention(units_[*best], word);
    const auto belongs = [&](std::size_t u) {
      return !taken_[u] && attention(units_[u], word) >= kAboutTheMost * most &&
             looks_most_at(units_[u], word);
    };
    if (!belongs(*best)) return std::nullopt;
    Units found{*best, *best};
    while (found.first > 0 && belongs(found.first - 1)) --found.first;
    while (found.last + 1 < units_.size() && belongs(found.last + 1)) ++found.last;
    return found;
  }

  /// Returns false if the translation has no word for it.
  bool replace_word(std::size_t number) {
    const CopiedText& word = copy_of(number);
    if (const auto place = word.stand_in.empty() ? std::nullopt : place_of(word.stand_in)) {
      WrittenUnit& unit = units_[place->unit];
      unit.text.replace(place->begin, word.stand_in.size(), text_of(word));
      if (!unit.word) unit.word = number;
      taken_[place->unit] = true;
      return true;
    }
    const auto units = units_for(read_bytes(word));
    if (!units) return false;
    WrittenUnit& first = units_[units->first];
    const std::string last = units_[units->last].text;
    first.text.resize(std::min(core_of(first.text).begin, first.text.size()));
    first.text += text_of(word);
    first.text += last.substr(core_of(last).end);
    first.word = number;
    for (std::size_t u = units->first; u <= units->last; ++u) {
      taken_[u] = replaced_[u] = true;
      if (u == units->first) continue;
      first.end = units_[u].end;
      units_[u] = {.begin = units_[u].end, .end = units_[u].end, .text = {}};
    }
    return true;
  }

  void place_beside(std::size_t number) {
    const CopiedText& copy = copy_of(number);
    const std::size_t at = part_.marked.marked_offset(copy.begin);
    const std::size_t after = part_.marked.marked_offset(copy.end);
    const ByteRange left = word_before(at), right = word_after(after);
    const std::size_t last = placed_.size() - 1;  // no unit: the end
    if (left.empty()) return placed_.front().before.push_back(number);
    if (right.empty()) {
      const bool is_before_stop = !strip(std::string_view(read_).substr(after)).empty();
      const auto word = is_before_stop ? last_word() : std::nullopt;
      return word ? placed_[*word].after_word.push_back(number)
                  : placed_[last].before.push_back(number);
    }
    const bool belongs_right = !has_blank_after(copy) && has_blank_before(copy) &&
                               makes_words(first_of(source_.substr(copy.end)));
    const auto unit = unit_of(belongs_right ? right : left);
    if (!unit) return placed_[last].before.push_back(number);
    if (belongs_right) return placed_[*unit].before.push_back(number);
    const bool follows_word = strip(std::string_view(read_).substr(0, at)).size() == left.end;
    (follows_word ? placed_[*unit].after_word : placed_[*unit].after).push_back(number);
  }

  std::optional<std::size_t> last_word() const {
    for (std::size_t u = units_.size(); u-- > 0;)
      if (!core_of(units_[u].text).empty()) return u;
    return std::nullopt;
  }

  std::vector<WrittenUnit> written() const {
    std::vector<WrittenUnit> all;
    for (std::size_t u = 0; u <= units_.size(); ++u) {
      const Neighbours& neighbours = placed_[u];
      const bool is_end = u == units_.size();
      WrittenUnit unit = is_end ? WrittenUnit{} : units_[u];
      // A copy in front of a word takes the blank that stood there.
      for (const std::size_t copy : neighbours.before) append(copy, all);
      if (is_end) break;
      if (!neighbours.before.empty() && !has_blank_after(copy_of(neighbours.before.back())))
        unit.text.erase(0, unit.text.find_first_not_of(' '));
      const std::size_t end =
          neighbours.after_word.empty() ? unit.text.size() : core_of(unit.text).end;
      WrittenUnit rest{.begin = unit.end, .end = unit.end, .text = unit.text.substr(end)};
      unit.text.resize(end);
      append(std::move(unit), all);
      for (const std::size_t copy : neighbours.after_word) append(copy, all);
      if (!rest.text.empty()) all.push_back(std::move(rest));
      for (const std::size_t copy : neighbours.after) append(copy, all);
    }
    return all;
  }

  const CopiedText& copy_of(std::size_t number) const { return part_.unseen.copies[number]; }

  /// Appends a unit. A blank separates it from a copy before it, if a blank follows the copy's
  /// source.
  void append(WrittenUnit unit, std::vector<WrittenUnit>& all) const {
    const bool follows_copy = !all.empty() && all.back().copy;
    if (follows_copy && has_blank_after(copy_of(*all.back().copy)) &&
        is_word_character(first_of(unit.text)))
      unit.text.insert(0, 1, ' ');
    all.push_back(std::move(unit));
  }

  void append(std::size_t number, std::vector<WrittenUnit>& all) const {
    const CopiedText& copy = copy_of(number);
    const char32_t before = all.empty() ? U' ' : last_of(all.back().text);
    const bool wants_blank =
        has_blank_before(copy) && !is_space(before) && !is_unspaced_letter(before);
    all.push_back({.begin = 0,
                   .end = 0,
                   .text = (wants_blank ? " " : "") + std::string(text_of(copy)),
                   .copy = number});
  }

  const PreparedPart& part_;
  const std::string_view source_;
  const std::string& read_;
  const Hypothesis& hypothesis_;
  std::vector<WrittenUnit> units_;
  std::vector<bool> taken_;         // by a word that is copied
  std::vector<bool> replaced_;      // by one that has no stand-in in the translation
  std::vector<Neighbours> placed_;  // by each unit; the last one is the end
};

}  // namespace

std::vector<WrittenUnit> place_copies(const PreparedPart& part, const Hypothesis& hypothesis,
                                      const Tokenizer& target) {
  return CopyPlacer(part, hypothesis, target).placed();
}

}  // namespace dragoman
