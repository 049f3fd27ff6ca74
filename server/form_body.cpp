#include "server/form_body.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/utf8.h"
#include "server/http.h"

namespace dragoman {

namespace {

std::string decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
      result += static_cast<char>(value);
      i += 2;
    } else {
      result += text[i] == '+' ? ' ' : text[i];
    }
  }
  return result;
}

/// The value of a parameter of a header: name="value" or name=value. Empty where there is none.
std::string parameter(std::string_view header, std::string_view name) {
  const std::string lower = ascii_lower(header);
  for (std::size_t at = 0; (at = lower.find(name, at)) != std::string::npos; at += name.size()) {
    const bool begins = at > 0 && (lower[at - 1] == ';' || lower[at - 1] == ' ');
    if (!begins || lower.substr(at + name.size(), 1) != "=") continue;
    std::string_view value = header.substr(at + name.size() + 1);
    if (value.starts_with('"')) {
      value.remove_prefix(1);
      return std::string(value.substr(0, value.find('"')));
    }
    return std::string(value.substr(0, value.find_first_of("; \r\n")));
  }
  return {};
}

[[noreturn]] void refuse(const std::string& fault) {
  throw HttpError(400, join_text("Invalid request: the body is no multipart/form-data: ", fault));
}

FormField read_part(std::string_view headers, std::string_view value) {
  const std::size_t at = ascii_lower(headers).find("content-disposition:");
  if (at == std::string::npos) refuse("a part has no name");
  const std::string_view disposition = headers.substr(at);
  FormField field{.name = parameter(disposition, "name"),
                  .value = std::string(value),
                  .file_name = parameter(disposition, "filename")};
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
    fields.push_back({.name = decoded(field.substr(0, equals)),
                      .value = decoded(field.substr(std::min(equals + 1, field.size())))});
  }
  return fields;
}

FormFields parse_multipart(std::string_view body, std::string_view content_type) {
  const std::string boundary = parameter(content_type, "boundary");
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
    fields.push_back(
        read_part(body.substr(headers, text - headers), body.substr(text + 4, end - text - 4)));
    at = end + next.size();
  }
  return fields;
}

}  // namespace dragoman
