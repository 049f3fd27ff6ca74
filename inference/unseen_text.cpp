#include "inference/unseen_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/utf8.h"

namespace dragoman {

namespace {

char major_category(char32_t c) { return general_category(c)[0]; }

bool is_full_or_half_width(char32_t c) { return c >= 0xFF00 && c <= 0xFFEF; }

bool is_word_letter(char32_t c) {
  if (general_category(c) != "Lm") return major_category(c) == 'L';
  // A raised letter (10\u207F) is a sign: on the line it would mean something else.
  const std::string text = to_utf8({&c, 1});
  return is_full_or_half_width(c) ||
         normalised(text, NormalForm::Nfkc) == normalised(text, NormalForm::Nfc);
}

bool is_decimal_digit(char32_t c) { return general_category(c) == "Nd"; }

/// Whether it belongs to the emoji before it: a skin colour, or the letters of a flag.
bool is_emoji_modifier(char32_t c) {
  return (c >= 0x1F3FB && c <= 0x1F3FF) || (c >= 0xE0020 && c <= 0xE007F);
}

constexpr char32_t kJoiner = 0x200D;  // of two emoji

/// Scripts with several stretches of code points. Each other block of 128 counts as a script.
constexpr std::array<std::array<char32_t, 3>, 40> kScripts = {{
    {0x0041, 0x02AF, 0},  {0x1D00, 0x1DBF, 0},  {0x1E00, 0x1EFF, 0},
    {0x2C60, 0x2C7F, 0},  // Latin
    {0xA720, 0xA7FF, 0},  {0xAB30, 0xAB6F, 0},  {0xFB00, 0xFB06, 0},
    {0xFF21, 0xFF5A, 0},  {0x0370, 0x03FF, 1},  {0x1F00, 0x1FFF, 1},  // Greek
    {0x0400, 0x052F, 2},  {0x1C80, 0x1C8F, 2},  {0x2DE0, 0x2DFF, 2},
    {0xA640, 0xA69F, 2},                        // Cyrillic
    {0x0530, 0x058F, 3},  {0xFB13, 0xFB17, 3},  // Armenian
    {0x0590, 0x05FF, 4},  {0xFB1D, 0xFB4F, 4},  // Hebrew
    {0x0600, 0x06FF, 5},  {0x0750, 0x077F, 5},  {0x0870, 0x08FF, 5},
    {0xFB50, 0xFDFF, 5},  // Arabic
    {0xFE70, 0xFEFF, 5},  {0x10A0, 0x10FF, 6},  {0x1C90, 0x1CBF, 6},
    {0x2D00, 0x2D2F, 6},  // Georgian
    {0x1100, 0x11FF, 7},  {0x3130, 0x318F, 7},  {0xA960, 0xA97F, 7},
    {0xAC00, 0xD7FF, 7},                                              // Hangul
    {0x1200, 0x139F, 8},  {0x2D80, 0x2DDF, 8},  {0xAB00, 0xAB2F, 8},  // Ethiopic
    {0x13A0, 0x13FF, 9},  {0xAB70, 0xABBF, 9},                        // Cherokee
    {0x1400, 0x167F, 10}, {0x18B0, 0x18FF, 10},                       // Canadian
    {0x1800, 0x18AF, 11},                                             // Mongolian
    {0xA000, 0xA4CF, 12},                                             // Yi
    {0xA500, 0xA63F, 13},                                             // Vai
}};

char32_t script_of(char32_t c) {
  for (const auto& [first, last, script] : kScripts)
    if (c >= first && c <= last) return script;
  return 100 + c / 128;
}

/// Signs that can replace each other: the plain one, those that open and those that close.
struct Equals {
  std::u32string_view plain, opening, closing;
};
constexpr std::array<Equals, 4> kEquals = {{
    {U"\"", U"\u201C\u201E\u00AB\u201D\u201F\u301D\uFF02", U"\u201D\u201C\u00BB\u201E\u301E\u2033"},
    {U"'", U"\u2018\u201A\u2019\u201B\u2039\u0060\uFF07",
     U"\u2019\u2018\u203A\u2032\u02BC\u02BB\u00B4"},
    {U"-", U"\u2010\u2011\u2013\u2212\u2014\u2012\u2015", U""},
    {U"...", U"\u2026", U""},
}};

/// Letters that have a plain form, but do not decompose into a letter and a mark.
constexpr std::array<std::pair<char32_t, std::string_view>, 18> kPlainLetters = {{
    {U'\u00D8', "O"},
    {U'\u00F8', "o"},
    {U'\u0141', "L"},
    {U'\u0142', "l"},
    {U'\u0110', "D"},
    {U'\u0111', "d"},
    {U'\u0126', "H"},
    {U'\u0127', "h"},
    {U'\u0166', "T"},
    {U'\u0167', "t"},
    {U'\u0131', "i"},
    {U'\u00DF', "ss"},
    {U'\u1E9E', "SS"},
    {U'\u00C6', "AE"},
    {U'\u00E6', "ae"},
    {U'\u0152', "OE"},
    {U'\u0153', "oe"},
    {U'\u0149', "'n"},
}};

/// The text without accents and points. The vowel signs of Indian scripts, and the marks that turn
/// one Japanese letter into another, stay.
std::string without_accents(std::string_view text) {
  constexpr int kLastOfLetters = 9;  // combining class of nukta, voicing marks and virama
  std::string plain;
  for (const char32_t c : code_points(normalised(text, NormalForm::Nfd))) {
    if (major_category(c) == 'M' && combining_class(c) > kLastOfLetters) continue;
    const auto* letter =
        std::ranges::find(kPlainLetters, c, [](const auto& each) { return each.first; });
    if (letter != kPlainLetters.end())
      plain += letter->second;
    else
      append_utf8(plain, c);
  }
  return normalised(plain, NormalForm::Nfc);
}

/// A character with its marks.
struct Cluster {
  std::size_t begin, end;
  char32_t base;
  enum class State { Seen, Kept, Changed, Word, Sign } state = State::Seen;
  std::string form = {};  ///< of Changed
};

using State = Cluster::State;

/// Finds the forms of unseen characters.
class Forms {
 public:
  Forms(std::string_view text, const CharacterSet& seen) : text_(text), seen_(seen) {}

  /// A form that the model has seen; "" if the character says nothing; nothing if there is no form.
  std::optional<std::string> of(const Cluster& cluster) const {
    const std::string_view own = text_.substr(cluster.begin, cluster.end - cluster.begin);
    // More marks than people write: putting them in order takes quadratic time.
    constexpr std::size_t kLongest = 256;
    if (own.size() > kLongest) return std::nullopt;
    if (is_space(cluster.base)) return " ";
    const char kind = major_category(cluster.base);
    if (kind == 'C' && general_category(cluster.base) != "Co" &&
        general_category(cluster.base) != "Cn")
      return "";
    for (std::string& form : candidates(cluster, own))
      if (!form.empty() && form != own && seen_.contains_all(form)) return std::move(form);
    return std::nullopt;
  }

 private:
  std::vector<std::string> candidates(const Cluster& cluster, std::string_view own) const {
    std::vector<std::string> forms = {normalised(own, NormalForm::Nfc),
                                      normalised(own, NormalForm::Nfd)};
    const char32_t base = cluster.base;
    if (is_word_letter(base) || major_category(base) == 'P' || major_category(base) == 'M' ||
        is_decimal_digit(base) || is_full_or_half_width(base))
      forms.push_back(normalised(own, NormalForm::Nfkc));
    add_equal_signs(cluster, forms);
    if (is_word_letter(base)) {
      const std::string plain = without_accents(own);
      add_cases(normalised(own, NormalForm::Nfc), forms);
      add_cases(normalised(own, NormalForm::Nfd), forms);
      forms.push_back(plain);
      add_cases(plain, forms);
    } else {
      forms.push_back(to_utf8({&base, 1}));  // without a variation selector, for example
    }
    return forms;
  }

  /// Not "SS" for "\u00DF".
  static void add_cases(const std::string& text, std::vector<std::string>& forms) {
    for (std::string& other : std::array{lower_case(text), upper_case(text)})
      if (count_code_points(other) == count_code_points(text)) forms.push_back(std::move(other));
  }

  void add_equal_signs(const Cluster& cluster, std::vector<std::string>& forms) const {
    const auto add = [&forms](std::u32string_view signs) {
      for (const char32_t sign : signs) forms.push_back(to_utf8({&sign, 1}));
    };
    for (const Equals& equal : kEquals) {
      const std::u32string own(1, cluster.base);
      if (equal.plain != own && equal.opening.find(own) == own.npos &&
          equal.closing.find(own) == own.npos)
        continue;
      forms.push_back(to_utf8(equal.plain));
      const bool opens = is_at_start(cluster.begin);
      add(opens ? equal.opening : equal.closing);
      add(opens ? equal.closing : equal.opening);
    }
  }

  /// Whether a quote at this byte opens.
  bool is_at_start(std::size_t begin) const {
    if (begin == 0) return true;
    std::size_t before = character_start(text_, begin - 1);
    const char32_t c = next_code_point(text_, before);
    return is_space(c) || general_category(c) == "Ps" || general_category(c) == "Pi";
  }

  std::string_view text_;
  const CharacterSet& seen_;
};

std::vector<Cluster> clusters_of(std::string_view text, const CharacterSet& seen,
                                 std::span<const ByteRange> kept) {
  std::vector<Cluster> clusters;
  const Forms forms(text, seen);
  std::size_t next_kept = 0;
  for (std::size_t offset = 0; offset < text.size();) {
    Cluster cluster{.begin = offset, .end = offset, .base = 0};
    cluster.base = next_code_point(text, offset);
    for (std::size_t mark = offset; mark < text.size(); offset = mark)
      if (major_category(next_code_point(text, mark)) != 'M') break;
    cluster.end = offset;
    while (next_kept < kept.size() && kept[next_kept].end <= cluster.begin) ++next_kept;
    if (next_kept < kept.size() && kept[next_kept].begin < cluster.end) {
      cluster.state = State::Kept;
    } else if (cluster.base != U' ' &&
               !seen.contains_all(text.substr(cluster.begin, cluster.end - cluster.begin))) {
      if (auto form = forms.of(cluster)) {
        cluster.state = State::Changed;
        cluster.form = *std::move(form);
      } else {
        const bool is_word = is_word_letter(cluster.base) || is_decimal_digit(cluster.base);
        cluster.state = is_word ? State::Word : State::Sign;
      }
    }
    clusters.push_back(std::move(cluster));
  }
  return clusters;
}

/// Makes the copies of the characters that have no form.
class Copies {
 public:
  Copies(std::string_view text, const std::vector<Cluster>& clusters)
      : text_(text), clusters_(clusters) {}

  std::vector<CopiedText> find() {
    for (std::size_t i = 0; i < clusters_.size(); ++i) {
      if (clusters_[i].state == State::Word)
        i = add_word(i) - 1;
      else if (clusters_[i].state == State::Sign)
        i = add_sign(i) - 1;
    }
    return std::move(copies_);
  }

 private:
  /// Both functions return the first cluster after the copy.
  std::size_t add_word(std::size_t at) {
    std::size_t begin = at, end = at + 1;
    while (std::size_t more = joined_before(at, begin)) begin -= more;
    while (std::size_t more = joined_after(at, end)) end += more;
    const CopiedText word{clusters_[begin].begin, clusters_[end - 1].end, CopiedText::Kind::Word};
    if (joins_last(word))
      copies_.back().end = word.end;
    else
      copies_.push_back(word);
    return end;
  }

  std::size_t add_sign(std::size_t at) {
    std::size_t end = at + 1;
    const auto is_joined = [this](std::size_t i) {
      const Cluster& cluster = clusters_[i];
      return cluster.state == State::Sign || cluster.base == kJoiner ||
             is_emoji_modifier(cluster.base) || clusters_[i - 1].base == kJoiner;
    };
    while (end < clusters_.size() && clusters_[end].state != State::Kept && is_joined(end)) ++end;
    const CopiedText sign{clusters_[at].begin, clusters_[end - 1].end, CopiedText::Kind::Sign};
    if (!copies_.empty() && copies_.back().kind == CopiedText::Kind::Sign &&
        text_.substr(last_end(), sign.begin - last_end()) == " ")
      copies_.back().end = sign.end;
    else
      copies_.push_back(sign);
    return end;
  }

  /// Whether a cluster belongs to the word of another one, which has no form.
  bool belongs(std::size_t word, std::size_t other) const {
    const Cluster &one = clusters_[word], &two = clusters_[other];
    if (two.state == State::Kept) return false;
    if (is_decimal_digit(one.base)) return is_decimal_digit(two.base);
    if (!is_word_letter(two.base) || is_unspaced(one.base) != is_unspaced(two.base)) return false;
    return is_unspaced(one.base) ? two.state == State::Word
                                 : script_of(one.base) == script_of(two.base);
  }

  /// The number of clusters in front of a word, which begins at `begin`, that belong to it: one, or
  /// two if a number continues before a separator ("7,500.25").
  std::size_t joined_before(std::size_t word, std::size_t begin) const {
    const auto is_free = [&](std::size_t i) { return clusters_[i].begin >= last_end(); };
    if (begin > 0 && is_free(begin - 1) && belongs(word, begin - 1)) return 1;
    return begin > 1 && is_free(begin - 2) && is_in_number(word, begin - 1) ? 2 : 0;
  }

  std::size_t joined_after(std::size_t word, std::size_t end) const {
    if (end < clusters_.size() && belongs(word, end)) return 1;
    return end + 1 < clusters_.size() && is_in_number(word, end) ? 2 : 0;
  }

  /// Whether a cluster separates the digits of the number.
  bool is_in_number(std::size_t word, std::size_t separator) const {
    constexpr std::u32string_view kSeparators = U".,:/-";
    return is_decimal_digit(clusters_[word].base) &&
           kSeparators.find(clusters_[separator].base) != std::u32string_view::npos &&
           clusters_[separator].state != State::Kept && belongs(word, separator - 1) &&
           belongs(word, separator + 1);
  }

  /// Names have several words. They are one copy, so that they stay together.
  bool joins_last(const CopiedText& word) const {
    if (copies_.empty() || copies_.back().kind != CopiedText::Kind::Word) return false;
    const std::string_view between = text_.substr(last_end(), word.begin - last_end());
    const auto first = [this](std::size_t offset) { return next_code_point(text_, offset); };
    return (between == " " || between == "-" || between == "'" || between == "\u2019") &&
           script_of(first(copies_.back().begin)) == script_of(first(word.begin));
  }

  std::size_t last_end() const { return copies_.empty() ? 0 : copies_.back().end; }

  std::string_view text_;
  const std::vector<Cluster>& clusters_;
  std::vector<CopiedText> copies_;
};

/// Chooses the stand-ins: a capital, or two digits for a number, that the text does not have.
class StandIns {
 public:
  StandIns(std::string_view text, const CharacterSet& seen) : text_(text) {
    for (const char32_t c : U"XYZQWVUKJRBHMNPDGLSTCFEO")
      if (c != 0 && seen.contains(c) && text.find(static_cast<char>(c)) == text.npos)
        letters_ += static_cast<char>(c);
    for (const char32_t c : U"27354896")
      if (c != 0 && seen.contains(c)) digits_ += static_cast<char>(c);
  }

  std::string next(char32_t first) {
    while (is_decimal_digit(first) && numbers_ + 1 < digits_.size()) {
      std::string number = digits_.substr(numbers_++, 2);
      if (text_.find(number) == text_.npos) return number;
    }
    return words_ < letters_.size() ? std::string(1, letters_[words_++]) : std::string();
  }

 private:
  std::string_view text_;
  std::string letters_, digits_;
  std::size_t words_ = 0, numbers_ = 0;
};

/// The bytes that the model does not read if a sign is copied: its own, and one of the blanks
/// around it.
TextChange without_sign(std::string_view text, const CopiedText& sign) {
  const bool blank_after = sign.end < text.size() && text[sign.end] == ' ';
  const bool blank_before = sign.begin > 0 && text[sign.begin - 1] == ' ';
  TextChange change{sign.begin, sign.end, ""};
  if (blank_after && (blank_before || sign.begin == 0)) ++change.end;
  if (!blank_after && blank_before && sign.end == text.size()) --change.begin;
  return change;
}

bool has_letter_or_number(std::string_view text) {
  for (std::size_t offset = 0; offset < text.size();) {
    const char kind = major_category(next_code_point(text, offset));
    if (kind == 'L' || kind == 'N') return true;
  }
  return false;
}

/// Whether nothing is left to translate beside the copies.
bool is_all_copied(std::string_view text, const std::vector<CopiedText>& copies) {
  std::size_t begin = 0;
  for (const CopiedText& copy : copies) {
    if (has_letter_or_number(text.substr(begin, copy.begin - begin))) return false;
    begin = copy.end;
  }
  return !copies.empty() && !has_letter_or_number(text.substr(begin));
}

}  // namespace

UnseenText unseen_text(std::string_view text, const CharacterSet& seen,
                       std::span<const ByteRange> kept) {
  if (seen.contains_all(text)) return {};
  const std::vector<Cluster> clusters = clusters_of(text, seen, kept);
  UnseenText unseen{.changes = {}, .copies = Copies(text, clusters).find()};
  unseen.is_all = is_all_copied(text, unseen.copies);
  StandIns stand_ins(text, seen);
  auto next = clusters.begin();
  const auto add_forms_before = [&](std::size_t end) {
    for (; next != clusters.end() && next->begin < end; ++next)
      if (next->state == State::Changed)
        unseen.changes.push_back({next->begin, next->end, next->form});
  };
  for (CopiedText& copy : unseen.copies) {
    TextChange change{copy.begin, copy.end, ""};
    if (copy.kind == CopiedText::Kind::Sign) {
      change = without_sign(text, copy);
    } else {
      std::size_t first = copy.begin;
      change.text = copy.stand_in = stand_ins.next(next_code_point(text, first));
    }
    add_forms_before(change.begin);
    next = std::ranges::find_if(next, clusters.end(),
                                [&](const Cluster& each) { return each.begin >= change.end; });
    if (copy.kind == CopiedText::Kind::Sign || !copy.stand_in.empty())
      unseen.changes.push_back(std::move(change));
  }
  add_forms_before(text.size());
  return unseen;
}

}  // namespace dragoman
