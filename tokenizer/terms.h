// Terms of a glossary: finds them in a source text, and checks whether a translation has them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

  /// Source and target terms. Throws Error where one is blank, or has a NUL or a line end.
  explicit Terms(const std::vector<std::pair<std::string, std::string>>& terms);

  bool empty() const { return terms_.empty(); }
  /// The terms that `source` has as whole words. Where several begin at one word, the longest
  /// counts; terms do not overlap. A source term without capitals is found in upper and lower case.
  /// Of equal source terms the first in the file counts. A word takes the time of a binary search,
  /// however many terms begin with it.
  std::vector<RequiredText> find(std::string_view source) const;

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  struct Term {
    std::u32string lower, source;
    std::string target;
    std::size_t number;              // in the order of the file
    std::size_t first_spelling = 0;  // the first term with the same `lower`
    std::size_t shorter = kNone;     // of first spellings: the longest that this one begins with
  };
  void add(std::string_view source, std::string_view target);
  void sort();
  const Term* spelled(std::size_t first, std::u32string_view text) const;
  /// Null: none. `folded` is the text in lower case.
  const Term* longest_at(std::u32string_view text, std::u32string_view folded,
                         std::size_t begin) const;

  std::vector<Term> terms_;  // sorted by `lower`, then by `source`
};

/// The texts of `required` that the translation does not have as whole words as often as it should.
/// A pair of tags (<b>, </b>) must not be turned round.
std::vector<RequiredText> unmet_texts(const std::vector<RequiredText>& required,
                                      std::string_view translation);

}  // namespace dragoman
