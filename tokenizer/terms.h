// Terms of a glossary: where they stand in a source text, and whether a translation has them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dragoman {

/// A text that the translation must have, for a stretch [begin, end) of the source.
struct RequiredText {
  std::size_t begin, end;
  std::string text;
  bool inflects = false;  ///< may stand there with an ending of up to three letters
  bool operator==(const RequiredText&) const = default;
};

/// A glossary.
class Terms {
 public:
  Terms() = default;
  /// Lines of "source term<TAB>target term"; blank lines and those that begin with # are skipped (a
  /// term that begins so is written \#). Throws Error naming file and line.
  explicit Terms(const std::filesystem::path& file);

  /// Source and target terms, none of them blank.
  explicit Terms(const std::vector<std::pair<std::string, std::string>>& terms);

  bool empty() const { return by_first_.empty(); }
  /// Terms that stand in `source` as whole words, the longest at each place; none overlap. A source
  /// term without capitals is found in any case. Of equal ones the first in the file counts.
  std::vector<RequiredText> find(std::string_view source) const;

 private:
  struct Term {
    std::u32string source;
    bool any_case;
    std::string target;
  };
  void add(std::string_view source, std::string_view target);
  void sort();

  std::unordered_map<char32_t, std::vector<Term>> by_first_;  // by lower case; longest first
};

/// Those of `required` that the translation does not have as whole words as often as it should. A
/// first word's first letter may be a capital there.
std::vector<RequiredText> missing_texts(const std::vector<RequiredText>& required,
                                        std::string_view translation);

}  // namespace dragoman
