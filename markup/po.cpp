#include "markup/po.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
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
  bool begins_message = false;
};

class PoReader {
 public:
  explicit PoReader(std::string_view po) : po_(po) {}

  std::vector<PoPart> parts() {
    std::vector<PoPart> parts;
    for (std::size_t begin = 0; begin < po_.size();) {
      const std::size_t end = std::min(po_.find('\n', begin), po_.size() - 1) + 1;
      add(po_.substr(begin, end - begin), parts);
      begin = end;
    }
    return parts;
  }

 private:
  void add(std::string_view bytes, std::vector<PoPart>& parts) {
    ++line_;
    std::string_view line = strip(bytes);
    if (line_ == 1 && line.starts_with(kByteOrderMark))
      line = strip(line.substr(kByteOrderMark.size()));
    if (line.empty() || line.starts_with('#')) {
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
      const bool begins_message = take(keyword);
      parts.push_back({.bytes = std::string(bytes),
                       .keyword = keyword,
                       .text = unescaped(line.substr(quote)),
                       .begins_message = begins_message});
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
  std::set<std::string> keywords_;  // of the message
  int forms_ = 0;                   // of its translation
};

/// The catalogue in which each empty translation is the message itself, and its tokens.
class FilledCatalogue {
 public:
  MarkupDocument filled(const std::vector<PoPart>& parts) {
    std::string message, plural;
    for (const PoPart& part : parts) {
      if (part.begins_message) message = plural = "";
      if (part.keyword == "msgid") message = plural = part.text;
      if (part.keyword == "msgid_plural") plural = part.text;
      const bool is_translation = part.keyword.starts_with("msgstr");
      const bool is_singular = part.keyword == "msgstr" || part.keyword == "msgstr[0]";
      const std::string& text = is_singular ? message : plural;
      // Escapes may have bytes of another encoding.
      const bool is_readable = find_invalid_utf8(text) == std::string::npos;
      if (!is_translation || !part.text.empty() || message.empty() || !is_readable)
        split(part.bytes);
      else
        fill(part, text);
    }
    MarkupDocument document{.bytes = std::move(bytes_)};
    document.passages = passages_of(document.bytes, tokens_, Writing::PoString);
    return document;
  }

 private:
  void push(MarkupToken token, std::string_view bytes) {
    token.source = {bytes_.size(), bytes_.size() + bytes.size()};
    bytes_ += bytes;
    if (!bytes.empty()) tokens_.push_back(std::move(token));
  }

  void split(std::string_view bytes) { push({.kind = Kind::Splits, .source = {}}, bytes); }

  /// Each line of the text is a string by itself, as gettext's programs write it.
  void fill(const PoPart& part, std::string_view text) {
    const bool has_lines = text.find('\n') < text.size() - 1;
    split(part.keyword + (has_lines ? " \"\"\n\"" : " \""));
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      for (MarkupToken& token : text_tokens(text.substr(0, end), AlsoKept::Placeholders)) {
        const std::string bytes = po_string(token.source.of(text));
        push(std::move(token), bytes);
      }
      text.remove_prefix(end);
      if (text.empty()) break;
      text.remove_prefix(1);
      split(text.empty() ? "\\n" : "\\n\"\n\"");
    }
    split(part.bytes.ends_with('\n') ? "\"\n" : "\"");
  }

  std::string bytes_;
  std::vector<MarkupToken> tokens_;
};

}  // namespace

MarkupDocument parse_po(const std::string& po) {
  return FilledCatalogue().filled(PoReader(po).parts());
}

}  // namespace dragoman
