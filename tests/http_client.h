// A connection of a test to a server of this machine, byte by byte.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace dragoman {

class HttpClient {
 public:
  struct Answer {
    int status = 0;  ///< 0: the connection has ended
    std::string head, body;
  };

  explicit HttpClient(int port) : descriptor_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    connected_ = connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient() { close(descriptor_); }

  bool connected() const { return connected_; }

  void send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  /// The next answer; status 0 at the end of the connection or after the limit.
  Answer receive(std::chrono::milliseconds limit = std::chrono::seconds(60)) {
    std::size_t head = 0;
    while ((head = received_.find("\r\n\r\n")) == std::string::npos)
      if (!read(limit)) return {};
    head += 4;
    Answer answer{
        .status = std::stoi(received_.substr(9, 3)), .head = received_.substr(0, head), .body = {}};
    const std::size_t at = answer.head.find("Content-Length: ");
    const std::size_t size = at == std::string::npos ? 0 : std::stoul(answer.head.substr(at + 16));
    while (received_.size() < head + size)
      if (!read(limit)) return {};
    answer.body = received_.substr(head, size);
    received_.erase(0, head + size);
    return answer;
  }

  /// What has come after the last answer, and what comes next.
  std::string receive_bytes(std::chrono::milliseconds limit = std::chrono::seconds(1)) {
    read(limit);
    return std::exchange(received_, {});
  }

  Answer ask(std::string_view request) {
    send(request);
    return receive();
  }

  static std::string get(const std::string& path) {
    return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  }
  static std::string post(const std::string& path, const std::string& body,
                          const std::string& type = "application/json") {
    return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + type +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }

 private:
  bool read(std::chrono::milliseconds limit) {
    pollfd waits{.fd = descriptor_, .events = POLLIN, .revents = 0};
    if (poll(&waits, 1, static_cast<int>(limit.count())) <= 0) return false;
    char bytes[65'536];
    const ssize_t count = recv(descriptor_, bytes, sizeof bytes, 0);
    if (count <= 0) return false;
    received_.append(bytes, static_cast<std::size_t>(count));
    return true;
  }

  int descriptor_;
  bool connected_;
  std::string received_;
};

}  // namespace dragoman
