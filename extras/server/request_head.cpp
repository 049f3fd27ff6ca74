#include "extras/server/request_head.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char digit) { return digit >= '0' && digit <= '9'; });
}

bool has_blank(std::string_view text) { return text.find_first_of(" \t") != text.npos; }

/// HttpRequest joins lines of the same name, so that a header with two lines has a blank.
std::optional<HttpError> fault_of_framing(const RequestHead& head, const HttpRequest& request) {
  const auto length = request.headers.find("content-length");
  const auto coding = request.headers.find("transfer-encoding");
  const bool has_length = length != request.headers.end();
  if (has_length && !is_number(length->second))
    return HttpError(400, "the Content-Length is no number, or there are several");
  if (coding == request.headers.end()) return std::nullopt;
  if (has_length || head.is_http_1_0)
    return HttpError(400, "a Transfer-Encoding needs HTTP/1.1, and no Content-Length beside it");
  if (ascii_lower(coding->second) != "chunked")
    return HttpError(501, "the only Transfer-Encoding that is known is chunked");
  return std::nullopt;
}

}  // namespace

std::optional<HttpError> fault_of(const RequestHead& head, const HttpRequest& request) {
  if (static_cast<std::int64_t>(head.target.size()) > kMostHeadBytes)
    return HttpError(414, join_text("the address has more than ", kMostHeadBytes, " bytes"));
  if (head.bytes > kMostHeadBytes)
    return HttpError(431,
                     join_text("address and headers have more than ", kMostHeadBytes, " bytes"));
  if (head.has_folded_header) return HttpError(400, "a header goes on in a second line");
  for (const auto& [name, value] : request.headers)
    if (has_blank(name)) return HttpError(400, "the name of a header has a blank");
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

std::string path_of(std::string_view decoded) {
  const std::string lower = ascii_lower(decoded.substr(0, 8));
  if (!lower.starts_with("http://") && !lower.starts_with("https://")) return std::string(decoded);
  const std::size_t host = decoded.find("//") + 2;
  const std::size_t path = decoded.find('/', host);
  return path == decoded.npos ? "/" : std::string(decoded.substr(path));
}

std::string_view query_of(std::string_view target) {
  const std::size_t mark = target.find('?');
  return mark == target.npos ? std::string_view() : target.substr(mark + 1);
}

}  // namespace dragoman
