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
#include "base/quoted_text.h"
#include "base/utf8.h"
#include "extras/markup/format_directives.h"
#include "extras/markup/icu_messages.h"
#include "extras/markup/markup_tokens.h"
#include "extras/markup/template_marks.h"
#include "extras/markup/writing.h"
#include "tokenizer/translatable.h"

namespace dragoman {

namespace {

using Kind = MarkupToken::Kind;

// ---- reading ------------------------------------------------------------------------------------

constexpr std::size_t kMostForms = 8;  // of a plural; Arabic has six

/// A keyword with its strings, or another line.
struct PoPart {
  std::string bytes;         ///< with line ends
  std::string keyword = {};  ///< "msgid", "msgstr[1]"; empty: a comment or a blank line
  std::string text = {};     ///< of all its strings
  std::size_t message = 0;   ///< its number among those of the file
};

struct PoMessage {
  std::string text = {}, plural = {};
  bool has_plural = false;      ///< a msgid_plural
  std::size_t forms = 0;        ///< of its translation
  bool has_context = false;     ///< a msgctxt
  FormatSyntaxes formats = {};  ///< as its flags say

  /// The text that the form `keyword` of the translation is made from. If there are two forms, the
  /// first is the singular. If there is one, or three and more, the first serves other numbers, too
  /// (21 in Russian): then it needs the placeholders of the plural.
  const std::string& source_of(std::string_view keyword) const;
};

bool has_same_placeholders(const FormatSyntaxes& formats, std::string_view source,
                           std::string_view translation) {
  return formats.empty() ? kept_parts(source).placeholders == kept_parts(translation).placeholders
                         : have_same_directives(formats, source, translation);
}

/// Whether a translation has the tags of its message, and no more "<", which a model may write.
bool has_same_tags(const FormatSyntaxes& formats, std::string_view source,
                   std::string_view translation) {
  return kept_parts(source, formats).tags == kept_parts(translation, formats).tags &&
         std::ranges::count(translation, '<') <= std::ranges::count(source, '<');
}

const std::string& PoMessage::source_of(std::string_view keyword) const {
  if (keyword == "msgstr") return text;
  const bool is_singular =
      forms == 2 || (forms > 2 && has_same_placeholders(formats, text, plural));
  return keyword == "msgstr[0]" && is_singular ? text : plural;
}

struct PoFile {
  std::vector<PoPart> parts;
  std::vector<PoMessage> messages;  ///< at least one
};

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
      if (part.keyword == "msgid_plural") message.plural = part.text, message.has_plural = true;
      if (part.keyword == "msgctxt") message.has_context = true;
      if (part.keyword.starts_with("msgstr")) ++message.forms;
    }
    return std::move(read_);
  }

 private:
  void add_line(std::string_view bytes) {
    ++line_;
    std::string_view line = strip_left(bytes);
    if (line_ == 1 && line.starts_with(kByteOrderMark))
      line = strip_left(line.substr(kByteOrderMark.size()));
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
        const auto text = take_quoted(line);
        if (!text) fail("a string without its second quote");
        read_.parts.back().text += *text;
        line = strip_left(line);
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

  [[noreturn]] void fail(std::string_view fault) const {
    throw Error("po: line ", line_, ": ", fault);
  }

  const std::string_view po_;
  PoFile read_{.parts = {}, .messages = {{}}};
  int line_ = 0;
  FormatSyntaxes formats_;          // of the message that follows
  std::set<std::string> keywords_;  // of the message
  std::size_t forms_ = 0;           // of its translation
};

/// Throws Error with the line that is not PO.
PoFile read_po(std::string_view po) { return PoReader(po).read(); }

/// The number of placeholders that stand for the next argument.
std::size_t count_arguments(const std::vector<MarkupToken>& tokens) {
  return static_cast<std::size_t>(
      std::ranges::count_if(tokens, [](const MarkupToken& token) { return token.argument > 0; }));
}

// ---- plural forms -------------------------------------------------------------------------------

bool is_header(const PoFile& po, const PoPart& part) {
  const PoMessage& message = po.messages[part.message];
  return part.keyword == "msgstr" && message.text.empty() && !message.has_context;
}

struct PluralRule {
  std::string_view languages;  ///< with a blank around each
  std::size_t forms;
  std::string_view plural;
};

/// The rules of the manual of gettext, section 11.2.6.
constexpr PluralRule kPluralRules[] = {
    {" id ja ko ms th vi zh ", 1, "0"},
    {" bg ca da de el en eo es et fi fo he hu it nb nl nn no pt sv tr ", 2, "(n != 1)"},
    {" fr pt_BR ", 2, "(n > 1)"},
    {" be hr ru sr uk ", 3,
     "(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2)"},
    {" cs sk ", 3, "(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2"},
    {" ga ", 3, "n==1 ? 0 : n==2 ? 1 : 2"},
    {" lt ", 3, "(n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? 1 : 2)"},
    {" lv ", 3, "(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2)"},
    {" pl ", 3, "(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2)"},
    {" ro ", 3, "n==1 ? 0 : (n==0 || (n%100 > 0 && n%100 < 20)) ? 1 : 2"},
    {" sl ", 4, "(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3)"},
    {" ar ", 6, "n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5"},
};

/// That of "pt_BR" or, if there is none, that of "pt"; null: none is known.
const PluralRule* plural_rule_of(std::string_view language) {
  for (const std::string_view name : {language, language.substr(0, language.find_first_of("_@-"))})
    for (const PluralRule& rule : kPluralRules)
      if (!name.empty() && rule.languages.find(join_text(' ', name, ' ')) != std::string_view::npos)
        return &rule;
  return nullptr;
}

/// The number of plural forms that a field of a header states; 0: it states none, like the one that
/// xgettext writes ("nplurals=INTEGER; plural=EXPRESSION;").
std::size_t forms_of(std::string_view field) {
  constexpr std::string_view kCount = "nplurals=";
  const std::size_t count = field.find(kCount);
  std::size_t forms = 0;
  if (count == std::string_view::npos || field.find("EXPRESSION") != std::string_view::npos ||
      field.find("plural=", count + kCount.size()) == std::string_view::npos)
    return 0;
  const std::string_view number = field.substr(count + kCount.size());
  std::from_chars(number.data(), number.data() + number.size(), forms);
  return forms <= kMostForms ? forms : 0;
}

/// The header with the rule of its language in place of the one that it lacks.
void declare_rule(PoPart& header, const PluralRule& rule) {
  constexpr std::string_view kName = "Plural-Forms";
  const std::string line =
      join_text(kName, ": nplurals=", rule.forms, "; plural=", rule.plural, ";\\n\"");
  const std::string_view line_end = header.bytes.find("\r\n") < header.bytes.size() ? "\r\n" : "\n";
  if (const std::size_t begin = header.bytes.find(join_text('"', kName));
      begin < header.bytes.size())
    header.bytes.replace(begin + 1, header.bytes.find('"', begin + 1) - begin, line);
  else
    header.bytes.insert(header.bytes.rfind('"') + 1, join_text(line_end, '"', line));
}

/// Messages whose plural forms are all empty get as many as the header declares, or as its language
/// has. Returns that number; 0 if neither is known.
std::size_t adapt_plural_forms(PoFile& po) {
  const auto header =
      std::ranges::find_if(po.parts, [&](const PoPart& part) { return is_header(po, part); });
  if (header == po.parts.end()) return 0;
  std::size_t forms = forms_of(po_header_field(header->text, "Plural-Forms"));
  const PluralRule* rule = plural_rule_of(po_header_field(header->text, "Language"));
  const bool has_plurals = std::ranges::any_of(po.messages, &PoMessage::has_plural);
  if (forms == 0 && rule && has_plurals && header->text.ends_with('\n')) {
    declare_rule(*header, *rule);
    forms = rule->forms;
  }
  if (forms == 0 || !has_plurals) return forms;
  std::vector<bool> is_open(po.messages.size(), true);
  for (const PoPart& part : po.parts)
    if (part.keyword.starts_with("msgstr") && !part.text.empty()) is_open[part.message] = false;
  std::vector<PoPart> parts;
  std::size_t count = 0;  // of the forms of the message
  for (PoPart& part : po.parts) {
    PoMessage& message = po.messages[part.message];
    const bool is_form = part.keyword.starts_with("msgstr[");
    count = is_form ? count + 1 : 0;
    if (!is_form || !message.has_plural || !is_open[part.message] || message.forms == forms) {
      parts.push_back(std::move(part));
      continue;
    }
    const std::string end = part.bytes.substr(part.bytes.rfind('"') + 1);
    const std::size_t number = part.message;
    if (count <= forms) parts.push_back(std::move(part));
    if (count < message.forms) continue;
    for (; count < forms; ++count) {
      const std::string keyword = join_text("msgstr[", count, ']');
      if (parts.back().bytes.ends_with('"')) parts.back().bytes += '\n';
      parts.push_back(
          {.bytes = join_text(keyword, " \"\"", end), .keyword = keyword, .message = number});
    }
    message.forms = forms;
  }
  po.parts = std::move(parts);
  return forms;
}

// ---- filling in ---------------------------------------------------------------------------------

/// What divides a message into fields that are translated one by one.
constexpr std::string_view kFieldEnds = "\n\t\v\f\r";

/// Whether a text has words besides its placeholders and tags.
bool has_words(std::string_view text, const FormatSyntaxes& formats) {
  return std::ranges::any_of(text_tokens(text, AlsoKept::Placeholders, formats),
                             [](const MarkupToken& token) {
                               return token.kind == Kind::Text && has_letter_or_digit(token.text);
                             });
}

/// Whether a translation has the fields of its message, and words in each that has words.
bool has_same_fields(std::string_view source, std::string_view translation,
                     const FormatSyntaxes& formats) {
  while (true) {
    const std::size_t end = std::min(source.find_first_of(kFieldEnds), source.size());
    const std::size_t its_end = std::min(translation.find_first_of(kFieldEnds), translation.size());
    if (has_words(source.substr(0, end), formats) &&
        !has_words(translation.substr(0, its_end), formats))
      return false;
    if (end == source.size() || its_end == translation.size())
      return end == source.size() && its_end == translation.size();
    if (source[end] != translation[its_end]) return false;
    source.remove_prefix(end + 1);
    translation.remove_prefix(its_end + 1);
  }
}

/// Whether a translation has the placeholders, the tags and the fields of its message, or of each
/// text that the message chooses from.
bool has_same_parts(const FormatSyntaxes& formats, std::string_view source,
                    std::string_view translation) {
  const auto has_same_text = [&](std::string_view text, std::string_view its_text) {
    return have_same_directives(formats, text, its_text) &&
           has_same_tags(formats, text, its_text) && has_same_fields(text, its_text, formats) &&
           (!formats.empty() || !begins_more_marks(its_text, text));
  };
  const std::vector<ByteRange> texts = icu_message(source).texts;
  if (texts.empty())
    return has_same_placeholders(formats, source, translation) &&
           has_same_text(source, translation);
  if (!has_same_branches(source, translation)) return false;
  const std::vector<ByteRange> its_texts = icu_message(translation).texts;
  for (std::size_t t = 0; t < texts.size(); ++t)
    if (!has_same_text(texts[t].of(source), its_texts[t].of(translation))) return false;
  return true;
}

/// Whether the translations of a message, as they are written into the catalogue, have its
/// placeholders, its tags, its fields and their words.
struct MessageCheck {
  FormatSyntaxes formats;
  struct Form {
    std::string keyword, source;
  };
  std::vector<Form> forms = {};  ///< that are filled in; none: they cannot be

  bool operator()(std::string_view written) const {
    const PoFile po = read_po(written);
    return !forms.empty() && std::ranges::all_of(po.parts, [&](const PoPart& part) {
      const auto form = std::ranges::find(forms, part.keyword, &Form::keyword);
      return form == forms.end() || has_same_parts(formats, form->source, part.text);
    });
  }
};

/// The catalogue in which each empty translation is the message itself, and its tokens.
class FilledCatalogue {
 public:
  /// `forms`: of a plural; 0: not known, so messages with a plural stay untranslated.
  FilledCatalogue(const PoFile& po, std::size_t forms) : po_(po), forms_(forms) {}

  MarkupDocument filled() {
    const bool is_filled =
        std::ranges::any_of(po_.parts, [&](const PoPart& part) { return is_filled_in(part); });
    for (const PoPart& part : po_.parts) {
      if (!part.keyword.empty() && &message_of(part) != checked_message_) end_check();
      if (is_open(part))
        fill_checked(part);
      else
        split(is_filled && is_header(po_, part) ? with_utf8_declared(part.bytes) : part.bytes);
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

  bool is_filled_in(const PoPart& part) const {
    if (!is_open(part) || (forms_ == 0 && message_of(part).has_plural)) return false;
    const IcuMessage message = icu_message(message_of(part).source_of(part.keyword));
    return !message.chooses || !message.texts.empty();
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
    if (is_filled_in(part)) {
      fill(part, message);
      check_.forms.push_back({part.keyword, message.source_of(part.keyword)});
    } else {
      split(part.bytes);
    }
    checked_.end = document_.bytes.size();
    checked_original_size_ = original_.size() + part.bytes.size();
  }

  void end_check() {
    if (checked_message_)
      document_.checked.push_back({.source = checked_,
                                   .untranslated = original_.substr(0, checked_original_size_),
                                   .is_sound = std::move(check_)});
    checked_message_ = nullptr;
  }

  /// Each line of the text is a string by itself, as gettext's programs write it.
  void fill(const PoPart& part, const PoMessage& message) {
    const std::string_view text = message.source_of(part.keyword);
    const bool has_lines = text.find('\n') < text.size() - 1;
    const std::string_view line_end = part.bytes.ends_with("\r\n") ? "\r\n" : "\n";
    const std::string between = join_text('"', line_end, '"');
    split(join_text(part.keyword, has_lines ? " \"" + between : " \""));
    IcuMessage choice = icu_message(text);
    const bool chooses = !choice.texts.empty();
    if (!chooses) choice.texts = {{0, text.size()}};
    const auto tokens_of = [&](std::string_view field) {
      return chooses ? branch_tokens(field, message.formats, choice.apostrophes)
                     : text_tokens(field, AlsoKept::Placeholders, message.formats);
    };
    const std::size_t arguments = count_arguments(tokens_of(text));
    std::size_t argument = 0, place = 0;
    const auto fill_lines = [&](std::size_t end, const auto& fill_one) {
      while (place < end) {
        const std::size_t line = std::min(text.find('\n', place), end);
        if (line > place) fill_one(text.substr(place, line - place));
        place = line;
        if (place == end) return;
        split(++place == text.size() ? "\\n" : "\\n" + between);
      }
    };
    for (const ByteRange& chosen : choice.texts) {
      fill_lines(chosen.begin, [&](std::string_view line) { split(po_string(line)); });
      fill_lines(chosen.end, [&](std::string_view line) {
        argument += fill_line(line, tokens_of, {argument, arguments});
      });
    }
    fill_lines(text.size(), [&](std::string_view line) { split(po_string(line)); });
    split(part.bytes.substr(part.bytes.rfind('"')));
  }

  struct Arguments {
    std::size_t before;  ///< in the lines before
    std::size_t all;     ///< of the text
  };

  /// Returns the number of the line's arguments.
  std::size_t fill_line(std::string_view line, const auto& tokens_of, Arguments arguments) {
    const std::size_t before = arguments.before;
    while (true) {
      const std::size_t end = std::min(line.find_first_of(kFieldEnds), line.size());
      arguments.before += fill_field(line.substr(0, end), tokens_of, arguments);
      if (end == line.size()) return arguments.before - before;
      split(po_string(line.substr(end, 1)));
      line.remove_prefix(end + 1);
    }
  }

  /// Returns the number of the field's arguments.
  std::size_t fill_field(std::string_view line, const auto& tokens_of, const Arguments& arguments) {
    const std::string_view text = strip(line);
    const auto lead = static_cast<std::size_t>(text.data() - line.data());
    std::vector<MarkupToken> tokens = tokens_of(text);
    const std::size_t count = count_arguments(tokens);
    split(po_string(line.substr(0, lead)));
    for (MarkupToken& token : tokens) {
      if (token.argument > 0) token.argument += arguments.before;
      token.takes_number = token.takes_number && count == arguments.all;
      const std::string bytes = po_string(token.source.of(text));
      push(std::move(token), bytes);
    }
    split(po_string(line.substr(lead + text.size())));
    return count;
  }

  const PoFile& po_;
  const std::size_t forms_;
  MarkupDocument document_;
  std::vector<MarkupToken> tokens_;
  const PoMessage* checked_message_ = nullptr;  // whose forms are being filled in
  MessageCheck check_;
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
  PoFile read = read_po(po);
  const std::size_t forms = adapt_plural_forms(read);
  return FilledCatalogue(read, forms).filled();
}

}  // namespace dragoman
