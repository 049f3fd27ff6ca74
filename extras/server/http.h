// HTTP as the server sees it: a request that has come whole, its parameters, and its response.
// There is no socket here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dragoman {

struct HttpRequest {
  std::string method;
  std::string path;                                             ///< without the query, decoded
  std::vector<std::pair<std::string, std::string>> query = {};  ///< decoded
  /// Names in lower case. Lines of the same name are one value, with ", " between them (RFC 9110,
  /// section 5.3): a proxy may add a line of its own after the client's.
  std::map<std::string, std::string, std::less<>> headers = {};
  std::string body = {};
  std::string client = {};  ///< its address, without the port

  /// The header's value; empty if there is none. `name` in lower case.
  std::string_view header(std::string_view name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view() : found->second;
  }
};

struct HttpResponse {
  int status = 200;
  std::string body = {};
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// A request that is answered by an error. The text is for the client.
class HttpError : public std::runtime_error {
 public:
  /// `retry_after`: seconds until the same request may succeed; 0: it never will.
  HttpError(int status, const std::string& text, std::int64_t retry_after = 0)
      : std::runtime_error(text), status_(status), retry_after_(retry_after) {}
  /// `detail`: a second text, for interfaces whose errors have two.
  HttpError(int status, const std::string& text, std::string detail)
      : std::runtime_error(text), status_(status), detail_(std::move(detail)) {}
  int status() const { return status_; }
  std::int64_t retry_after() const { return retry_after_; }
  const std::string& detail() const { return detail_; }

 private:
  int status_;
  std::int64_t retry_after_ = 0;
  std::string detail_ = {};
};

/// "2 MiB", "1.5 KiB", "300 bytes": as people name the limits of a request.
std::string size_text(std::int64_t bytes);

/// A fault of the server. The text tells the client what it means; the cause is for the log.
class ServerFault : public HttpError {
 public:
  ServerFault(const std::string& text, std::string cause)
      : HttpError(500, text), cause_(std::move(cause)) {}
  const std::string& cause() const { return cause_; }

 private:
  std::string cause_;
};

/// The status if nobody reads the answer any more. The number is nginx's, for the log.
inline constexpr int kClientGone = 499;

/// Called once for each request, from any thread.
using HttpReply = std::function<void(HttpResponse)>;
/// `gone` reports a stop when the client has closed its connection. A handler returns at once, as
/// other connections wait for it. Long work replies later, from another thread.
using HttpHandler = std::function<void(HttpRequest request, std::stop_token gone, HttpReply reply)>;

/// Makes the answer to a request that its handler does not get: its body is missing, or is not all
/// there. Called from the thread that serves the connections.
using HttpRefusal = std::function<HttpResponse(HttpRequest head, const HttpError& why)>;

// ---- the head of a request ----------------------------------------------------------------------

/// The parts of an HTTP/1.1 head that say where the request ends and whom it asks (RFC 9112,
/// sections 3.2 and 6). A head that says so in two ways is refused: a proxy in front may read it in
/// the other way, and take the rest of one client's request for another request.
struct RequestHead {
  std::string target = {};  ///< as it was sent: "/a?b=c", "http://host/a?b=c"
  bool is_http_1_0 = false;
  std::int64_t bytes = 0;  ///< of the target and the headers, each with kHeaderRecord
};

inline constexpr std::int64_t kMostHeadBytes = 65'536;
inline constexpr std::int64_t kHeaderRecord = 64;  ///< bytes that a header takes besides its text

/// A text of HTTP without blanks and tabs at its ends. It may have any bytes, also invalid UTF-8.
std::string_view without_blanks(std::string_view text);

/// What programs may read in two ways in the bytes of a head: control characters (zero bytes among
/// them), line ends other than CR LF, a header that continues on a second line, blanks in the
/// address. Nothing if all is plain.
std::optional<HttpError> fault_of_bytes(std::string_view head);

/// What is wrong with the head; nothing if it is sound. After a head that is refused, nobody knows
/// where the next request of the connection begins.
std::optional<HttpError> fault_of(const RequestHead& head, const HttpRequest& request);

/// Bytes of the body; 0 if the head does not say. The head has no fault.
std::uint64_t body_size_of(const HttpRequest& request);

/// "/a b" of "http://host/a%20b?c" and of "/a%20b?c".
std::string path_of(std::string_view target);

/// The text after the question mark; empty if there is none.
std::string_view query_of(std::string_view target);

// ---- the bodies that HTML forms send ------------------------------------------------------------

struct FormField {
  std::string name, value;
  std::string file_name = {};  ///< of a part that is a file; else empty
  bool operator==(const FormField&) const = default;
};
using FormFields = std::vector<FormField>;
/// A field takes many times the memory of its bytes. An address has room for fewer.
inline constexpr std::size_t kMostFormFields = 65'536;

/// application/x-www-form-urlencoded: "a=1&b=%C3%A4+c". A percent sign without two hexadecimal
/// digits stands for itself. Throws HttpError (400) if there are more than kMostFormFields.
FormFields parse_urlencoded(std::string_view body);

/// The parts of a multipart/form-data body (RFC 7578). Quotes in the name of a part or a file may
/// be written \" or %22, and a file's name as filename*=UTF-8''... (RFC 5987). Throws HttpError
/// (400) if it is not such a body, or has more than kMostFormFields.
FormFields parse_multipart(std::string_view body, std::string_view content_type);

// ---- parameters ---------------------------------------------------------------------------------

struct UploadedFile {
  std::string name;   ///< valid UTF-8
  std::string bytes;  ///< in any charset
};

/// The parameters of a request, however they come: in a JSON object, a form, or the query. All
/// members throw HttpError (400) naming the parameter that is wrong.
class RequestFields {
 public:
  /// Reads the body by its Content-Type (application/json, application/NAME+json); without one, or
  /// with another, it is a form. If body and query have the same name, the body counts. All texts
  /// are valid UTF-8. Throws HttpError (415) if the body is compressed.
  explicit RequestFields(const HttpRequest& request);

  bool has(const char* name) const;  ///< and is not null
  /// A list of JSON, or given several times, or as "name[]" or "name[0]".
  bool is_list(const char* name) const;
  /// Empty if it is missing.
  std::string text(const char* name) const;
  /// A text, number or truth value, as text. Empty if it is missing.
  std::string scalar(const char* name) const;
  /// A list, or one text; nothing if it is missing.
  std::vector<std::string> texts(const char* name) const;
  /// A list of JSON objects, or "name[0].field=value" of a form; empty if it is missing.
  std::vector<RequestFields> objects(const char* name) const;
  /// A whole number, also written as 2.0 or as text.
  std::optional<std::int64_t> number(const char* name) const;
  /// true, false, 1, 0, also written as text.
  std::optional<bool> flag(const char* name) const;
  /// A part of a multipart body that has the name of a file; nothing if it is missing.
  std::optional<UploadedFile> file(const char* name) const;

 private:
  RequestFields() = default;
  void read_form(const HttpRequest& request, std::string_view type);
  void check_given_once(const char* name) const;

  nlohmann::json fields_ = nlohmann::json::object();
  std::map<std::string, UploadedFile, std::less<>> files_;
  std::set<std::string, std::less<>> repeated_;  // parameters without brackets, and files
};

}  // namespace dragoman
