// How a text comes: as it is, or compressed with gzip (RFC 1952) or zstd (RFC 8878), which are read
// as if they were not; what is no UTF-8 text at all is named.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace dragoman {

enum class TextCoding {
  Undecided,  ///< more bytes may decide
  Plain,
  Gzip,
  Zstd,
};

/// By the first bytes of a text, or all of it where `is_all`. Throws Error that begins with `name`
/// for other compressed files, and for UTF-16 and UTF-32, with or without a byte order mark.
TextCoding coding_of(std::string_view first, bool is_all, const std::string& name);

/// Takes pieces of text in their order.
using TextSink = std::function<void(std::string_view)>;

class Decompressor {
 public:
  virtual ~Decompressor() = default;
  /// Gives the text of the next bytes to the sink. Throws Error where they are damaged.
  virtual void add(std::string_view bytes, const TextSink& sink) = 0;
  /// Called behind the last bytes. Throws Error where some are missing.
  void finish() const;

 protected:
  explicit Decompressor(std::string name) : name_(std::move(name)) {}

  std::string name_;         ///< for messages
  bool is_complete_ = true;  ///< nothing of a stream is missing
};

/// Null for plain text.
std::unique_ptr<Decompressor> make_decompressor(TextCoding coding, const std::string& name);

/// The text of a whole file; `bytes` themselves where they are plain.
std::string plain_text(std::string bytes, const std::string& name);

}  // namespace dragoman
