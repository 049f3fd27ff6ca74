#include "base/compressed_text.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/error.h"

namespace dragoman {

namespace {

using std::string_view_literals::operator""sv;

constexpr std::size_t kDecompressorBlock = std::size_t{1} << 18;

constexpr char kAnyDigit = '#';  // in a signature: one of 1 to 9

struct Signature {
  std::string_view bytes;
  TextCoding coding;
  /// The format and the way to convert it; empty for formats that are read.
  std::string_view refused;
};

constexpr std::string_view kUtf32 = "UTF-32, not UTF-8; convert it (iconv -f UTF-32 -t UTF-8)";

constexpr std::string_view kLfsPointer = "version https://git-lfs.github.com/spec/";
constexpr std::string_view kLfsAdvice =
    "a pointer of Git LFS, not the file itself; fetch that first (git lfs pull)";

constexpr Signature kSignatures[] = {
    {kLfsPointer, TextCoding::Plain, kLfsAdvice},
    {"\x1f\x8b"sv, TextCoding::Gzip, ""},
    {"\x28\xb5\x2f\xfd"sv, TextCoding::Zstd, ""},
    {"\xfd\x37zXZ\0"sv, TextCoding::Xz, ""},
    {"BZh#1AY&SY"sv, TextCoding::Plain, "compressed with bzip2; decompress it first (bzip2 -d)"},
    {"\x5d\0\0"sv, TextCoding::Plain, "compressed with lzma; decompress it first (xz -d)"},
    {"\x04\x22\x4d\x18"sv, TextCoding::Plain, "compressed with lz4; decompress it first (lz4 -d)"},
    {"7z\xbc\xaf\x27\x1c"sv, TextCoding::Plain, "a 7z archive; unpack it first"},
    {"PK\x03\x04"sv, TextCoding::Plain,
     "a zip archive or an office document; unpack it first, or save it as text"},
    {"\xd0\xcf\x11\xe0"sv, TextCoding::Plain, "an office document; save it as text first"},
    {"{\\rtf1"sv, TextCoding::Plain, "rich text (RTF); save it as plain text first"},
    {"%PDF-"sv, TextCoding::Plain, "a PDF; extract its text first (pdftotext)"},
    {"\xff\xfe\0\0"sv, TextCoding::Plain, kUtf32},
    {"\0\0\xfe\xff"sv, TextCoding::Plain, kUtf32},
    {"\xff\xfe"sv, TextCoding::Plain, "UTF-16, not UTF-8; convert it (iconv -f UTF-16 -t UTF-8)"},
    {"\xfe\xff"sv, TextCoding::Plain, "UTF-16, not UTF-8; convert it (iconv -f UTF-16 -t UTF-8)"},
};

/// Whether the first bytes of a file and a signature are the same, as far as both go.
bool agree(std::string_view first, std::string_view signature) {
  const std::size_t common = std::min(first.size(), signature.size());
  return std::ranges::equal(
      first.substr(0, common), signature.substr(0, common), [](char byte, char expected) {
        return expected == kAnyDigit ? byte >= '1' && byte <= '9' : byte == expected;
      });
}

/// Text in units of two or four bytes without a byte order mark. Its first characters are ASCII, so
/// each unit has one byte at `place`, and NUL in all others.
struct WideUnits {
  std::size_t bytes, place;
  std::string_view name;

  /// Whether the first units look like that, as far as `first` has them.
  bool fit(std::string_view first) const {
    for (std::size_t i = 0; i < std::min(first.size(), kUnits * bytes); ++i)
      if ((first[i] == '\0') == (i % bytes == place)) return false;
    return true;
  }
  static constexpr std::size_t kUnits = 4;
};

constexpr WideUnits kWideUnits[] = {
    {2, 0, "UTF-16LE"}, {2, 1, "UTF-16BE"}, {4, 0, "UTF-32LE"}, {4, 3, "UTF-32BE"}};

/// Throws Error if the bytes are such text. Otherwise returns whether more bytes may show it.
bool may_be_wide(std::string_view first, bool is_all, const std::string& name) {
  bool may_be = false;
  for (const WideUnits& units : kWideUnits) {
    if (first.size() < (is_all ? 2 : WideUnits::kUnits) * units.bytes)
      may_be = may_be || (!is_all && first != "\n" && units.fit(first));
    else if (units.fit(first))
      throw Error(name, ": is ", units.name, " without a byte order mark, not UTF-8; convert it ",
                  "(iconv -f ", units.name, " -t UTF-8)");
  }
  return may_be;
}

/// Throws Error if a text begins like a tar archive: a header with a mark in its middle.
void refuse_tar(std::string_view first, const std::string& name) {
  constexpr std::size_t kMarkAt = 257;
  if (first.size() > kMarkAt && first.substr(kMarkAt).starts_with("ustar"))
    throw Error(name, ": is a tar archive; unpack it first (tar -xf)");
}

class GzipDecompressor : public Decompressor {
 public:
  explicit GzipDecompressor(const std::string& name)
      : Decompressor(name), block_(kDecompressorBlock) {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecompressor() override { inflateEnd(&stream_); }

  void add(std::string_view bytes, const TextSink& sink) override {
    for (; bytes.size() > kDecompressorBlock; bytes.remove_prefix(kDecompressorBlock))
      add_block(bytes.substr(0, kDecompressorBlock), sink);
    add_block(bytes, sink);
  }

 private:
  void add_block(std::string_view bytes, const TextSink& sink) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    stream_.avail_out = 0;
    while (stream_.avail_in > 0 || stream_.avail_out == 0) {
      // As in gzip and Python: zero bytes after a member pad it to a block of a tape or disk.
      for (; is_complete_ && stream_.avail_in > 0 && *stream_.next_in == 0; --stream_.avail_in)
        ++stream_.next_in;
      if (is_complete_ && stream_.avail_in == 0) return;
      if (is_complete_) inflateReset(&stream_);  // another member follows
      stream_.next_out = reinterpret_cast<Bytef*>(block_.data());
      stream_.avail_out = static_cast<uInt>(block_.size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        throw Error(name_, ": its gzip data are damaged");
      is_complete_ = code == Z_STREAM_END;
      give({block_.data(), block_.size() - stream_.avail_out}, sink);
    }
  }

  z_stream stream_{};
  std::vector<char> block_;
};

class ZstdDecompressor : public Decompressor {
 public:
  explicit ZstdDecompressor(const std::string& name)
      : Decompressor(name),
        context_(ZSTD_createDCtx(), ZSTD_freeDCtx),
        block_(ZSTD_DStreamOutSize()) {
    if (context_ == nullptr) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, 31);  // as zstd --long=31 needs
  }

  void add(std::string_view bytes, const TextSink& sink) override {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (bool is_full = false; in.pos < in.size || is_full;) {
      ZSTD_outBuffer out{block_.data(), block_.size(), 0};
      const std::size_t left = ZSTD_decompressStream(context_.get(), &out, &in);
      if (ZSTD_isError(left) != 0) throw Error(name_, ": its zstd data are damaged");
      is_complete_ = left == 0;
      is_full = out.pos == out.size && !is_complete_;
      give({block_.data(), out.pos}, sink);
    }
  }

 private:
  std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context_;
  std::vector<char> block_;
};

class XzDecompressor : public Decompressor {
 public:
  explicit XzDecompressor(const std::string& name)
      : Decompressor(name), block_(kDecompressorBlock) {}
  ~XzDecompressor() override { lzma_end(&stream_); }

  void add(std::string_view bytes, const TextSink& sink) override {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
    stream_.avail_in = bytes.size();
    stream_.avail_out = 0;
    while (stream_.avail_in > 0 || stream_.avail_out == 0) {
      // Zero bytes after a stream fill up its last block (The .xz File Format, section 2.2).
      for (; is_complete_ && stream_.avail_in > 0 && *stream_.next_in == 0; --stream_.avail_in)
        ++stream_.next_in;
      if (is_complete_ && stream_.avail_in == 0) return;
      if (is_complete_) begin_stream();
      stream_.next_out = reinterpret_cast<std::uint8_t*>(block_.data());
      stream_.avail_out = block_.size();
      const lzma_ret code = lzma_code(&stream_, LZMA_RUN);
      if (code == LZMA_MEM_ERROR) throw std::bad_alloc();
      if (code == LZMA_MEMLIMIT_ERROR)
        throw Error(name_, ": needs more than 200 MB of memory to be decompressed; decompress it ",
                    "first (xz -d)");
      if (code != LZMA_OK && code != LZMA_STREAM_END && code != LZMA_BUF_ERROR)
        throw Error(name_, ": its xz data are damaged");
      is_complete_ = code == LZMA_STREAM_END;
      give({block_.data(), block_.size() - stream_.avail_out}, sink);
    }
  }

 private:
  void begin_stream() {
    constexpr std::uint64_t kMostMemory = 200'000'000;  // xz -9 needs 68 MB
    if (lzma_stream_decoder(&stream_, kMostMemory, 0) != LZMA_OK) throw std::bad_alloc();
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  std::vector<char> block_;
};

}  // namespace

TextCoding coding_of(std::string_view first, bool is_all, const std::string& name) {
  refuse_tar(first, name);
  bool may_become_one = false;
  for (const auto& [bytes, coding, refused] : kSignatures) {
    if (!agree(first, bytes)) continue;
    if (first.size() >= bytes.size() && (!may_become_one || is_all)) {
      if (!refused.empty()) throw Error(name, ": is ", refused);
      return coding;
    }
    may_become_one = may_become_one || first.size() <= bytes.size();
  }
  may_become_one = may_be_wide(first, is_all, name) || may_become_one;
  return may_become_one && !is_all ? TextCoding::Undecided : TextCoding::Plain;
}

void refuse_lfs_pointer(std::string_view first, const std::string& name) {
  if (first.starts_with(kLfsPointer)) throw Error(name, ": is ", kLfsAdvice);
}

void Decompressor::give(std::string_view text, const TextSink& sink) {
  if (!has_given_) refuse_tar(text, name_);
  has_given_ = has_given_ || !text.empty();
  sink(text);
}

void Decompressor::finish() const {
  if (!is_complete_) throw Error(name_, ": its compressed data end too early; the file is cut off");
}

std::unique_ptr<Decompressor> make_decompressor(TextCoding coding, const std::string& name) {
  if (coding == TextCoding::Gzip) return std::make_unique<GzipDecompressor>(name);
  if (coding == TextCoding::Zstd) return std::make_unique<ZstdDecompressor>(name);
  if (coding == TextCoding::Xz) return std::make_unique<XzDecompressor>(name);
  return nullptr;
}

std::string plain_name(const std::string& path) {
  const std::filesystem::path name = std::filesystem::path(path).filename();
  for (const char* ending : {".gz", ".zst", ".xz"})
    if (name.extension() == ending) return name.stem().string();
  return name.string();
}

std::string plain_text(std::string bytes, const std::string& name) {
  const auto decompressor = make_decompressor(coding_of(bytes, true, name), name);
  if (decompressor == nullptr) return bytes;
  std::string text;
  decompressor->add(bytes, [&text](std::string_view more) { text += more; });
  decompressor->finish();
  return text;
}

}  // namespace dragoman
