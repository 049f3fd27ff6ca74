// HTTP as the server sees it: a request that has come whole, and its response. No socket here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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
  /// section 5.3): a proxy may add a line of its own behind the client's.
  std::map<std::string, std::string, std::less<>> headers = {};
  std::string body = {};
  std::string client = {};  ///< its address, without the port

  /// The header's value; empty where there is none. `name` in lower case.
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
  int status() const { return status_; }
  std::int64_t retry_after() const { return retry_after_; }

 private:
  int status_;
  std::int64_t retry_after_;
};

/// A fault of the server. The text tells the client what it means; the cause is for the log.
class ServerFault : public HttpError {
 public:
  ServerFault(const std::string& text, std::string cause)
      : HttpError(500, text), cause_(std::move(cause)) {}
  const std::string& cause() const { return cause_; }

 private:
  std::string cause_;
};

/// Nobody reads the answer any more. The number is nginx's, for the log.
inline constexpr int kClientGone = 499;

/// Called once for each request, from any thread.
using HttpReply = std::function<void(HttpResponse)>;
/// `gone` reports a stop when the client has closed its connection. A handler returns at once, as
/// other connections wait for it. Long work replies later, from another thread.
using HttpHandler = std::function<void(HttpRequest request, std::stop_token gone, HttpReply reply)>;

/// Makes the answer to a request that its handler does not get: its body is missing, or is not all
/// there. Called from the thread that serves the connections.
using HttpRefusal = std::function<HttpResponse(HttpRequest head, const HttpError& why)>;

}  // namespace dragoman
