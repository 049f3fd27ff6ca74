#include "extras/server/form_body.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "extras/server/http.h"

namespace dragoman {

namespace {

using Parameters = std::map<std::string, std::string, std::less<>>;

/// The byte of "%E4" at a place of a text.
std::optional<char> encoded_byte(std::string_view text, std::size_t at) {
  if (text.size() < at + 3 || text[at] != '%') return std::nullopt;
  unsigned value = 0;
  const char* digits = text.data() + at + 1;
  if (std::from_chars(digits, digits + 2, value, 16).ptr != digits + 2) return std::nullopt;
  return static_cast<char>(value);
}

/// With a byte for each "%E4", if it is wanted.
std::string decoded(
    std::string_view text, bool (*wants)(char byte) = [](char) { return true; }) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::optional<char> byte = encoded_byte(text, at);
    const bool is_decoded = byte && wants(*byte);
    result += is_decoded ? *byte : text[at];
    at += is_decoded ? 3 : 1;
  }
  return result;
}

std::string decoded_field(std::string_view text) {
  std::string with_blanks(text);
  std::ranges::replace(with_blanks, '+', ' ');
  return decoded(with_blanks);
}

/// A text in quotes, which is taken from `rest`. A backslash stands in front of a quote or another
/// backslash; elsewhere browsers mean the character itself.
std::string next_quoted(std::string_view& rest) {
  std::string text;
  std::size_t at = 1;
  for (; at < rest.size() && rest[at] != '"'; ++at) {
    const std::string_view escaped = rest.substr(at, 2);
    if (escaped == "\\\"" || escaped == "\\\\") ++at;
    text += rest[at];
  }
  rest.remove_prefix(std::min(rest.size(), at + 1));
  return text;
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);  // npos + 1 is 0
}

/// Those of a header's line: each is name="value" or name=value behind a semicolon. Names are in
/// lower case. Of equal names the first counts.
Parameters parameters_of(std::string_view header) {
  Parameters all;
  std::string_view rest = header.substr(0, header.find("\r\n"));
  while (true) {
    rest.remove_prefix(std::min(rest.find(';'), rest.size()));
    if (rest.empty()) return all;
    rest.remove_prefix(1);
    const std::size_t end = std::min(rest.find_first_of("=;"), rest.size());
    const std::string name = ascii_lower(without_blanks(rest.substr(0, end)));
    rest.remove_prefix(end);
    if (!rest.starts_with('=')) continue;
    rest = without_blanks(rest.substr(1));
    all.emplace(name, rest.starts_with('"')
                          ? next_quoted(rest)
                          : std::string(without_blanks(rest.substr(0, rest.find(';')))));
  }
}

/// Empty where there is none.
std::string_view value_of(const Parameters& parameters, std::string_view name) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::string_view() : found->second;
}

/// Browsers encode these alone.
std::string decoded_name(std::string_view text) {
  return decoded(text, [](char byte) { return byte == '"' || byte == '\r' || byte == '\n'; });
}

/// Programs may write filename*=UTF-8'language'encoded (RFC 5987), alone or for those that know it.
std::string file_name_of(const Parameters& parameters) {
  const std::string_view extended = value_of(parameters, "filename*");
  const std::size_t quote = extended.rfind('\'');
  if (quote != extended.npos) return decoded(extended.substr(quote + 1));
  return decoded_name(value_of(parameters, "filename"));
}

void add(FormFields& fields, FormField field) {
  if (fields.size() == kMostFormFields)
    throw HttpError(400, join_text("Invalid request: more than ", kMostFormFields, " fields"));
  fields.push_back(std::move(field));
}

[[noreturn]] void refuse(const std::string& fault) {
  throw HttpError(400, join_text("Invalid request: the body is no multipart/form-data: ", fault));
}

FormField read_part(std::string_view headers, std::string_view value) {
  constexpr std::string_view kName = "\r\ncontent-disposition:";
  const std::size_t at = ascii_lower(headers).find(kName);
  if (at == std::string::npos) refuse("a part has no name");
  const Parameters parameters = parameters_of(headers.substr(at + kName.size()));
  FormField field{.name = decoded_name(value_of(parameters, "name")),
                  .value = std::string(value),
                  .file_name = file_name_of(parameters)};
  if (field.name.empty()) refuse("a part has no name");
  return field;
}

}  // namespace

FormFields parse_urlencoded(std::string_view body) {
  FormFields fields;
  while (!body.empty()) {
    const std::string_view field = body.substr(0, body.find('&'));
    body.remove_prefix(std::min(body.size(), field.size() + 1));
    if (field.empty()) continue;
    const std::size_t equals = std::min(field.find('='), field.size());
    add(fields, {.name = decoded_field(field.substr(0, equals)),
                 .value = decoded_field(field.substr(std::min(equals + 1, field.size())))});
  }
  return fields;
}

FormFields parse_multipart(std::string_view body, std::string_view content_type) {
  const Parameters parameters = parameters_of(content_type);
  const std::string_view boundary = value_of(parameters, "boundary");
  if (boundary.empty()) refuse("its Content-Type names no boundary");
  const std::string first = join_text("--", boundary), next = join_text("\r\n--", boundary);
  std::size_t at = body.starts_with(first) ? first.size() : body.find(next);
  if (at == std::string_view::npos) refuse("the boundary is missing");
  if (!body.starts_with(first)) at += next.size();
  FormFields fields;
  while (!body.substr(at).starts_with("--")) {
    const std::size_t headers = body.find("\r\n", at);
    const std::size_t text = body.find("\r\n\r\n", at);
    const std::size_t end = text == std::string_view::npos ? text : body.find(next, text + 4);
    if (end == std::string_view::npos) refuse("it ends within a part");
    add(fields,
        read_part(body.substr(headers, text - headers), body.substr(text + 4, end - text - 4)));
    at = end + next.size();
  }
  return fields;
}

}  // namespace dragoman
