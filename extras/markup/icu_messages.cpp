#include "extras/markup/icu_messages.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>

#include "base/formatted_text.h"
#include "extras/markup/template_marks.h"

namespace dragoman {

namespace {

constexpr std::string_view kIcuBlanks = " \t\r\n";
constexpr int kDeepest = 10;  // choice within a branch of another one

constexpr std::string_view kTwoApostrophes = "''";

/// The text with another sign of the same length in the place of two apostrophes, so that each
/// apostrophe that is left may begin or end a quote. All offsets stay.
std::string without_doubles(std::string text) {
  replace_all(text, kTwoApostrophes, "\u00B4");
  return text;
}

/// The length of "{n, plural," at the beginning of a text; 0: it is not there.
std::size_t head_length(std::string_view text) {
  static const RE2 head(R"(\{\s*[\w.-]+\s*,\s*(?:plural|select|selectordinal)\s*,)", RE2::Latin1);
  re2::StringPiece rest(text.data(), text.size());
  return RE2::Consume(&rest, head) ? text.size() - rest.size() : 0;
}

// The texts of the next functions are without_doubles().

/// The last place of the quote that begins at a place; the place itself if none begins there.
std::size_t end_of_quote(std::string_view text, std::size_t place) {
  constexpr std::string_view kQuoted = "{}#";
  const bool begins = text[place] == '\'' && place + 1 < text.size() &&
                      kQuoted.find(text[place + 1]) != std::string_view::npos;
  return begins ? std::min(text.find('\'', place + 1), text.size()) : place;
}

/// Whether an argument that chooses begins in a text.
bool has_choice(std::string_view text) {
  for (std::size_t place = 0; place < text.size(); place = end_of_quote(text, place) + 1)
    if (text[place] == '{' && head_length(text.substr(place)) > 0) return true;
  return false;
}

/// The place after the bracket that ends the one at `place`; nothing if there is none.
std::optional<std::size_t> end_of_brackets(std::string_view text, std::size_t place) {
  std::size_t depth = 0;
  for (; place < text.size(); place = end_of_quote(text, place) + 1) {
    if (text[place] == '{')
      ++depth;
    else if (text[place] == '}' && --depth == 0)
      return place + 1;
  }
  return std::nullopt;
}

std::size_t skip_blanks(std::string_view text, std::size_t place) {
  return std::min(text.find_first_not_of(kIcuBlanks, place), text.size());
}

/// Adds the texts of an argument that is all of a range. False if the range is not one, or if text
/// stands beside another one within it.
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
    if (!has_choice(branch.of(text)))
      texts.push_back(branch);
    else if (!add_texts(text, branch, depth + 1, texts))
      return false;
    place = *branch_end;
  }
  return branches > 0;
}

}  // namespace

IcuMessage icu_message(std::string_view text) {
  const std::string plain = without_doubles(std::string(text));
  IcuMessage message{.chooses = has_choice(plain)};
  if (message.chooses && !add_texts(plain, {0, plain.size()}, 0, message.texts))
    message.texts.clear();
  if (text.find(kTwoApostrophes) != std::string_view::npos)
    message.apostrophes = Apostrophes::Doubled;
  return message;
}

std::vector<MarkupToken> branch_tokens(std::string_view text, FormatSyntaxes formats,
                                       Apostrophes apostrophes) {
  std::ranges::copy(format_syntaxes("icu-plural-format"), std::back_inserter(formats));
  std::vector<MarkupToken> tokens =
      text_tokens(without_doubles(std::string(text)), AlsoKept::Placeholders, formats);
  for (MarkupToken& token : tokens) {
    if (token.kind != MarkupToken::Kind::Text) continue;
    token.text = token.source.of(text);
    replace_all(token.text, kTwoApostrophes, "'");
    token.apostrophes = apostrophes;
  }
  return tokens;
}

std::string with_apostrophes(std::string_view translation, Apostrophes apostrophes) {
  std::string text(translation);
  if (apostrophes != Apostrophes::AsTheyAre)
    replace_all(text, "'", apostrophes == Apostrophes::Doubled ? kTwoApostrophes : "\u2019");
  return text;
}

namespace {

/// All that a text of a branch keeps, sorted.
std::vector<std::string_view> kept_parts_of_branch(std::string_view text) {
  std::vector<std::string_view> kept;
  for (const MarkupToken& token : branch_tokens(text, {}, Apostrophes::AsTheyAre))
    if (token.kind != MarkupToken::Kind::Text) kept.push_back(token.source.of(text));
  std::ranges::sort(kept);
  return kept;
}

}  // namespace

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
        kept_parts_of_branch(text.of(message)) != kept_parts_of_branch(its_text.of(translation)))
      return false;
    place = text.end;
    its_place = its_text.end;
  }
  return message.substr(place) == translation.substr(its_place);
}

bool has_same_signs(const FormatSyntaxes& formats, std::string_view message,
                    std::string_view translation) {
  if (icu_message(message).chooses)
    return has_same_branches(message, translation) &&
           have_same_directives(formats, message, translation);
  const KeptParts from = kept_parts(message, formats), to = kept_parts(translation, formats);
  const bool has_same_parts =
      formats.empty() ? from == to
                      : from.tags == to.tags && have_same_directives(formats, message, translation);
  return has_same_parts && !begins_more_marks(translation, message);
}

}  // namespace dragoman
