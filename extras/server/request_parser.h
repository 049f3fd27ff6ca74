// From the bytes of a connection to requests, and from answers to bytes (RFC 9112). Boost.Beast
// finds the parts of a head and the chunks of a body; what it accepts too readily is refused here.
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "extras/server/http.h"

namespace dragoman {

/// A head with more bytes than this is not read to its end.
inline constexpr std::size_t kMostHeadReceived = kMostHeadBytes + 8'192;

/// Bytes to the end of the empty line after the headers; 0 if it has not come. No line before
/// `from` is the last. Lines may end in LF alone, so that such a head can be refused.
std::size_t head_size(std::string_view received, std::size_t from = 0);

/// Reads one request.
class RequestParser : public boost::beast::http::basic_parser<true> {
 public:
  RequestParser();

  HttpRequest request = {};

  /// What is wrong with the head, whose bytes these are. As much of it as can be read is in the
  /// request.
  std::optional<HttpError> read_head(std::string_view bytes);

  /// Moves bytes of the body from `bytes` to the request. Returns what is wrong with them. The
  /// body is whole when is_done() says so.
  std::optional<HttpError> read_body(std::string& bytes);

  bool is_http_1_0() const { return head_.is_http_1_0; }

 private:
  using Code = boost::system::error_code;
  using Field = boost::beast::http::field;
  using Size = boost::optional<std::uint64_t>;
  using Text = boost::beast::string_view;
  using Verb = boost::beast::http::verb;

  // NOLINTNEXTLINE(readability-function-size): the library decides the parameters
  void on_request_impl(Verb, Text method, Text target, int version, Code&) override;
  void on_field_impl(Field, Text name, Text value, Code&) override;
  void on_header_impl(Code&) override { has_headers_ = true; }
  std::size_t on_body_impl(Text part, Code&) override;
  std::size_t on_chunk_body_impl(std::uint64_t, Text part, Code&) override;
  void on_response_impl(int, Text, int, Code&) override {}
  void on_body_init_impl(const Size&, Code&) override {}
  void on_chunk_header_impl(std::uint64_t, Text, Code&) override {}
  void on_finish_impl(Code&) override {}

  RequestHead head_ = {};
  bool has_headers_ = false;
};

inline constexpr int kNoContent = 204;  ///< an answer without a body, and without its length

/// The head of an answer. `connection`: the value of that header; empty: it has none.
std::string head_of(const HttpResponse& response, std::string_view connection);

}  // namespace dragoman
