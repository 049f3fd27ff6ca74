#include "markup/po.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "markup/format_arguments.h"
#include "markup/markup_token.h"
#include "markup/text_tokens.h"
#include "markup/writing.h"

namespace dragoman {

namespace {

using Kind = MarkupToken::Kind;

/// A keyword with its strings, or another line.
struct PoPart {
  std::string bytes;         ///< with line ends
  std::string keyword = {};  ///< "msgid", "msgstr[1]"; empty: a comment or a blank line
  std::string text = {};     ///< of all its strings
  std::size_t message = 0;   ///< its number among those of the file
};

bool is_argument(const MarkupToken& token) {
  return token.kind == Kind::Kept && takes_next_argument(token.text);
}

std::size_t count_arguments(std::string_view text) {
  const std::vector<MarkupToken> tokens = text_tokens(text, AlsoKept::Placeholders);
  return static_cast<std::size_t>(std::ranges::count_if(tokens, is_argument));
}

struct PoMessage {
  std::string text = {}, plural = {};
  std::size_t forms = 0;     ///< of its translation
  bool has_numbers = false;  ///< its format knows the numbers of arguments: %2$s

  /// The text that the form `keyword` of the translation is made from. The first of two forms is
  /// the singular. Of one form, or of three and more, it serves other numbers, too (21 in Russian):
  /// then it needs the placeholders of the plural.
  const std::string& source_of(std::string_view keyword) const {
    if (keyword == "msgstr") return text;
    const bool is_singular =
        forms == 2 || (forms > 2 && count_arguments(text) == count_arguments(plural));
    return keyword == "msgstr[0]" && is_singular ? text : plural;
  }
};

struct PoFile {
  std::vector<PoPart> parts;
  std::vector<PoMessage> messages;  ///< one at least
};

/// Whether a line of flags ("#, fuzzy, c-format") has a format that knows the numbers of arguments.
bool has_numbers(std::string_view flags) {
  constexpr std::string_view kFormats[] = {" c-format",    " objc-format", " php-format",
                                           " perl-format", " awk-format",  " java-printf-format"};
  return std::ranges::any_of(kFormats, [&](std::string_view format) {
    return flags.find(format) != std::string_view::npos;
  });
}

class PoReader {
 public:
  explicit PoReader(std::string_view po) : po_(po) {}

  PoFile read() {
    PoFile po{.parts = {}, .messages = {{}}};
    for (std::size_t begin = 0; begin < po_.size();) {
      const std::size_t end = std::min(po_.find('\n', begin), po_.size() - 1) + 1;
      add(po_.substr(begin, end - begin), po);
      begin = end;
    }
    for (const PoPart& part : po.parts) {
      PoMessage& message = po.messages[part.message];
      if (part.keyword == "msgid") message.text = message.plural = part.text;
      if (part.keyword == "msgid_plural") message.plural = part.text;
      if (part.keyword.starts_with("msgstr")) ++message.forms;
    }
    return po;
  }

 private:
  void add(std::string_view bytes, PoFile& po) {
    std::vector<PoPart>& parts = po.parts;
    ++line_;
    std::string_view line = strip(bytes);
    if (line_ == 1 && line.starts_with(kByteOrderMark))
      line = strip(line.substr(kByteOrderMark.size()));
    if (line.empty() || line.starts_with('#')) {
      if (line.starts_with("#,")) flags_ += line;
      parts.push_back({.bytes = std::string(bytes)});
    } else if (line.starts_with('"')) {
      if (parts.empty() || parts.back().keyword.empty())
        fail("a string without msgid or msgstr in front of it");
      parts.back().bytes += bytes;
      parts.back().text += unescaped(line);
    } else {
      const std::size_t quote = std::min(line.find('"'), line.size());
      const std::string keyword(strip(line.substr(0, quote)));
      if (!keyword.starts_with("msg") || quote == line.size())
        fail("neither a comment nor a keyword with its string, as msgid \"text\"");
      if (take(keyword)) po.messages.emplace_back();
      if (!flags_.empty()) po.messages.back().has_numbers = has_numbers(std::exchange(flags_, {}));
      parts.push_back({.bytes = std::string(bytes),
                       .keyword = keyword,
                       .text = unescaped(line.substr(quote)),
                       .message = po.messages.size() - 1});
    }
  }

  /// Adds a keyword to those of its message. True where it begins another message.
  bool take(const std::string& keyword) {
    const bool begins = forms_ > 0 && (keyword == "msgctxt" || keyword == "msgid");
    if (begins) {
      keywords_.clear();
      forms_ = 0;
    }
    if (!keywords_.insert(keyword).second) fail(join_text(keyword, " stands twice in a message"));
    if (keyword.starts_with("msgstr") && ++forms_ > kMostForms)
      fail(join_text("a message with more than ", kMostForms, " plural forms"));
    return begins;
  }

  /// The byte of an escape as C has it. `place` is behind the backslash, then at the last
  /// character.
  static char meaning_of_escape(std::string_view string, std::size_t& place) {
    constexpr std::string_view kNames = "nrtabfv", kMeanings = "\n\r\t\a\b\f\v";
    constexpr std::string_view kOctal = "01234567", kHex = "0123456789abcdefABCDEF";
    if (const std::size_t known = kNames.find(string[place]); known != std::string_view::npos)
      return kMeanings[known];
    const bool is_hex = string[place] == 'x';
    const std::size_t begin = place + (is_hex ? 1 : 0);
    const std::size_t end = std::min({string.find_first_not_of(is_hex ? kHex : kOctal, begin),
                                      string.size(), is_hex ? string.size() : begin + 3});
    if (begin == end) return string[place];
    place = end - 1;
    const std::size_t last_byte = is_hex ? std::max(begin + 2, end) - 2 : begin;
    unsigned value = 0;
    std::from_chars(string.data() + last_byte, string.data() + end, value, is_hex ? 16 : 8);
    return static_cast<char>(value);
  }

  std::string unescaped(std::string_view string) const {
    std::string text;
    for (std::size_t i = 1; i < string.size(); ++i) {
      char c = string[i];
      if (c == '"' && i + 1 == string.size()) return text;
      if (c == '"') fail("text behind a string");
      if (c == '\\' && ++i < string.size()) c = meaning_of_escape(string, i);
      text += c;
    }
    fail("a string without its second quote");
  }

  [[noreturn]] void fail(std::string_view fault) const {
    throw Error("po: line ", line_, ": ", fault);
  }

  static constexpr int kMostForms = 8;  // Arabic has six

  const std::string_view po_;
  int line_ = 0;
  std::string flags_;               // of the message that follows
  std::set<std::string> keywords_;  // of the message
  int forms_ = 0;                   // of its translation
};

/// The catalogue in which each empty translation is the message itself, and its tokens.
class FilledCatalogue {
 public:
  MarkupDocument filled(const PoFile& po) {
    for (const PoPart& part : po.parts) {
      const bool is_open = part.keyword.starts_with("msgstr") && part.text.empty();
      const PoMessage& message = po.messages[part.message];
      // Escapes may have bytes of another encoding.
      if (is_open && !message.text.empty() && is_readable(message.source_of(part.keyword)))
        fill(part, message);
      else
        split(part.bytes);
    }
    MarkupDocument document{.bytes = std::move(bytes_)};
    document.passages = passages_of(document.bytes, tokens_, Writing::PoString);
    return document;
  }

 private:
  static bool is_readable(std::string_view text) {
    return find_invalid_utf8(text) == std::string::npos;
  }

  void push(MarkupToken token, std::string_view bytes) {
    token.source = {bytes_.size(), bytes_.size() + bytes.size()};
    bytes_ += bytes;
    if (!bytes.empty()) tokens_.push_back(std::move(token));
  }

  void split(std::string_view bytes) { push({.kind = Kind::Splits, .source = {}}, bytes); }

  /// Each line of the text is a string by itself, as gettext's programs write it.
  void fill(const PoPart& part, const PoMessage& message) {
    std::string_view text = message.source_of(part.keyword);
    const bool has_lines = text.find('\n') < text.size() - 1;
    const std::string_view line_end = part.bytes.ends_with("\r\n") ? "\r\n" : "\n";
    const std::string between = join_text('"', line_end, '"');
    split(join_text(part.keyword, has_lines ? " \"" + between : " \""));
    const std::size_t arguments = count_arguments(text);
    std::size_t argument = 1;
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      const bool has_all = count_arguments(line) == arguments;
      fill_line(line, message.has_numbers && has_all, argument);
      text.remove_prefix(line.size());
      if (text.empty()) break;
      text.remove_prefix(1);
      split(text.empty() ? "\\n" : "\\n" + between);
    }
    split(part.bytes.ends_with('\n') ? join_text('"', line_end) : "\"");
  }

  /// `argument`: the number of the next one.
  void fill_line(std::string_view line, bool takes_number, std::size_t& argument) {
    const std::string_view text = strip(line);
    const auto lead = static_cast<std::size_t>(text.data() - line.data());
    split(po_string(line.substr(0, lead)));
    for (MarkupToken& token : text_tokens(text, AlsoKept::Placeholders)) {
      if (is_argument(token)) {
        token.argument = argument++;
        token.takes_number = takes_number && may_have_number(token.text);
      }
      const std::string bytes = po_string(token.source.of(text));
      push(std::move(token), bytes);
    }
    split(po_string(line.substr(lead + text.size())));
  }

  std::string bytes_;
  std::vector<MarkupToken> tokens_;
};

}  // namespace

MarkupDocument parse_po(const std::string& po) {
  return FilledCatalogue().filled(PoReader(po).read());
}

}  // namespace dragoman
