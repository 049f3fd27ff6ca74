#include "data/augment.h"

#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"
#include "base/word_characters.h"

namespace dragoman {

namespace {

/// The text with change() applied between the occurrences of `kept`.
template <class Change>
std::string change_around(std::string_view text, std::span<const std::string> kept,
                          Change&& change) {
  std::string changed;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t longest = 0;
    for (const std::string& word : kept)
      if (text.substr(at).starts_with(word)) longest = std::max(longest, word.size());
    if (longest == 0) {
      ++at;
      continue;
    }
    changed += change(text.substr(begin, at - begin));
    changed += text.substr(at, longest);
    begin = at += longest;
  }
  return changed + change(text.substr(begin));
}

bool is_end_punctuation(char32_t c) {
  constexpr std::u32string_view kMarks =
      U".!?\u2026\u3002\uFF01\uFF1F\uFF0E\uFF61\u061F\u06D4\u0964\u0965";
  return kMarks.find(c) != kMarks.npos;
}

std::string_view without_end_punctuation(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t offset = 0; offset < text.size();) {
    const char32_t c = next_code_point(text, offset);
    if (!is_end_punctuation(c) && !is_space(c)) end = offset;
  }
  return text.substr(0, end);
}

}  // namespace

std::optional<TextPair> change_case(const TextPair& pair, CaseChange change,
                                    std::span<const std::string> kept) {
  const auto changed = [&](const std::string& text) {
    return change_around(text, kept, [change](std::string_view part) {
      return change == CaseChange::Upper ? upper_case(part) : title_case(part);
    });
  };
  TextPair result{changed(pair.source), changed(pair.target)};
  if (result.source == pair.source) return std::nullopt;
  return result;
}

std::optional<TextPair> drop_end_punctuation(const TextPair& pair) {
  const TextPair result{std::string(without_end_punctuation(pair.source)),
                        std::string(without_end_punctuation(pair.target))};
  if (result.source.empty() || result.target.empty() || strip(result.source) == strip(pair.source))
    return std::nullopt;
  return result;
}

TextPair concatenated(const TextPair& first, const TextPair& second) {
  const auto join = [](std::string_view before, std::string_view after) {
    before = strip(before);
    after = strip(after);
    std::size_t offset = 0;
    const bool spaced =
        !before.empty() && !after.empty() && !is_unspaced(next_code_point(after, offset));
    return join_text(before, spaced ? " " : "", after);
  };
  return {join(first.source, second.source), join(first.target, second.target)};
}

}  // namespace dragoman
