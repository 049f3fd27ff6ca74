#include <expat.h>

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/utf8.h"
#include "data/pair_format.h"

// Expat 2.7 also has names for positions of 64 bits; older versions have only these.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace dragoman {

namespace {

using Attributes = std::map<std::string, std::string, std::less<>>;

/// The part of a qualified name after its prefix: "xml:lang" is "lang".
std::string local_name(std::string_view qualified) {
  return std::string(qualified.substr(qualified.rfind(':') + 1));
}

std::string value_of(const Attributes& attributes, std::string_view name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? "" : found->second;
}

/// What a file in one of the XML formats says, element by element. Inline codes (bold, links,
/// placeholders) are left out; the text between a pair of them stays.
class Units {
 public:
  struct Unit {
    std::int64_t line = 0;                                        ///< on which it begins
    std::vector<std::pair<std::string, std::string>> texts = {};  ///< language, text
    bool is_unfinished = false;                                   ///< its translation is marked so
  };

  virtual ~Units() = default;

  /// The names of the elements that are units.
  const std::vector<std::string>& names() const { return names_; }
  /// The beginning of a document in whose middle a unit may stand.
  const std::string& document_begin() const { return document_begin_; }

  void begin(const std::string& element, const Attributes& attributes, std::int64_t line) {
    if (codes_ > 0 || (collects_ && is_code(element))) {
      ++codes_;
    } else if (!collects_) {
      if (is_unit(element)) unit = Unit{.line = line}, in_unit = true;
      opened(element, attributes);
    }
  }
  /// Returns whether a unit is complete.
  bool end(const std::string& element) {
    if (codes_ > 0) {
      --codes_;
      return false;
    }
    if (collects_ && element == segment_) {
      unit.texts.emplace_back(language_, segment_text(text_));
      collects_ = false;
    }
    if (!collects_) closed(element);
    if (!in_unit || !is_unit(element)) return false;
    in_unit = false;
    return true;
  }
  void text(std::string_view more) {
    if (collects_ && codes_ == 0) text_ += more;
  }

  /// The languages under which a unit has its sides.
  struct Sides {
    std::string source, target;
    LanguagePair languages;
  };

  /// The unit that is open is broken, and another one comes next.
  void abandon() {
    in_unit = collects_ = false;
    codes_ = 0;
  }

  Unit unit;             ///< the last that began
  bool in_unit = false;  ///< whether it is still open

  /// The sides that are wanted, as the first unit shows. Throws Error, beginning with the name of
  /// the file, if it does not have them, or if it is not clear which they are.
  virtual Sides sides(const std::string& name, const PairFileOptions& asked) const = 0;

 protected:
  Units(std::vector<std::string> names, std::string document_begin)
      : names_(std::move(names)), document_begin_(std::move(document_begin)) {}

  bool is_unit(std::string_view element) const {
    return std::ranges::find(names_, element) != names_.end();
  }
  /// Outside of a segment.
  virtual void opened(const std::string& element, const Attributes& attributes) = 0;
  virtual void closed(const std::string& /*element*/) {}

  /// The element that has begun is a segment in this language.
  void collect(const std::string& element, std::string language) {
    segment_ = element;
    language_ = std::move(language);
    text_.clear();
    collects_ = true;
  }

 private:
  /// Whether the content of an inline element is not text. That of others (hi, g, pc, mrk) is.
  static bool is_code(std::string_view element) {
    return is_among(element, {"bpt", "ept", "ph", "it", "ut", "x", "bx", "ex", "sc", "ec"});
  }

  const std::vector<std::string> names_;
  const std::string document_begin_;
  bool collects_ = false;
  std::int64_t codes_ = 0;  ///< open elements from an inline code on
  std::string segment_, language_, text_;
};

class TmxUnits : public Units {
 public:
  TmxUnits() : Units({"tu"}, "<tmx><body>") {}

  Sides sides(const std::string& name, const PairFileOptions& asked) const override {
    const std::string source = asked.source_lang.empty() ? source_ : asked.source_lang;
    std::string target = asked.target_lang;
    std::vector<std::string> all, others;
    for (const auto& [code, text] : unit.texts) {
      all.push_back(code);
      if (!is_language(code, source)) others.push_back(code);
    }
    if (source.empty() || (target.empty() && others.size() != 1))
      throw Error(name, ":", unit.line, ": has texts in ", joined(all, ", "),
                  "; say which two are wanted: --source-lang and --target-lang");
    if (target.empty()) target = others[0];
    return {source, target, {source, target}};
  }

 private:
  void opened(const std::string& element, const Attributes& attributes) override {
    if (element == "header" && value_of(attributes, "srclang") != "*all*")
      source_ = value_of(attributes, "srclang");
    if (element == "tuv") language_ = value_of(attributes, "lang");
    if (element == "seg") collect(element, language_);
  }

  std::string source_;    ///< the language of the header; "" if it names none
  std::string language_;  ///< of the texts that follow
};

class XliffUnits : public Units {
 public:
  XliffUnits() : Units({"trans-unit", "segment"}, "<xliff><file>") {}

  Sides sides(const std::string& name, const PairFileOptions& asked) const override {
    const auto fits = [&](const std::string& from, const std::string& to) {
      return is_language(from, asked.source_lang) &&
             (to.empty() || is_language(to, asked.target_lang));
    };
    if (fits(source_, target_)) return {"source", "target", {source_, target_}};
    if (fits(target_, source_)) return {"target", "source", {target_, source_}};
    throw Error(name, ": is from ", source_, " to ", target_, ", not from ", asked.source_lang,
                " to ", asked.target_lang, " (--source-lang, --target-lang)");
  }

 private:
  void opened(const std::string& element, const Attributes& attributes) override {
    if (is_among(element, {"xliff", "file"})) {
      for (const char* name : {"source-language", "srcLang"}) take(attributes, name, source_);
      for (const char* name : {"target-language", "trgLang"}) take(attributes, name, target_);
    }
    if (is_unit(element)) others_ = 0;
    if (element == "segment") unit.is_unfinished = value_of(attributes, "state") == "initial";
    others_ += is_among(element, {"alt-trans", "seg-source"});
    if (others_ > 0 || !in_unit) return;
    if (element == "source") collect(element, "source");
    if (element == "target") {
      const std::string state = value_of(attributes, "state");
      unit.is_unfinished = unit.is_unfinished || state == "new" || state.starts_with("needs-");
      collect(element, "target");
    }
  }
  void closed(const std::string& element) override {
    others_ -= is_among(element, {"alt-trans", "seg-source"});
  }

  static void take(const Attributes& attributes, const char* name, std::string& language) {
    if (const std::string value = value_of(attributes, name); !value.empty()) language = value;
  }

  std::string source_, target_;  ///< languages of the file
  int others_ = 0;  ///< open elements with other translations, or the source in segments
};

/// Reads a file of units. If the XML is broken, it continues with the next unit.
class XmlPairs : public PairFormat {
 public:
  XmlPairs(const std::string& file, const PairFileOptions& asked, const PairSink& to)
      : PairFormat(file, asked, to) {
    start();
  }
  ~XmlPairs() override { XML_ParserFree(parser_); }

  void add(std::string_view bytes) override { parse(bytes, false); }
  void finish() override {
    parse("", true);
    if (units_ == nullptr) throw Error(name, ": is cut off before its first unit");
  }

 private:
  using Unit = Units::Unit;

  void start() {
    parser_ = XML_ParserCreate(nullptr);
    if (parser_ == nullptr) throw std::bad_alloc();
    XML_SetUserData(parser_, this);
    XML_SetElementHandler(parser_, on_begin, on_end);
    XML_SetCharacterDataHandler(parser_, on_text);
    fed_ = 0;
  }

  void parse(std::string_view bytes, bool is_last) {
    while (true) {
      if (is_searching_ && !find_unit(bytes)) return;
      const auto status =
          XML_Parse(parser_, bytes.data(), static_cast<int>(bytes.size()), is_last ? 1 : 0);
      if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
      if (status == XML_STATUS_OK) {
        fed_ += std::ssize(bytes);
        return;
      }
      give_up_unit();
      if (is_last) return;
      // The fault lies in these bytes, or in a token that they end.
      const auto fault = std::max<std::int64_t>(fault_offset(), 0);
      bytes.remove_prefix(std::min(static_cast<std::size_t>(fault), bytes.size()));
      is_searching_ = true;
      skipped_.clear();
    }
  }

  /// Where the parser stopped, in the bytes that it was given last.
  std::int64_t fault_offset() const { return XML_GetCurrentByteIndex(parser_) - fed_; }

  /// Reports the unit that the parser could not read. Does nothing if the file has had a fault and
  /// now only lacks its end.
  void give_up_unit() {
    const std::int64_t line = current_line();
    const char* fault = XML_ErrorString(XML_GetErrorCode(parser_));
    if (units_ == nullptr) throw Error(name, ":", line, ": is not well-formed XML (", fault, ")");
    if (units_->in_unit || facts.left_out == 0) leave_out(line, fault);
    units_->abandon();
    first_line_ = line;
  }

  /// Looks for the beginning of a unit in the bytes that were skipped and these. If there is one,
  /// `bytes` begin with it, and a new parser stands ready for them.
  bool find_unit(std::string_view& bytes) {
    skipped_ += bytes;
    std::size_t begin = skipped_.npos;
    for (const std::string& name : units_->names()) {
      const std::string mark = "<" + name;
      for (std::size_t at = skipped_.find(mark, 1); at != skipped_.npos;
           at = skipped_.find(mark, at + 1)) {
        const std::size_t after = at + mark.size();
        if (after < skipped_.size() && (is_blank(skipped_[after]) || skipped_[after] == '>')) {
          begin = std::min(begin, at);
          break;
        }
      }
    }
    constexpr std::size_t kLongestMark = 16;
    const bool is_found = begin != skipped_.npos;
    const std::size_t gone =
        is_found ? begin : skipped_.size() - std::min(skipped_.size(), kLongestMark);
    first_line_ += std::count(skipped_.begin(), skipped_.begin() + std::ptrdiff_t(gone), '\n');
    skipped_.erase(0, gone);
    if (!is_found) return false;
    XML_ParserFree(parser_);
    start();
    const std::string& document = units_->document_begin();
    XML_Parse(parser_, document.data(), static_cast<int>(document.size()), 0);
    fed_ = std::ssize(document);
    rest_.swap(skipped_);
    skipped_.clear();
    bytes = rest_;
    is_searching_ = false;
    return true;
  }

  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

  std::int64_t current_line() const {
    return first_line_ + static_cast<std::int64_t>(XML_GetCurrentLineNumber(parser_)) - 1;
  }

  // expat calls these. An exception must not pass through it.
  template <class Call>
  void guarded(Call&& call) {
    if (failure_) return;
    try {
      call();
    } catch (...) {
      failure_ = std::current_exception();
      XML_StopParser(parser_, XML_FALSE);
    }
  }
  static void XMLCALL on_begin(void* self, const char* element, const char** attributes) {
    auto& reader = *static_cast<XmlPairs*>(self);
    reader.guarded([&] { reader.begin(element, attributes); });
  }
  static void XMLCALL on_end(void* self, const char* element) {
    auto& reader = *static_cast<XmlPairs*>(self);
    reader.guarded([&] {
      if (reader.units_->end(local_name(element))) reader.take(reader.units_->unit);
    });
  }
  static void XMLCALL on_text(void* self, const char* text, int size) {
    auto& reader = *static_cast<XmlPairs*>(self);
    reader.guarded([&] {
      if (reader.units_) reader.units_->text({text, static_cast<std::size_t>(size)});
    });
  }

  void begin(const char* element, const char** attributes) {
    const std::string local = local_name(element);
    if (units_ == nullptr) {
      if (local == "tmx") units_ = std::make_unique<TmxUnits>();
      if (local == "xliff") units_ = std::make_unique<XliffUnits>();
      if (units_ == nullptr)
        throw Error(name, ": is XML, but neither TMX nor XLIFF (its root is ", local, ")");
    }
    Attributes values;
    for (; attributes[0] != nullptr; attributes += 2)
      values.insert_or_assign(local_name(attributes[0]), attributes[1]);
    units_->begin(local, values, current_line());
  }

  void take(const Unit& unit) {
    if (unit.is_unfinished) return leave_out(unit.line, "its translation is not finished");
    if (!sides_) facts.languages = sides_.emplace(units_->sides(name, options)).languages;
    const std::string* source = text_in(unit, sides_->source);
    const std::string* target = text_in(unit, sides_->target);
    if (source == nullptr) return leave_out(unit.line, "no text in " + sides_->source);
    if (target == nullptr) return leave_out(unit.line, "no text in " + sides_->target);
    if (source->empty() || target->empty()) return leave_out(unit.line, "an empty side");
    give(*source, *target);
  }

  static const std::string* text_in(const Unit& unit, const std::string& language) {
    for (const auto& [code, text] : unit.texts)
      if (is_language(code, language)) return &text;
    return nullptr;
  }

  XML_Parser parser_ = nullptr;
  std::int64_t fed_ = 0;         ///< bytes that this parser has taken
  std::int64_t first_line_ = 1;  ///< of the file, where this parser began
  std::exception_ptr failure_;
  bool is_searching_ = false;  ///< after a fault, for the next unit
  std::string skipped_, rest_;
  std::unique_ptr<Units> units_;       ///< from the root element on
  std::optional<Units::Sides> sides_;  ///< from the first unit on
};

}  // namespace

std::unique_ptr<PairFormat> bilingual_xml(const std::string& name, const PairFileOptions& options,
                                          const PairSink& sink) {
  return std::make_unique<XmlPairs>(name, options, sink);
}

}  // namespace dragoman
