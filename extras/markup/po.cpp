// Catalogues of messages in gettext's format (PO): read, and filled in.

#include "extras/markup/markup_formats.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "extras/markup/format_directives.h"
#include "extras/markup/markup_tokens.h"
#include "extras/markup/writing.h"

namespace dragoman {

namespace {

using Kind = MarkupToken::Kind;

// ---- reading ------------------------------------------------------------------------------------

/// A keyword with its strings, or another line.
struct PoPart {
  std::string bytes;         ///< with line ends
  std::string keyword = {};  ///< "msgid", "msgstr[1]"; empty: a comment or a blank line
  std::string text = {};     ///< of all its strings
  std::size_t message = 0;   ///< its number among those of the file
};

struct PoMessage {
  std::string text = {}, plural = {};
  std::size_t forms = 0;        ///< of its translation
  bool has_context = false;     ///< a msgctxt
  FormatSyntaxes formats = {};  ///< as its flags say

  /// The text that the form `keyword` of the translation is made from. If there are two forms, the
  /// first is the singular. If there is one, or three and more, the first serves other numbers, too
  /// (21 in Russian): then it needs the placeholders of the plural.
  const std::string& source_of(std::string_view keyword) const;

 private:
  bool has_all_placeholders() const;  ///< the singular has those of the plural
};

std::vector<std::string> placeholders_of(std::string_view text) {
  std::vector<std::string> all;
  for (const MarkupToken& token : text_tokens(text, AlsoKept::Placeholders))
    if (token.kind == Kind::Kept) all.push_back(token.text);
  std::ranges::sort(all);
  return all;
}

bool PoMessage::has_all_placeholders() const {
  return formats.empty() ? placeholders_of(text) == placeholders_of(plural)
                         : have_same_directives(formats, text, plural);
}

const std::string& PoMessage::source_of(std::string_view keyword) const {
  if (keyword == "msgstr") return text;
  const bool is_singular = forms == 2 || (forms > 2 && has_all_placeholders());
  return keyword == "msgstr[0]" && is_singular ? text : plural;
}

struct PoFile {
  std::vector<PoPart> parts;
  std::vector<PoMessage> messages;  ///< at least one
};

/// The text without the white space at its begin.
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
      if (!line.starts_with("msg")) fail("text after a string");
      bytes = line;
      begin_part(line);
    }
  }

  /// Leaves the strings after the keyword in `line`.
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

  /// Adds a keyword to those of its message. True if it begins another message.
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

  /// The byte of an escape as C has it. `place` is that after the backslash, then that of the
  /// last character.
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

  /// The string that `rest` begins with; leaves the text after it.
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

/// Throws Error with the line that is no PO.
PoFile read_po(std::string_view po) { return PoReader(po).read(); }

/// The number of placeholders that stand for the next argument.
std::size_t count_arguments(std::string_view text, const FormatSyntaxes& formats) {
  const std::vector<MarkupToken> tokens = text_tokens(text, AlsoKept::Placeholders, formats);
  return static_cast<std::size_t>(
      std::ranges::count_if(tokens, [](const MarkupToken& token) { return token.argument > 0; }));
}

// ---- filling in ---------------------------------------------------------------------------------

/// Whether the translations of a message, as they are written into the catalogue, have its
/// directives.
struct DirectivesCheck {
  FormatSyntaxes formats;
  struct Form {
    std::string keyword, source;
  };
  std::vector<Form> forms = {};  ///< that are filled in

  bool operator()(std::string_view written) const {
    const PoFile po = read_po(written);
    return std::ranges::all_of(po.parts, [&](const PoPart& part) {
      const auto form = std::ranges::find(forms, part.keyword, &Form::keyword);
      return form == forms.end() || have_same_directives(formats, form->source, part.text);
    });
  }
};

/// The catalogue in which each empty translation is the message itself, and its tokens.
class FilledCatalogue {
 public:
  explicit FilledCatalogue(const PoFile& po) : po_(po) {}

  MarkupDocument filled() {
    const bool is_filled =
        std::ranges::any_of(po_.parts, [&](const PoPart& part) { return is_open(part); });
    for (const PoPart& part : po_.parts) {
      if (!part.keyword.empty() && &message_of(part) != checked_message_) end_check();
      if (is_open(part))
        fill_checked(part);
      else
        split(is_filled && is_header(part) ? with_utf8_declared(part.bytes) : part.bytes);
      if (checked_message_) original_ += part.bytes;
    }
    end_check();
    document_.passages = passages_of(document_.bytes, tokens_, Writing::PoString);
    return std::move(document_);
  }

 private:
  const PoMessage& message_of(const PoPart& part) const { return po_.messages[part.message]; }

  bool is_open(const PoPart& part) const {
    const PoMessage& message = message_of(part);
    // Escapes may have bytes of another encoding.
    return part.keyword.starts_with("msgstr") && part.text.empty() && !message.text.empty() &&
           find_invalid_utf8(message.source_of(part.keyword)) == std::string::npos;
  }

  bool is_header(const PoPart& part) const {
    const PoMessage& message = message_of(part);
    return part.keyword == "msgstr" && message.text.empty() && !message.has_context;
  }

  static std::string with_utf8_declared(std::string bytes) {
    const std::string_view charset = declared_charset(bytes);
    const std::string name = ascii_lower(charset);
    if (!name.empty() && name != "utf-8" && name != "utf8")
      bytes.replace(static_cast<std::size_t>(charset.data() - bytes.data()), charset.size(),
                    "UTF-8");
    return bytes;
  }

  void push(MarkupToken token, std::string_view bytes) {
    std::string& all = document_.bytes;
    token.source = {all.size(), all.size() + bytes.size()};
    all += bytes;
    if (!bytes.empty()) tokens_.push_back(std::move(token));
  }

  void split(std::string_view bytes) { push({.kind = Kind::Splits, .source = {}}, bytes); }

  /// gettext refuses a message if one of its forms lacks a directive, so all are checked together.
  void fill_checked(const PoPart& part) {
    const PoMessage& message = message_of(part);
    if (!checked_message_) {
      checked_message_ = &message;
      check_ = {.formats = message.formats};
      checked_ = {document_.bytes.size(), document_.bytes.size()};
      original_.clear();
    }
    fill(part, message);
    check_.forms.push_back({part.keyword, message.source_of(part.keyword)});
    checked_.end = document_.bytes.size();
    checked_original_size_ = original_.size() + part.bytes.size();
  }

  void end_check() {
    if (checked_message_ && !checked_message_->formats.empty())
      document_.checked.push_back({.source = checked_,
                                   .untranslated = original_.substr(0, checked_original_size_),
                                   .is_sound = std::move(check_)});
    checked_message_ = nullptr;
  }

  /// Each line of the text is a string by itself, as gettext's programs write it.
  void fill(const PoPart& part, const PoMessage& message) {
    std::string_view text = message.source_of(part.keyword);
    const bool has_lines = text.find('\n') < text.size() - 1;
    const std::string_view line_end = part.bytes.ends_with("\r\n") ? "\r\n" : "\n";
    const std::string between = join_text('"', line_end, '"');
    split(join_text(part.keyword, has_lines ? " \"" + between : " \""));
    const std::size_t arguments = count_arguments(text, message.formats);
    std::size_t argument = 0;
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      argument += fill_line(line, message.formats, {argument, arguments});
      text.remove_prefix(line.size());
      if (text.empty()) break;
      text.remove_prefix(1);
      split(text.empty() ? "\\n" : "\\n" + between);
    }
    split(part.bytes.substr(part.bytes.rfind('"')));
  }

  struct Arguments {
    std::size_t before;  ///< in the lines before
    std::size_t all;     ///< of the text
  };

  /// Returns the number of the line's arguments.
  std::size_t fill_line(std::string_view line, const FormatSyntaxes& formats,
                        const Arguments& arguments) {
    const std::string_view text = strip(line);
    const auto lead = static_cast<std::size_t>(text.data() - line.data());
    const std::size_t count = count_arguments(text, formats);
    split(po_string(line.substr(0, lead)));
    for (MarkupToken& token : text_tokens(text, AlsoKept::Placeholders, formats)) {
      if (token.argument > 0) token.argument += arguments.before;
      token.takes_number = token.takes_number && count == arguments.all;
      const std::string bytes = po_string(token.source.of(text));
      push(std::move(token), bytes);
    }
    split(po_string(line.substr(lead + text.size())));
    return count;
  }

  const PoFile& po_;
  MarkupDocument document_;
  std::vector<MarkupToken> tokens_;
  const PoMessage* checked_message_ = nullptr;  // whose forms are being filled in
  DirectivesCheck check_;
  ByteRange checked_;     // in the document, from its first form that is filled in to its last
  std::string original_;  // bytes of the catalogue from that first form on
  std::size_t checked_original_size_ = 0;  // of these, those up to its last form
};

}  // namespace

std::string_view declared_charset(std::string_view po) {
  constexpr std::string_view kField = "content-type:", kKey = "charset=";
  const std::size_t field = std::min(ascii_lower(po).find(kField), po.size());
  const std::string_view line = po.substr(field, po.substr(field).find('\n'));
  const std::size_t key = line.find(kKey);
  if (key == std::string_view::npos) return {};
  const std::string_view name = line.substr(key + kKey.size());
  return name.substr(0, name.find_first_of(" \t\r;\\\""));
}

MarkupDocument parse_po(const std::string& po) {
  const PoFile read = read_po(po);
  return FilledCatalogue(read).filled();
}

}  // namespace dragoman
