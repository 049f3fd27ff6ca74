// Changes pairs to forms that users write: all in upper case, as a title, without the last
// punctuation mark, or with two sentences on a line. A model that sees such pairs in training can
// translate such text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dragoman {

struct TextPair {
  std::string source, target;

  bool operator==(const TextPair&) const = default;
};

enum class CaseChange {
  Upper,  ///< every letter
  Title,  ///< the first letter of every word; the others do not change
};

/// Changes the case of both sides alike, except occurrences of `kept`. Returns nothing where the
/// source would not change, as the model could then not know when to change the target.
std::optional<TextPair> change_case(const TextPair& pair, CaseChange change,
                                    std::span<const std::string> kept);

/// Both sides without full stops, exclamation and question marks (also Chinese, Arabic and Indian
/// ones) and white space at their ends. Returns nothing where the source has none, or a side would
/// be empty.
std::optional<TextPair> drop_end_punctuation(const TextPair& pair);

/// The second pair behind the first, with a space between them, or without one in scripts that have
/// none.
TextPair concatenated(const TextPair& first, const TextPair& second);

}  // namespace dragoman
