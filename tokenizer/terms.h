// Terms of a glossary: finds them in a source text, writes their translations into it, and checks
// whether a translation has them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// A text that the translation must have, for the bytes [begin, end) of the source.
struct RequiredText {
  std::size_t begin, end;
  std::string text;
  /// A term: may have an ending of up to three letters, and a capital at the start of the
  /// translation. Other texts are copied byte for byte.
  bool inflects = false;
  bool operator==(const RequiredText&) const = default;
};

/// A glossary.
class Terms {
 public:
  Terms() = default;
  /// Lines of "source term<TAB>target term"; blank lines and lines that begin with # are skipped (a
  /// term that begins with # is written \#). The file is read by read_lines(). Throws Error naming
  /// file and line.
  explicit Terms(const std::filesystem::path& file);

  /// Source and target terms. Throws Error if one is blank, or has a NUL or a line end, or if a
  /// source term has two target terms.
  explicit Terms(const std::vector<std::pair<std::string, std::string>>& terms);

  bool empty() const { return terms_.empty(); }
  /// The terms that `source` has as whole words. If several begin at one word, the longest counts;
  /// terms do not overlap. A source term without capitals is found in upper and lower case. Of
  /// several that fit, the first counts. A word takes the time of some look-ups,
  /// however many terms begin with it.
  std::vector<RequiredText> find(std::string_view source) const;

 private:
  struct Term {
    std::u32string source;
    std::string target;
  };
  void add(std::string_view source, std::string_view target);
  /// Null if there is none. `folded` is the text in lower case.
  const Term* longest_at(std::u32string_view text, std::u32string_view folded,
                         std::size_t begin) const;

  // By the source in lower case: its spellings, in the order of the file.
  std::unordered_map<std::u32string, std::vector<Term>, TextHash<char32_t>, std::equal_to<>> terms_;
  std::set<std::size_t, std::greater<>> sizes_;  // of the sources, in characters
};

/// The texts of `required` that the translation does not have as whole words as often as it should.
/// A pair of tags (<b>, </b>) must not be reversed.
std::vector<RequiredText> unmet_texts(const std::vector<RequiredText>& required,
                                      std::string_view translation);

// ---- terms in the source text ----
// "the dog<term> Hund</term> runs". A model that was trained on such text (--train-terms) copies
// the translation of a term, in the form that its sentence needs: Dinu et al. 2019, "Training
// neural machine translation to apply terminology constraints".

/// User-defined symbols of the tokenizer of a model with --train-terms.
inline constexpr std::string_view kTermBegins = "<term>", kTermEnds = "</term>";

/// Whether the tokenizer has these symbols.
bool has_term_marks(const Tokenizer& source);
bool is_term_mark(std::string_view piece);

/// A text that is read instead of the bytes [begin, end) of another one.
struct TextChange {
  std::size_t begin, end;
  std::string text;
};

/// The translations of `terms`, to be written after them. They are in the order of the text and do
/// not overlap.
std::vector<TextChange> marks_of(std::span<const RequiredText> terms);

/// A text with changes, and the way from one to the other.
class MarkedText {
 public:
  MarkedText() = default;
  /// `changes` are in the order of the text and do not overlap.
  explicit MarkedText(std::string_view text, const std::vector<TextChange>& changes = {});

  const std::string& text() const { return text_; }
  /// The offset in the marked text of a byte of the original text. The end of a term's stretch lies
  /// after the translation that is written there.
  std::size_t marked_offset(std::size_t original) const;
  /// The offset in the original text of a byte of the marked text. A byte of a written translation
  /// has the offset of the term's last byte, a byte of another change that of its first.
  std::size_t original_offset(std::size_t offset) const;

 private:
  struct Stretch {
    std::size_t begin, end;                // of the original text
    std::size_t marked_begin, marked_end;  // of text_, which stand there instead
  };
  std::string text_;
  std::vector<Stretch> stretches_;
};

}  // namespace dragoman
