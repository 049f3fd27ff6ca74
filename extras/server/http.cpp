#include "extras/server/http.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/bytes.h"
#include "base/error.h"
#include "base/formatted_text.h"
#include "base/json.h"
#include "base/utf8.h"

namespace dragoman {

std::string size_text(std::int64_t bytes) {
  constexpr std::array<const char*, 4> kUnits = {" bytes", " KiB", " MiB", " GiB"};
  auto number = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; number >= 1024 && unit + 1 < kUnits.size(); ++unit) number /= 1024;
  const bool is_whole = number == std::floor(number);
  return fixed_text(number, is_whole || number >= 10 ? 0 : 1) + kUnits[unit];
}

// ---- the head of a request ----------------------------------------------------------------------

namespace {

/// The byte of "%E4" at a place of a text.
std::optional<char> encoded_byte(std::string_view text, std::size_t at) {
  if (text.size() < at + 3 || text[at] != '%') return std::nullopt;
  const auto byte = number_from<unsigned char>(text.substr(at + 1, 2), 16);
  return byte ? std::optional(static_cast<char>(*byte)) : std::nullopt;
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

/// Whether it is not allowed in a line of a head.
bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);  // a char may be signed or not
  return (byte < ' ' && c != '\t') || byte == 0x7F;
}

bool has_blank(std::string_view text) { return text.find_first_of(" \t") != text.npos; }

/// HttpRequest joins lines of the same name, so that a header with two lines has a blank.
std::optional<HttpError> fault_of_framing(const RequestHead& head, const HttpRequest& request) {
  const auto length = request.headers.find("content-length");
  const auto coding = request.headers.find("transfer-encoding");
  const bool has_length = length != request.headers.end();
  if (has_length && (length->second.empty() ||
                     length->second.find_first_not_of("0123456789") != std::string::npos))
    return HttpError(400, "the Content-Length is not a number, or there are several");
  if (coding == request.headers.end()) return std::nullopt;
  if (has_length || head.is_http_1_0)
    return HttpError(400, "a Transfer-Encoding needs HTTP/1.1, and no Content-Length beside it");
  if (ascii_lower(coding->second) != "chunked")
    return HttpError(501, "the only Transfer-Encoding that is known is chunked");
  return std::nullopt;
}

}  // namespace

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);  // npos + 1 is 0
}

std::optional<HttpError> fault_of_bytes(std::string_view head) {
  for (std::size_t at = 0; at < head.size();) {
    const std::size_t end = std::min(head.find("\r\n", at), head.size());
    const std::string_view line = head.substr(at, end - at);
    if (std::ranges::any_of(line, is_control))
      return HttpError(400, "the head has a control character, or a line without CR LF");
    if (line.starts_with(' ') || line.starts_with('\t'))
      return HttpError(400, "a header continues on a second line");
    at = end + 2;
  }
  const std::string_view line = head.substr(0, head.find('\r'));
  if (std::ranges::count(line, ' ') != 2 || line.find('\t') != line.npos)
    return HttpError(400, "the first line is not a method, an address and a version");
  return std::nullopt;
}

std::optional<HttpError> fault_of(const RequestHead& head, const HttpRequest& request) {
  if (static_cast<std::int64_t>(head.target.size()) > kMostHeadBytes)
    return HttpError(414, join_text("the address has more than ", kMostHeadBytes, " bytes"));
  if (head.bytes > kMostHeadBytes)
    return HttpError(431,
                     join_text("address and headers have more than ", kMostHeadBytes, " bytes"));
  if (!head.is_http_1_0 && !request.headers.contains("host"))
    return HttpError(400, "the request has no Host");
  if (has_blank(request.header("host"))) return HttpError(400, "the Host has a blank");
  if (head.target.find("%00") != std::string::npos)
    return HttpError(400, "the address has a zero byte");
  return fault_of_framing(head, request);
}

std::uint64_t body_size_of(const HttpRequest& request) {
  return std::strtoull(std::string(request.header("content-length")).c_str(), nullptr, 10);
}

std::string path_of(std::string_view target) {
  target = target.substr(0, target.find('?'));
  const std::string lower = ascii_lower(target.substr(0, 8));
  if (!lower.starts_with("http://") && !lower.starts_with("https://")) return decoded(target);
  const std::size_t host = target.find("//") + 2;
  const std::size_t path = target.find('/', host);
  return path == target.npos ? "/" : decoded(target.substr(path));
}

std::string_view query_of(std::string_view target) {
  const std::size_t mark = target.find('?');
  return mark == target.npos ? std::string_view() : target.substr(mark + 1);
}

// ---- the bodies that HTML forms send ------------------------------------------------------------

namespace {

using Parameters = std::map<std::string, std::string, std::less<>>;

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

/// The parameters of a header's line: each is name="value" or name=value after a semicolon. Names
/// are in lower case. If a name stands twice, the first counts.
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

/// Empty if there is none.
std::string_view value_of(const Parameters& parameters, std::string_view name) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::string_view() : found->second;
}

/// Browsers encode only these.
std::string decoded_name(std::string_view text) {
  return decoded(text, [](char byte) { return byte == '"' || byte == '\r' || byte == '\n'; });
}

/// Programs may write filename*=UTF-8'language'encoded (RFC 5987), with or without the plain file
/// name.
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

[[noreturn]] void refuse_multipart(const std::string& fault) {
  throw HttpError(400, join_text("Invalid request: the body is not multipart/form-data: ", fault));
}

FormField read_part(std::string_view headers, std::string_view value) {
  constexpr std::string_view kName = "\r\ncontent-disposition:";
  const std::size_t at = ascii_lower(headers).find(kName);
  if (at == std::string::npos) refuse_multipart("a part has no name");
  const Parameters parameters = parameters_of(headers.substr(at + kName.size()));
  FormField field{.name = decoded_name(value_of(parameters, "name")),
                  .value = std::string(value),
                  .file_name = file_name_of(parameters)};
  if (field.name.empty()) refuse_multipart("a part has no name");
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
  if (boundary.empty()) refuse_multipart("its Content-Type names no boundary");
  const std::string first = join_text("--", boundary), next = join_text("\r\n--", boundary);
  std::size_t at = body.starts_with(first) ? first.size() : body.find(next);
  if (at == std::string_view::npos) refuse_multipart("the boundary is missing");
  if (!body.starts_with(first)) at += next.size();
  FormFields fields;
  while (!body.substr(at).starts_with("--")) {
    const std::size_t headers = body.find("\r\n", at);
    const std::size_t text = body.find("\r\n\r\n", at);
    const std::size_t end = text == std::string_view::npos ? text : body.find(next, text + 4);
    if (end == std::string_view::npos) refuse_multipart("it ends within a part");
    add(fields,
        read_part(body.substr(headers, text - headers), body.substr(text + 4, end - text - 4)));
    at = end + next.size();
  }
  return fields;
}

// ---- parameters ---------------------------------------------------------------------------------

namespace {

[[noreturn]] void refuse(const char* name, const char* fault) {
  throw HttpError(400, join_text("Invalid request: ", name, " parameter ", fault));
}

void check_utf8(std::string_view text, std::string_view where) {
  const std::size_t bad = find_invalid_utf8(text);
  if (bad != std::string_view::npos)
    throw HttpError(400, join_text("Invalid request: ", where, " is not UTF-8 at byte ", bad + 1));
}

/// `encodings`: the value of Content-Encoding (RFC 9110, section 8.4).
void check_encoding(std::string_view encodings) {
  for (const std::string_view part : split_at(encodings, ',')) {
    const std::string encoding = ascii_lower(without_blanks(part));
    if (!encoding.empty() && encoding != "identity")
      throw HttpError(415, join_text("Invalid request: the body has the Content-Encoding '",
                                     encoding, "'; this server takes gzip, or none"));
  }
}

nlohmann::json json_of_body(std::string_view body) {
  check_utf8(body, "the body");
  try {
    nlohmann::json object = parse_json(body);
    if (object.is_object()) return object;
  } catch (const nlohmann::json::parse_error& error) {
    throw HttpError(400, join_text("Invalid JSON format: at byte ", error.byte));
  } catch (const nlohmann::json::exception&) {
    throw HttpError(400, "Invalid JSON format: a number is too large");
  } catch (const Error& error) {
    throw HttpError(400, join_text("Invalid JSON format: ", error.what()));
  }
  throw HttpError(400, "Invalid JSON format: not an object");
}

/// The number of "q[12]", which PHP writes; nothing for other names.
std::optional<std::int64_t> number_of(std::string_view name) {
  constexpr std::size_t kMostDigits = 9;
  const std::size_t bracket = name.rfind('[');
  if (bracket == name.npos || !name.ends_with(']')) return std::nullopt;
  const std::string_view digits = name.substr(bracket + 1, name.size() - bracket - 2);
  if (digits.size() > kMostDigits) return std::nullopt;
  return number_from<std::uint32_t>(digits);
}

/// The parameters of a form or a query. Lists are written "q=a&q=b", "q[]=a&q[]=b" (jQuery) or
/// "q[0]=a&q[1]=b" (PHP).
class FormParameters {
 public:
  void add(const std::string& name, const std::string& value) {
    check_utf8(name, "the name of a parameter");
    check_utf8(value, join_text("the ", name, " parameter"));
    const std::optional<std::int64_t> number = number_of(name);
    const bool has_brackets = number || name.ends_with("[]");
    Parameter& parameter = parameters_[has_brackets ? name.substr(0, name.rfind('[')) : name];
    parameter.has_brackets = parameter.has_brackets || has_brackets;
    const std::int64_t place = number.value_or(parameter.next_place);
    parameter.next_place = std::max(parameter.next_place, place + 1);
    parameter.values.emplace_back(place, value);
  }

  /// Those that `fields` lacks, lists by their numbers. `repeated` gets the names that were given
  /// several times without brackets.
  void add_missing_to(nlohmann::json& fields, std::set<std::string, std::less<>>& repeated) {
    for (auto& [name, parameter] : parameters_) {
      nlohmann::json& field = fields[name];
      if (!field.is_null()) continue;
      auto& [values, next_place, has_brackets] = parameter;
      if (!has_brackets && values.size() == 1) {
        field = std::move(values.front().second);
        continue;
      }
      std::ranges::stable_sort(values, {}, &Value::first);
      field = nlohmann::json::array();
      for (Value& value : values) field.push_back(std::move(value.second));
      if (!has_brackets) repeated.insert(name);
    }
  }

 private:
  using Value = std::pair<std::int64_t, std::string>;  // its place in the list, and the text
  struct Parameter {
    std::vector<Value> values = {};
    std::int64_t next_place = 0;
    bool has_brackets = false;
  };
  std::map<std::string, Parameter> parameters_;
};

/// Programs without integers, or whose arithmetic has left them, write 2.0.
std::int64_t whole_number(const char* name, double value) {
  constexpr double kMost = 9'007'199'254'740'992;  // beyond it, doubles skip whole numbers
  if (value != std::trunc(value) || std::abs(value) > kMost) refuse(name, "is not a whole number");
  return static_cast<std::int64_t>(value);
}

}  // namespace

void RequestFields::read_form(const HttpRequest& request, std::string_view type) {
  const bool is_multipart = type.starts_with("multipart/form-data");
  FormParameters parameters;
  for (FormField& field : is_multipart
                              ? parse_multipart(request.body, request.header("content-type"))
                              : parse_urlencoded(request.body)) {
    if (field.file_name.empty()) {
      parameters.add(field.name, field.value);
      continue;
    }
    check_utf8(field.name, "the name of a parameter");
    check_utf8(field.file_name, "the name of a file");
    UploadedFile file{.name = std::move(field.file_name), .bytes = std::move(field.value)};
    if (!files_.emplace(field.name, std::move(file)).second) repeated_.insert(field.name);
  }
  parameters.add_missing_to(fields_, repeated_);
  // What `curl -d '{...}'` sends without a Content-Type.
  if (!is_multipart && request.body.starts_with('{') &&
      parse_json_or_discard(request.body).is_object())
    throw HttpError(400,
                    "Invalid request: the body is JSON; it needs the header "
                    "Content-Type: application/json");
}

RequestFields::RequestFields(const HttpRequest& request) {
  if (!request.body.empty()) check_encoding(request.header("content-encoding"));
  const std::string type = ascii_lower(request.header("content-type"));
  const std::string media_type = type.substr(0, type.find_first_of("; "));
  const bool is_json = media_type == "application/json" ||
                       (media_type.starts_with("application/") && media_type.ends_with("+json"));
  if (is_json)
    fields_ = json_of_body(request.body);
  else
    read_form(request, type);
  FormParameters query;
  for (const auto& [name, value] : request.query) query.add(name, value);
  query.add_missing_to(fields_, repeated_);
}

void RequestFields::check_given_once(const char* name) const {
  if (repeated_.contains(name)) refuse(name, "is given more than once");
}

bool RequestFields::has(const char* name) const {
  const auto found = fields_.find(name);
  return found != fields_.end() && !found->is_null();
}

bool RequestFields::is_list(const char* name) const {
  return has(name) && fields_.at(name).is_array();
}

std::string RequestFields::text(const char* name) const {
  if (!has(name)) return {};
  check_given_once(name);
  const nlohmann::json& field = fields_.at(name);
  if (!field.is_string()) refuse(name, "is not a text");
  return field.get<std::string>();
}

std::string RequestFields::scalar(const char* name) const {
  if (!has(name)) return {};
  check_given_once(name);
  const nlohmann::json& field = fields_.at(name);
  if (field.is_structured()) refuse(name, "is not a text");
  return field.is_string() ? field.get<std::string>() : json_text(field);
}

std::vector<std::string> RequestFields::texts(const char* name) const {
  if (!is_list(name)) return has(name) ? std::vector{text(name)} : std::vector<std::string>();
  std::vector<std::string> all;
  for (const nlohmann::json& item : fields_.at(name)) {
    if (!item.is_string()) refuse(name, "has an item that is not a text");
    all.push_back(item.get<std::string>());
  }
  return all;
}

std::vector<RequestFields> RequestFields::objects(const char* name) const {
  if (has(name) && !is_list(name)) refuse(name, "is not a list");
  std::map<std::int64_t, RequestFields> objects;  // by their places in the list
  const auto add = [&](std::int64_t place, const std::string& field, const nlohmann::json& value) {
    if (value.is_structured()) refuse(name, "has an object whose field is not a text");
    objects.try_emplace(place, RequestFields()).first->second.fields_[field] = value;
  };
  if (has(name))
    for (const nlohmann::json& item : fields_.at(name)) {
      if (!item.is_object()) refuse(name, "has an item that is not an object");
      const auto place = static_cast<std::int64_t>(objects.size());
      objects.try_emplace(place, RequestFields());
      for (const auto& [field, value] : item.items()) add(place, field, value);
    }
  const std::string begin = join_text(name, '[');
  for (const auto& [field, value] : fields_.items()) {
    const std::size_t end = field.find("].");
    if (!field.starts_with(begin) || end == field.npos) continue;
    if (const auto place = number_of(field.substr(0, end + 1)))
      add(*place, field.substr(end + 2), value);
  }
  std::vector<RequestFields> all;
  for (auto& [place, object] : objects) all.push_back(std::move(object));
  return all;
}

std::optional<UploadedFile> RequestFields::file(const char* name) const {
  const auto found = files_.find(name);
  if (found == files_.end()) return std::nullopt;
  check_given_once(name);
  return found->second;
}

std::optional<std::int64_t> RequestFields::number(const char* name) const {
  if (!has(name)) return std::nullopt;
  check_given_once(name);
  const nlohmann::json& field = fields_.at(name);
  if (field.is_number_integer() &&
      (!field.is_number_unsigned() || field.get<std::uint64_t>() <= INT64_MAX))
    return field.get<std::int64_t>();
  if (field.is_number_float()) return whole_number(name, field.get<double>());
  const std::string text = field.is_string() ? field.get<std::string>() : "";
  const auto value = number_from<std::int64_t>(text);
  if (!value) refuse(name, "is not a number");
  return value;
}

std::optional<bool> RequestFields::flag(const char* name) const {
  if (!has(name)) return std::nullopt;
  const std::string text = ascii_lower(scalar(name));  // Python writes True
  if (text == "1" || text == "true") return true;
  if (text == "0" || text == "false") return false;
  refuse(name, "is none of true, false, 1, 0");
}

}  // namespace dragoman
