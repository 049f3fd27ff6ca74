#include "extras/markup/charset.h"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "extras/markup/markup_formats.h"

namespace dragoman {

namespace {

class Converter {
 public:
  Converter(const std::string& to, const std::string& from)
      : converter_(iconv_open(to.c_str(), from.c_str())) {
    if (reinterpret_cast<std::intptr_t>(converter_) == -1)
      throw Error(
          "the charset ", to == kUtf8 ? from : to,
          " is not known here; convert the file to UTF-8, and what it says about its charset");
  }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;
  ~Converter() { iconv_close(converter_); }

  /// Appends as much as can be converted. Returns the number of bytes that were.
  std::size_t append(std::string_view bytes, std::string& converted) {
    char* in = const_cast<char*>(bytes.data());  // iconv does not write there
    std::size_t left = bytes.size();
    while (left > 0 && step(&in, &left, converted)) {
    }
    return bytes.size() - left;
  }

  /// Ends a text in a charset with states.
  void finish(std::string& converted) { step(nullptr, nullptr, converted); }

  static constexpr const char* kUtf8 = "UTF-8";

 private:
  /// Whether more can be converted.
  bool step(char** in, std::size_t* left, std::string& converted) {
    std::array<char, 4096> buffer;
    char* out = buffer.data();
    std::size_t room = buffer.size();
    const bool is_done = iconv(converter_, in, left, &out, &room) != static_cast<std::size_t>(-1);
    const bool is_full = !is_done && errno == E2BIG;
    converted.append(buffer.data(), buffer.size() - room);
    return is_full;
  }

  iconv_t converter_;
};

/// The charset that the Encoding standard of WHATWG means by a name, if iconv means another one or
/// does not know the name.
std::string charset_of_html(std::string_view label) {
  struct Meaning {
    std::string_view charset;
    std::array<std::string_view, 6> labels;
  };
  constexpr std::array<Meaning, 8> kMeanings = {
      {{"WINDOWS-1252", {"iso-8859-1", "iso8859-1", "latin1", "us-ascii", "ascii", "x-cp1252"}},
       {"WINDOWS-1254", {"iso-8859-9", "iso8859-9", "latin5", "x-cp1254"}},
       {"CP874", {"iso-8859-11", "tis-620", "windows-874"}},
       {"CP949", {"euc-kr", "ks_c_5601-1987", "ksc5601", "korean", "windows-949"}},
       {"GBK", {"gb2312", "x-gbk", "chinese", "gb_2312-80"}},
       {"CP932", {"shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j", "ms_kanji"}},
       {"BIG5-HKSCS", {"big5", "x-x-big5", "cn-big5"}},
       {"MACINTOSH", {"x-mac-roman", "mac"}}}};
  const std::string name = ascii_lower(label);
  if (name.empty()) return "";  // some meanings have fewer labels
  for (const Meaning& meaning : kMeanings)
    if (std::ranges::find(meaning.labels, name) != meaning.labels.end())
      return std::string(meaning.charset);
  // A <meta> that can be read as ASCII cannot stand in UTF-16.
  return name.starts_with("utf-16") ? "" : std::string(label);
}

/// The name in <?xml version="1.0" encoding="latin1"?>.
std::string_view charset_of_xml(std::string_view bytes) {
  static constexpr std::string_view kKey = "encoding", kBlanks = " \t\r\n";
  if (!bytes.starts_with("<?xml")) return {};
  const std::string_view declaration = bytes.substr(0, bytes.find("?>"));
  const auto skip_blanks = [](std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(kBlanks), text.size()));
  };
  const std::size_t key = declaration.find(kKey);
  if (key == std::string_view::npos) return {};
  std::string_view rest = skip_blanks(declaration.substr(key + kKey.size()));
  if (!rest.starts_with('=')) return {};
  rest = skip_blanks(rest.substr(1));
  if (!rest.starts_with('"') && !rest.starts_with('\'')) return {};
  return rest.substr(1, rest.find(rest[0], 1) - 1);
}

std::string charset_of(MarkupFormat format, std::string_view bytes) {
  constexpr std::size_t kHead = 1'024;
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with(std::string_view("<\0?\0", 4)))
    return "UTF-16LE";
  if (bytes.starts_with("\xFE\xFF") || bytes.starts_with(std::string_view("\0<\0?", 4)))
    return "UTF-16BE";
  if (bytes.starts_with(kByteOrderMark)) return "";
  if (format == MarkupFormat::Xml) return std::string(charset_of_xml(bytes));
  std::string head(bytes.substr(0, kHead));
  for (char& c : head)
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  return charset_of_html(declared_encoding(head));
}

bool is_ascii(std::string_view bytes) {
  return std::ranges::none_of(bytes, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

}  // namespace

FileText file_text(MarkupFormat format, std::string bytes) {
  const bool declares = format == MarkupFormat::Html || format == MarkupFormat::Xml;
  std::string charset = declares ? charset_of(format, bytes) : "";
  const std::string name = ascii_upper(charset);
  const bool is_utf16 = name.starts_with("UTF-16");
  if (charset.empty() || name == "UTF-8" || name == "UTF8" ||
      (!is_utf16 && !is_ascii(bytes) && find_invalid_utf8(bytes) == std::string::npos))
    return {.text = std::move(bytes), .charset = ""};
  std::string text;
  const std::size_t read = Converter(Converter::kUtf8, charset).append(bytes, text);
  if (read < bytes.size()) throw Error("is not ", charset, " at byte ", read + 1);
  return {.text = std::move(text), .charset = std::move(charset)};
}

std::string in_charset(std::string_view text, const std::string& charset) {
  std::string converted;
  Converter converter(charset, Converter::kUtf8);
  for (std::size_t place = 0; place < text.size();) {
    place += converter.append(text.substr(place), converted);
    if (place < text.size())
      converter.append(join_text("&#", static_cast<unsigned>(next_code_point(text, place)), ';'),
                       converted);
  }
  converter.finish(converted);
  return converted;
}

}  // namespace dragoman
