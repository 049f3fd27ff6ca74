#include "extras/markup/icu_messages.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <optional>

namespace dragoman {

namespace {

constexpr std::string_view kIcuBlanks = " \t\r\n";
constexpr int kDeepest = 10;  // choice within a branch of another one

/// The length of "{n, plural," at the begin of a text; 0: it is not there.
std::size_t head_length(std::string_view text) {
  static const RE2 head(R"(\{\s*[\w.-]+\s*,\s*(?:plural|select|selectordinal)\s*,)", RE2::Latin1);
  re2::StringPiece rest(text.data(), text.size());
  return RE2::Consume(&rest, head) ? text.size() - rest.size() : 0;
}

/// The first place at which an argument that chooses begins, from `place` on.
std::size_t find_choice(std::string_view text, std::size_t place) {
  while ((place = text.find('{', place)) != std::string_view::npos) {
    if (head_length(text.substr(place)) > 0) return place;
    ++place;
  }
  return place;
}

/// The place after the bracket that ends the one at `place`; nothing if there is none. Apostrophes
/// before a bracket quote it.
std::optional<std::size_t> end_of_brackets(std::string_view text, std::size_t place) {
  std::size_t depth = 0;
  for (; place < text.size(); ++place) {
    const bool is_quote = text[place] == '\'' && place + 1 < text.size() &&
                          (text[place + 1] == '{' || text[place + 1] == '}');
    if (is_quote)
      place = text.find('\'', place + 1);
    else if (text[place] == '{')
      ++depth;
    else if (text[place] == '}' && --depth == 0)
      return place + 1;
    if (place == std::string_view::npos) break;
  }
  return std::nullopt;
}

std::size_t skip_blanks(std::string_view text, std::size_t place) {
  return std::min(text.find_first_not_of(kIcuBlanks, place), text.size());
}

/// Adds the texts of an argument that is all of a range. False if it is none, or if text stands
/// beside another one within it.
bool add_texts(std::string_view text, ByteRange range, int depth, std::vector<ByteRange>& texts) {
  range.begin = skip_blanks(text.substr(0, range.end), range.begin);
  const std::size_t head = head_length(range.of(text));
  const auto end = end_of_brackets(text.substr(0, range.end), range.begin);
  if (head == 0 || !end || skip_blanks(text.substr(0, range.end), *end) != range.end ||
      depth == kDeepest)
    return false;
  std::size_t place = range.begin + head, branches = 0;
  for (; (place = skip_blanks(text, place)) + 1 < *end; ++branches) {
    const std::size_t begin = text.find_first_of("{}", place);  // after "one", "=1", "offset:1 one"
    if (begin >= *end - 1 || text[begin] == '}') return false;
    const auto branch_end = end_of_brackets(text.substr(0, *end - 1), begin);
    if (!branch_end) return false;
    const ByteRange branch{begin + 1, *branch_end - 1};
    if (find_choice(branch.of(text), 0) == std::string_view::npos)
      texts.push_back(branch);
    else if (!add_texts(text, branch, depth + 1, texts))
      return false;
    place = *branch_end;
  }
  return branches > 0;
}

}  // namespace

IcuMessage icu_message(std::string_view text) {
  IcuMessage message{.chooses = find_choice(text, 0) != std::string_view::npos};
  if (message.chooses && !add_texts(text, {0, text.size()}, 0, message.texts))
    message.texts.clear();
  return message;
}

bool has_same_branches(std::string_view message, std::string_view translation) {
  const IcuMessage from = icu_message(message);
  if (!from.chooses) return true;
  const IcuMessage to = icu_message(translation);
  if (from.texts.size() != to.texts.size()) return false;
  std::size_t place = 0, its_place = 0;
  for (std::size_t t = 0; t < from.texts.size(); ++t) {
    const ByteRange text = from.texts[t], its_text = to.texts[t];
    if (ByteRange{place, text.begin}.of(message) !=
            ByteRange{its_place, its_text.begin}.of(translation) ||
        std::ranges::count(text.of(message), '#') !=
            std::ranges::count(its_text.of(translation), '#'))
      return false;
    place = text.end;
    its_place = its_text.end;
  }
  return message.substr(place) == translation.substr(its_place);
}

}  // namespace dragoman
