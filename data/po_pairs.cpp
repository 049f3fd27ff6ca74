// Catalogues of messages in gettext's format (PO; its manual, "The Format of PO Files"), message by
// message.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/lines.h"
#include "base/quoted_text.h"
#include "base/utf8.h"
#include "data/pair_format.h"

namespace dragoman {

namespace {

constexpr std::size_t kMostForms = 8;  // of a plural; Arabic has six

struct Message {
  std::int64_t line = 0;  ///< of its first keyword; 0: there is none yet
  std::string context = {}, text = {}, plural = {};
  std::vector<std::string> translations = {};  ///< of its plural forms
  bool has_context = false, has_plural = false;
  bool is_fuzzy = false;
  std::string fault = {};
};

class PoPairs : public LinePairs {
 public:
  using LinePairs::LinePairs;

  void finish() override {
    LinePairs::finish();
    end_message();
  }

 private:
  void take(std::string_view line, std::int64_t number) override {
    line = strip(line);
    if (line.starts_with('#')) {
      if (line.starts_with("#,") && line.find("fuzzy") != line.npos) next_is_fuzzy_ = true;
      return;
    }
    while (!line.empty()) {
      if (!line.starts_with('"') && !begin_string(line, number))
        return note_fault("neither a comment nor a keyword with its string", number);
      const auto text = take_quoted(line);
      if (!text) return note_fault("a string without its second quote", number);
      if (string_ != nullptr)
        *string_ += *text;
      else
        note_fault("a string without a keyword in front of it", number);
      line = strip(line);
    }
  }

  /// Takes a keyword from the line, which then begins with its string. Returns false if there is
  /// none.
  bool begin_string(std::string_view& line, std::int64_t number) {
    const std::size_t quote = line.find('"');
    if (quote == line.npos) return false;
    const std::string_view keyword = strip(line.substr(0, quote));
    const bool begins = keyword == "msgid" || keyword == "msgctxt";
    if (begins && (!message_.translations.empty() || !message_.fault.empty())) end_message();
    if (begins && next_is_fuzzy_) message_.is_fuzzy = true, next_is_fuzzy_ = false;
    string_ = string_of(keyword);
    if (string_ == nullptr) return false;
    if (message_.line == 0) message_.line = number;
    line.remove_prefix(quote);
    return true;
  }

  /// The part of the message that a keyword names; null if there is no such keyword.
  std::string* string_of(std::string_view keyword) {
    if (keyword == "msgctxt") return message_.has_context = true, &message_.context;
    if (keyword == "msgid") return &message_.text;
    if (keyword == "msgid_plural") return message_.has_plural = true, &message_.plural;
    const bool is_form = keyword.starts_with("msgstr[") && keyword.ends_with(']');
    if ((keyword != "msgstr" && !is_form) || message_.translations.size() == kMostForms)
      return nullptr;
    return &message_.translations.emplace_back();
  }

  void note_fault(const char* fault, std::int64_t number) {
    if (message_.line == 0) message_.line = number;
    if (message_.fault.empty()) message_.fault = fault;
    string_ = nullptr;
  }

  void end_message() {
    const Message message = std::exchange(message_, {});
    string_ = nullptr;
    if (message.line == 0) return;
    if (!message.fault.empty()) return leave_out(message.line, message.fault);
    if (message.text.empty() && !message.has_context) return take_header(message);
    if (message.is_fuzzy) return leave_out(message.line, "its translation is fuzzy");
    const auto is_blank = [](const std::string& text) { return strip(text).empty(); };
    if (message.translations.empty() || std::ranges::any_of(message.translations, is_blank))
      return leave_out(message.line, "no translation");
    give_message(message);
  }

  /// The first form is the singular in most languages that have two or more. The last one serves
  /// most numbers.
  void give_message(const Message& message) {
    const std::vector<std::string>& forms = message.translations;
    if (!message.has_plural || forms.size() > 1) give_sides(message.text, forms.front());
    if (message.has_plural) give_sides(message.plural, forms.back());
  }

  void give_sides(const std::string& text, const std::string& translation) {
    const auto one = segment_text(text), other = segment_text(translation);
    is_turned_ ? give(other, one) : give(one, other);
  }

  /// Finds the languages and the encoding. Throws Error if they are not those that are wanted.
  void take_header(const Message& message) {
    if (message.translations.empty()) return;
    const std::string& header = message.translations.front();
    const std::string type = ascii_lower(po_header_field(header, "Content-Type"));
    const std::size_t charset = type.find("charset=");
    const std::string encoding = charset == type.npos ? "" : type.substr(charset + 8);
    if (!encoding.empty() && encoding != "utf-8" && encoding != "us-ascii" && encoding != "charset")
      throw Error(name, ": is in ", encoding, ", not UTF-8; convert it first (msgconv -t UTF-8)");
    std::string source(po_header_field(header, "X-Source-Language"));
    if (source == "C") source.clear();  // the locale of programs that are not translated
    const std::string target(po_header_field(header, "Language"));
    if (target.empty()) return;
    const auto fits = [&](const std::string& from, const std::string& to) {
      return (from.empty() || is_language(from, options.source_lang)) &&
             (to.empty() || is_language(to, options.target_lang));
    };
    is_turned_ = !fits(source, target) && fits(target, source);
    if (!is_turned_ && !fits(source, target))
      throw Error(name, ": is from ", source.empty() ? "another language" : source, " to ", target,
                  ", not from ", options.source_lang, " to ", options.target_lang,
                  " (--source-lang, --target-lang)");
    facts.languages = is_turned_ ? LanguagePair{target, source} : LanguagePair{source, target};
  }

  Message message_;
  std::string* string_ = nullptr;  ///< of the message, to which the next strings belong
  bool next_is_fuzzy_ = false;
  bool is_turned_ = false;  ///< the messages are the target
};

}  // namespace

bool begins_as_po(std::string_view first) {
  for (LineCursor lines(first); !lines.at_end();) {
    const std::string_view line = strip(lines.next());
    if (line.empty() || line.starts_with('#')) continue;
    const std::string_view keyword = strip(line.substr(0, line.find('"')));
    return keyword.size() < line.size() && (keyword == "msgid" || keyword == "msgctxt");
  }
  return false;
}

std::unique_ptr<PairFormat> po_messages(const std::string& name, const PairFileOptions& options,
                                        const PairSink& sink) {
  return std::make_unique<PoPairs>(name, options, sink);
}

}  // namespace dragoman
