#include "extras/server/request_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "extras/server/form_body.h"

namespace dragoman {

namespace {

[[noreturn]] void refuse(const char* name, const char* fault) {
  throw HttpError(400, join_text("Invalid request: ", name, " parameter ", fault));
}

void check_utf8(std::string_view text, std::string_view where) {
  const std::size_t bad = find_invalid_utf8(text);
  if (bad != std::string_view::npos)
    throw HttpError(400, join_text("Invalid request: ", where, " is no UTF-8 at byte ", bad + 1));
}

/// `encodings`: the value of Content-Encoding (RFC 9110, section 8.4).
void check_encoding(std::string_view encodings) {
  while (!encodings.empty()) {
    const std::size_t end = std::min(encodings.find(','), encodings.size());
    const std::string encoding = ascii_lower(strip(encodings.substr(0, end)));
    encodings.remove_prefix(std::min(end + 1, encodings.size()));
    if (!encoding.empty() && encoding != "identity")
      throw HttpError(415, join_text("Invalid request: the body has the Content-Encoding '",
                                     encoding, "'; this server takes bodies without one"));
  }
}

nlohmann::json parse_json(std::string_view body) {
  check_utf8(body, "the body");
  try {
    nlohmann::json object = nlohmann::json::parse(body);
    if (object.is_object()) return object;
  } catch (const nlohmann::json::parse_error& error) {
    throw HttpError(400, join_text("Invalid JSON format: at byte ", error.byte));
  } catch (const nlohmann::json::exception&) {
    throw HttpError(400, "Invalid JSON format: a number is beyond all bounds");
  }
  throw HttpError(400, "Invalid JSON format: no object");
}

/// The number of "q[12]", which PHP writes; nothing for other names.
std::optional<std::int64_t> number_of(std::string_view name) {
  constexpr std::size_t kMostDigits = 9;
  const std::size_t bracket = name.rfind('[');
  if (bracket == name.npos || !name.ends_with(']')) return std::nullopt;
  const std::string_view digits = name.substr(bracket + 1, name.size() - bracket - 2);
  if (digits.empty() || digits.size() > kMostDigits) return std::nullopt;
  std::int64_t number = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = 10 * number + (digit - '0');
  }
  return number;
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
  constexpr double kMost = 9'007'199'254'740'992;  // from here on, doubles lack whole numbers
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
    check_utf8(field.value, join_text("the file '", field.file_name, '\''));
    UploadedFile file{.name = std::move(field.file_name), .text = std::move(field.value)};
    if (!files_.emplace(field.name, std::move(file)).second) repeated_.insert(field.name);
  }
  parameters.add_missing_to(fields_, repeated_);
  // What `curl -d '{...}'` sends without a Content-Type.
  if (!is_multipart && request.body.starts_with('{') && nlohmann::json::accept(request.body))
    throw HttpError(400,
                    "Invalid request: the body is JSON; it needs the header "
                    "Content-Type: application/json");
}

RequestFields::RequestFields(const HttpRequest& request) {
  if (!request.body.empty()) check_encoding(request.header("content-encoding"));
  const std::string type = ascii_lower(request.header("content-type"));
  const bool is_json = type.starts_with("application/json");
  if (is_json)
    fields_ = parse_json(request.body);
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
  if (!field.is_string()) refuse(name, "is no text");
  return field.get<std::string>();
}

std::string RequestFields::scalar(const char* name) const {
  if (!has(name)) return {};
  check_given_once(name);
  const nlohmann::json& field = fields_.at(name);
  if (field.is_structured()) refuse(name, "is no text");
  return field.is_string() ? field.get<std::string>() : field.dump();
}

std::vector<std::string> RequestFields::texts(const char* name) const {
  if (!is_list(name)) return has(name) ? std::vector{text(name)} : std::vector<std::string>();
  std::vector<std::string> all;
  for (const nlohmann::json& item : fields_.at(name)) {
    if (!item.is_string()) refuse(name, "has an item that is no text");
    all.push_back(item.get<std::string>());
  }
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
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || read != end) refuse(name, "is not a number");
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
