// Speaks HTTP/1.1 on a socket. One thread serves all connections; a connection whose request is
// being worked on costs no thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "extras/server/http.h"

namespace dragoman {

struct HttpConfig {
  std::string host = "127.0.0.1";
  std::int64_t port = 5000;             ///< 0: any that is free
  std::int64_t body_limit = 2'097'152;  ///< bytes; a larger body is answered by 413
  std::int64_t connections = 1000;      ///< open at once; others wait to be accepted
  /// A connection may take this long to send the headers of a request (from the last response on),
  /// again to send the body, and again to take the response.
  std::chrono::milliseconds timeout{60'000};
};

/// The error's text as JSON, in the forms of both interfaces.
HttpResponse plain_refusal(const HttpRequest& head, const HttpError& why);

class HttpServer {
 public:
  /// Listens from now on. Throws Error if it can't.
  HttpServer(const HttpConfig& config, HttpHandler handler, HttpRefusal refusal = plain_refusal);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  /// Requests that are under way are answered by 503.
  ~HttpServer();

  int port() const;

  /// Accepts no more connections and waits until all requests under way are answered, for at
  /// most `limit`. Returns how many are not answered.
  std::int64_t drain(std::chrono::milliseconds limit);

 private:
  class Connections;
  std::unique_ptr<Connections> connections_;
};

}  // namespace dragoman
