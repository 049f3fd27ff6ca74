// TCP connections between ranks that carry messages: a kind and some bytes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

using Milliseconds = std::chrono::milliseconds;

struct RankMessage {
  enum class Kind : std::uint32_t {
    Alive,   ///< a sign of life
    Text,    ///< what exchange() hands on
    Failed,  ///< the sender gives up; the reason
    Lost,    ///< from rank 0: a rank is lost; which one and how
    Bye,     ///< the sender has done all its work
  };
  Kind kind;
  std::string text;
};

/// Several texts as one, and back. `unpack_texts` throws Error for what is no such text.
std::string pack_texts(const std::vector<std::string>& texts);
std::vector<std::string> unpack_texts(std::string_view packed);

/// A connection or a listening socket, closed with the object.
class RankSocket {
 public:
  RankSocket() = default;
  explicit RankSocket(int descriptor) : descriptor_(descriptor) {}
  RankSocket(RankSocket&& other) noexcept;
  RankSocket& operator=(RankSocket&& other) noexcept;
  ~RankSocket();

  /// On a free port of all addresses of this machine. Throws Error.
  static RankSocket listening();
  /// Tries all addresses of the host. Throws Error with the system's reason.
  static RankSocket connected_to(const std::string& host, int port, Milliseconds limit);

  int descriptor() const { return descriptor_; }
  int port() const;                   ///< of this end
  std::string own_address() const;    ///< numeric
  std::string other_address() const;  ///< numeric
  /// A connection that has come within the limit.
  std::optional<RankSocket> accept(Milliseconds limit) const;

  /// False where the message could not be sent within the limit; any thread may send.
  bool send(const RankMessage& message, Milliseconds limit);
  /// Reads what has come. False where the other end has closed, or the connection is broken.
  bool receive();
  /// The next message that is complete.
  std::optional<RankMessage> next();
  /// The next message, waited for; none where it does not come within the limit.
  std::optional<RankMessage> wait(Milliseconds limit);

 private:
  int descriptor_ = -1;
  std::string received_;
  std::mutex sending_;
};

bool is_loopback(const std::string& address);

}  // namespace dragoman
