#include "extras/markup/po_reader.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "extras/markup/markup_token.h"
#include "extras/markup/text_tokens.h"

namespace dragoman {

namespace {

/// Without the white space in front.
std::string_view strip_begin(std::string_view text) {
  const std::string_view stripped = strip(text);
  return text.substr(stripped.empty() ? text.size()
                                      : static_cast<std::size_t>(stripped.data() - text.data()));
}

class PoReader {
 public:
  explicit PoReader(std::string_view po) : po_(po) {}

  PoFile read() {
    for (std::size_t begin = 0; begin < po_.size();) {
      const std::size_t end = std::min(po_.find('\n', begin), po_.size() - 1) + 1;
      add_line(po_.substr(begin, end - begin));
      begin = end;
    }
    for (const PoPart& part : read_.parts) {
      PoMessage& message = read_.messages[part.message];
      if (part.keyword == "msgid") message.text = message.plural = part.text;
      if (part.keyword == "msgid_plural") message.plural = part.text;
      if (part.keyword == "msgctxt") message.has_context = true;
      if (part.keyword.starts_with("msgstr")) ++message.forms;
    }
    return std::move(read_);
  }

 private:
  void add_line(std::string_view bytes) {
    ++line_;
    std::string_view line = strip_begin(bytes);
    if (line_ == 1 && line.starts_with(kByteOrderMark))
      line = strip_begin(line.substr(kByteOrderMark.size()));
    if (line.empty() || line.starts_with('#')) {
      if (line.starts_with("#,"))
        std::ranges::copy(format_syntaxes(strip(line)), std::back_inserter(formats_));
      read_.parts.push_back({.bytes = std::string(bytes)});
      return;
    }
    if (!line.starts_with('"'))
      begin_part(line);
    else if (read_.parts.empty() || read_.parts.back().keyword.empty())
      fail("a string without msgid or msgstr in front of it");
    while (true) {
      while (line.starts_with('"')) {
        read_.parts.back().text += take_string(line);
        line = strip_begin(line);
      }
      const std::size_t length = bytes.size() - line.size();
      read_.parts.back().bytes += bytes.substr(0, length);
      if (line.empty()) return;
      // gettext reads several keywords in one line, too.
      if (!line.starts_with("msg")) fail("text behind a string");
      bytes = line;
      begin_part(line);
    }
  }

  /// Leaves the strings behind the keyword in `line`.
  void begin_part(std::string_view& line) {
    const std::size_t quote = std::min(line.find('"'), line.size());
    const std::string keyword(strip(line.substr(0, quote)));
    if (!keyword.starts_with("msg") || quote == line.size())
      fail("neither a comment nor a keyword with its string, as msgid \"text\"");
    if (take(keyword)) read_.messages.emplace_back();
    if (!formats_.empty()) read_.messages.back().formats = std::exchange(formats_, {});
    read_.parts.push_back({.bytes = {}, .keyword = keyword, .message = read_.messages.size() - 1});
    line.remove_prefix(quote);
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

  /// The string that `rest` begins with; leaves what is behind it.
  std::string take_string(std::string_view& rest) const {
    std::string text;
    for (std::size_t i = 1; i < rest.size() && rest[i] != '\n'; ++i) {
      char c = rest[i];
      if (c == '"') {
        rest.remove_prefix(i + 1);
        return text;
      }
      if (c == '\\' && i + 1 < rest.size()) c = meaning_of_escape(rest, ++i);
      text += c;
    }
    fail("a string without its second quote");
  }

  [[noreturn]] void fail(std::string_view fault) const {
    throw Error("po: line ", line_, ": ", fault);
  }

  static constexpr int kMostForms = 8;  // Arabic has six

  const std::string_view po_;
  PoFile read_{.parts = {}, .messages = {{}}};
  int line_ = 0;
  FormatSyntaxes formats_;          // of the message that follows
  std::set<std::string> keywords_;  // of the message
  int forms_ = 0;                   // of its translation
};

}  // namespace

namespace {

std::vector<std::string> placeholders_of(std::string_view text) {
  std::vector<std::string> all;
  for (const MarkupToken& token : text_tokens(text, AlsoKept::Placeholders))
    if (token.kind == MarkupToken::Kind::Kept) all.push_back(token.text);
  std::ranges::sort(all);
  return all;
}

}  // namespace

bool PoMessage::has_all_placeholders() const {
  return formats.empty() ? placeholders_of(text) == placeholders_of(plural)
                         : have_same_directives(formats, text, plural);
}

const std::string& PoMessage::source_of(std::string_view keyword) const {
  if (keyword == "msgstr") return text;
  const bool is_singular = forms == 2 || (forms > 2 && has_all_placeholders());
  return keyword == "msgstr[0]" && is_singular ? text : plural;
}

PoFile read_po(std::string_view po) { return PoReader(po).read(); }

std::size_t count_arguments(std::string_view text, const FormatSyntaxes& formats) {
  const std::vector<MarkupToken> tokens = text_tokens(text, AlsoKept::Placeholders, formats);
  return static_cast<std::size_t>(
      std::ranges::count_if(tokens, [](const MarkupToken& token) { return token.argument > 0; }));
}

std::string_view declared_charset(std::string_view po) {
  constexpr std::string_view kField = "content-type:", kKey = "charset=";
  const std::size_t field = std::min(ascii_lower(po).find(kField), po.size());
  const std::string_view line = po.substr(field, po.substr(field).find('\n'));
  const std::size_t key = line.find(kKey);
  if (key == std::string_view::npos) return {};
  const std::string_view name = line.substr(key + kKey.size());
  return name.substr(0, name.find_first_of(" \t\r;\\\""));
}

}  // namespace dragoman
