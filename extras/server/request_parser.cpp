#include "extras/server/request_parser.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/status.hpp>
#include <ctime>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "extras/server/access.h"

namespace dragoman {

namespace http = boost::beast::http;

std::size_t head_size(std::string_view received, std::size_t from) {
  for (std::size_t at = received.find('\n', from); at != received.npos;
       at = received.find('\n', at + 1)) {
    const std::string_view next = received.substr(at + 1);
    if (next.starts_with('\n')) return at + 2;
    if (next.starts_with("\r\n")) return at + 3;
  }
  return 0;
}

RequestParser::RequestParser() {
  eager(true);
  header_limit(UINT32_MAX);  // fault_of() has the limits of a head, the server that of a body
  body_limit(UINT64_MAX);
}

std::optional<HttpError> RequestParser::read_head(std::string_view bytes) {
  Code fault;
  put(boost::asio::buffer(bytes), fault);
  for (FormField& field : parse_urlencoded(query_of(head_.target)))
    request.query.emplace_back(std::move(field.name), std::move(field.value));
  if (bytes.size() > kMostHeadReceived) {
    if (head_.target.empty()) return HttpError(414, "the address is too long");
    head_.bytes = static_cast<std::int64_t>(bytes.size());
  }
  if (head_.bytes > kMostHeadBytes) return fault_of(head_, request);
  if (auto plain = fault_of_bytes(bytes)) return plain;
  if (fault == http::error::bad_version)
    return HttpError(505, "the version is neither HTTP/1.0 nor HTTP/1.1");
  if (fault) return HttpError(400, join_text("the head is not HTTP: ", fault.message()));
  auto unsound = fault_of(head_, request);
  // The host of "http://example.org/a" counts instead of the header (RFC 9112, section 3.2.2).
  const std::string host = head_.target.starts_with('/') ? "" : host_of_url(head_.target);
  if (!unsound && !host.empty()) request.headers["host"] = host;
  return unsound;
}

std::optional<HttpError> RequestParser::read_body(std::string& bytes) {
  Code fault;
  std::size_t taken = 0;
  while (!is_done() && !fault && taken < bytes.size())
    taken += put(boost::asio::buffer(bytes) + taken, fault);
  bytes.erase(0, taken);
  if (fault && fault != http::error::need_more)
    return HttpError(400, join_text("the body's chunks are broken: ", fault.message()));
  if (!is_done() && bytes.size() > kMostHeadReceived)
    return HttpError(400, "the extension of a chunk, or the trailer, is too long");
  return std::nullopt;
}

// NOLINTNEXTLINE(readability-function-size): the library decides the parameters
void RequestParser::on_request_impl(Verb, Text method, Text target, int version, Code&) {
  head_ = {.target = std::string(target),
           .is_http_1_0 = version == 10,
           .bytes = static_cast<std::int64_t>(target.size())};
  request.method = std::string(method);
  request.path = path_of(head_.target);
}

void RequestParser::on_field_impl(Field, Text name, Text value, Code&) {
  if (has_headers_) return;  // of the trailer of a chunked body, which nobody asks for
  head_.bytes += static_cast<std::int64_t>(name.size() + value.size()) + kHeaderRecord;
  const auto [header, is_new] =
      request.headers.emplace(ascii_lower({name.data(), name.size()}), std::string(value));
  if (!is_new) header->second.append(", ").append(value.data(), value.size());
}

std::size_t RequestParser::on_body_impl(Text part, Code&) {
  request.body.append(part.data(), part.size());
  return part.size();
}

std::size_t RequestParser::on_chunk_body_impl(std::uint64_t, Text part, Code& fault) {
  return on_body_impl(part, fault);
}

namespace {

/// "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, section 5.6.7)
std::string http_date() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  char text[64];
  return {text,
          std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &utc))};
}

}  // namespace

std::string head_of(const HttpResponse& response, std::string_view connection) {
  const auto reason = http::obsolete_reason(static_cast<http::status>(response.status));
  std::string head = join_text("HTTP/1.1 ", response.status, ' ', std::string(reason),
                               "\r\nDate: ", http_date(), "\r\n");
  if (!connection.empty()) head += join_text("Connection: ", connection, "\r\n");
  if (!response.type.empty()) head += join_text("Content-Type: ", response.type, "\r\n");
  if (response.status != kNoContent)
    head += join_text("Content-Length: ", response.body.size(), "\r\n");
  for (const auto& [name, value] : response.headers) head += join_text(name, ": ", value, "\r\n");
  return head + "\r\n";
}

}  // namespace dragoman
