// The coding of a text: plain, or compressed with gzip (RFC 1952), zstd (RFC 8878) or xz
// (tukaani.org/xz/xz-file-format.txt). Compressed text is read like plain text. Files compressed
// otherwise, and UTF-16, are errors that say so.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace dragoman {

enum class TextCoding {
  Undecided,  ///< more bytes may decide
  Plain,
  Gzip,
  Zstd,
  Xz,
};

/// The coding that the first bytes of a text show; `is_all`: they are the whole text. Throws an
/// Error that begins with `name` for other compressed files, for archives, PDF and office
/// documents, for pointers of Git LFS, and for UTF-16 and UTF-32, with or without a byte order
/// mark.
TextCoding coding_of(std::string_view first, bool is_all, const std::string& name);

/// Throws an Error that begins with `name` if these first bytes of a file are those of the text
/// that a clone without Git LFS has in place of a large file. coding_of() refuses it, too.
void refuse_lfs_pointer(std::string_view first, const std::string& name);

/// Takes the text part by part, in order.
using TextSink = std::function<void(std::string_view)>;

class Decompressor {
 public:
  virtual ~Decompressor() = default;
  /// Decompresses the next bytes and gives their text to the sink. Throws Error if they are
  /// damaged.
  virtual void add(std::string_view bytes, const TextSink& sink) = 0;
  /// To be called after the last bytes. Throws Error if some are missing.
  void finish() const;

 protected:
  explicit Decompressor(std::string name) : name_(std::move(name)) {}

  /// Gives text to the sink. Throws Error if the text begins like a tar archive.
  void give(std::string_view text, const TextSink& sink);

  std::string name_;         ///< for messages
  bool is_complete_ = true;  ///< no stream has begun without its end

 private:
  bool has_given_ = false;
};

/// Null for plain text.
std::unique_ptr<Decompressor> make_decompressor(TextCoding coding, const std::string& name);

/// The name of the file without its folder, and without the ending of compressed text: "news.en"
/// for "texts/news.en.gz".
std::string plain_name(const std::string& path);

/// The text of a whole file: `bytes` themselves if they are plain.
std::string plain_text(std::string bytes, const std::string& name);

}  // namespace dragoman
