// The parameters of a request, however they come: in a JSON object, a form, or the query.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "extras/server/http.h"

namespace dragoman {

struct UploadedFile {
  std::string name, text;  ///< valid UTF-8
};

/// All members throw HttpError (400) naming the parameter that is wrong.
class RequestFields {
 public:
  /// The body by its Content-Type; without one, or with another, it is a form. Where body and query
  /// have the same name, the body counts. All texts are valid UTF-8. Throws HttpError (415) where
  /// the body is compressed.
  explicit RequestFields(const HttpRequest& request);

  bool has(const char* name) const;  ///< and is not null
  /// A list of JSON, or given several times, or as "name[]" or "name[0]".
  bool is_list(const char* name) const;
  /// Empty where it is missing.
  std::string text(const char* name) const;
  /// A text, number or truth value, as text. Empty where it is missing.
  std::string scalar(const char* name) const;
  /// A list, or one text; nothing where it is missing.
  std::vector<std::string> texts(const char* name) const;
  /// A whole number, also written as 2.0 or as text.
  std::optional<std::int64_t> number(const char* name) const;
  /// true, false, 1, 0, also written as text.
  std::optional<bool> flag(const char* name) const;
  /// A part of a multipart body that has the name of a file; nothing where it is missing.
  std::optional<UploadedFile> file(const char* name) const;

 private:
  void read_form(const HttpRequest& request, std::string_view type);
  void check_given_once(const char* name) const;

  nlohmann::json fields_ = nlohmann::json::object();
  std::map<std::string, UploadedFile, std::less<>> files_;
  std::set<std::string, std::less<>> repeated_;  // parameters without brackets, and files
};

}  // namespace dragoman
