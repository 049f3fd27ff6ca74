// What the head of an HTTP/1.1 request says of its end and of whom it asks (RFC 9112, sections 3.2
// and 6). A head that says it in two ways is refused: a proxy in front may read it in the other
// way, and take the rest of one client's request for another request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "extras/server/http.h"

namespace dragoman {

struct RequestHead {
  std::string target = {};  ///< as it was sent: "/a?b=c", "http://host/a?b=c"
  bool is_http_1_0 = false;
  bool has_folded_header = false;  ///< one whose value goes on in a line that begins with a blank
  std::int64_t bytes = 0;          ///< of the target and the headers, as they are kept
};

inline constexpr std::int64_t kMostHeadBytes = 65'536;

/// What is wrong with the head; nothing where it is sound. Nobody knows where the next request of a
/// connection begins behind a head that is refused.
std::optional<HttpError> fault_of(const RequestHead& head, const HttpRequest& request);

/// Bytes of the body; 0 where the head does not say. Of a head without a fault.
std::uint64_t body_size_of(const HttpRequest& request);

/// "/a" of "http://host/a" and of "/a". `decoded`: a target without its query.
std::string path_of(std::string_view decoded);

/// What stands behind the question mark; empty where there is none.
std::string_view query_of(std::string_view target);

}  // namespace dragoman
