#include "extras/markup/po.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "extras/markup/markup_token.h"
#include "extras/markup/po_reader.h"
#include "extras/markup/text_tokens.h"
#include "extras/markup/writing.h"

namespace dragoman {

namespace {

using Kind = MarkupToken::Kind;

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

  /// gettext refuses a message of which one form lacks a directive: all of them stand together.
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

MarkupDocument parse_po(const std::string& po) {
  const PoFile read = read_po(po);
  return FilledCatalogue(read).filled();
}

}  // namespace dragoman
