#include "base/compressed_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "base/error.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using std::string_literals::operator""s;
using testing::HasSubstr;

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

std::string xz(const std::string& text) {
  std::string packed(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(
                6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                text.size(), reinterpret_cast<std::uint8_t*>(packed.data()), &size, packed.size()),
            LZMA_OK);
  packed.resize(size);
  return packed;
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += "line " + std::to_string(i * 7919 % 1000) + "\n";
  return text + std::string(2'000'000, 'x');
}

std::string failure(const std::string& bytes) {
  try {
    plain_text(bytes, "file");
  } catch (const Error& error) {
    return error.what();
  }
  return "read";
}

TEST(CompressedText, CompressedTextIsReadAsIfItWerePlain) {
  for (const std::string& text : {""s, "a\n"s, long_text()}) {
    EXPECT_EQ(plain_text(text, "file"), text);
    EXPECT_EQ(plain_text(gzip(text), "file"), text);
    EXPECT_EQ(plain_text(gzip(text) + gzip("more"), "file"), text + "more") << "members";
    EXPECT_EQ(plain_text(zstd(text), "file"), text);
    EXPECT_EQ(plain_text(zstd(text) + zstd("more"), "file"), text + "more") << "frames";
    EXPECT_EQ(plain_text(xz(text), "file"), text);
    EXPECT_EQ(plain_text(xz(text) + xz("more"), "file"), text + "more") << "streams";
  }
}

TEST(CompressedText, AFileHasTheNameOfItsText) {
  for (const char* path :
       {"news.en", "texts/news.en", "/a.gz/news.en.gz", "news.en.zst", "news.en.xz"})
    EXPECT_EQ(plain_name(path), "news.en") << path;
  EXPECT_EQ(plain_name("news.zip"), "news.zip");
}

TEST(CompressedText, TheTextIsTheSameForAnySizeOfTheReads) {
  const std::string text = long_text().substr(0, 3'000);
  for (const std::string& packed : {gzip(text), zstd(text), xz(text)}) {
    std::string read;
    const auto decompressor = make_decompressor(coding_of(packed, false, "file"), "file");
    for (const char byte : packed)
      decompressor->add({&byte, 1}, [&read](std::string_view more) { read += more; });
    decompressor->finish();
    EXPECT_EQ(read, text);
  }
}

TEST(CompressedText, ZeroBytesAfterGzipAndXzDataAreNotText) {
  const std::string zeros(600'000, '\0');
  for (const auto& pack : {gzip, xz})
    for (const std::string& padding : {"\0\0\0\0"s, zeros}) {
      EXPECT_EQ(plain_text(pack("text") + padding, "file"), "text");
      EXPECT_EQ(plain_text(pack("text") + padding + pack("more"), "file"), "textmore");
      EXPECT_THAT(failure(pack("text") + padding + "garbage that is long enough"),
                  HasSubstr("damaged"));
    }
}

TEST(CompressedText, AnXzFileThatNeedsMuchMemoryIsRefused) {
  lzma_options_lzma options;
  lzma_lzma_preset(&options, 0);
  options.dict_size = 256 << 20;
  const lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  lzma_stream stream = LZMA_STREAM_INIT;
  ASSERT_EQ(lzma_stream_encoder(&stream, filters, LZMA_CHECK_CRC32), LZMA_OK);
  std::string packed(1000, '\0');
  stream.next_in = reinterpret_cast<const std::uint8_t*>("text");
  stream.avail_in = 4;
  stream.next_out = reinterpret_cast<std::uint8_t*>(packed.data());
  stream.avail_out = packed.size();
  EXPECT_EQ(lzma_code(&stream, LZMA_FINISH), LZMA_STREAM_END);
  packed.resize(stream.total_out);
  lzma_end(&stream);
  EXPECT_THAT(failure(packed), Names("file ... 200 MB ... xz -d"));
}

TEST(CompressedText, TextThatIsCutOffOrDamagedIsAnError) {
  const std::string text = long_text();
  for (std::string packed : {gzip(text), zstd(text), xz(text)}) {
    for (const std::size_t size : {packed.size() - 1, packed.size() / 2, std::size_t{8}})
      EXPECT_THAT(failure(packed.substr(0, size)), HasSubstr("cut off")) << size;
    for (std::size_t i = packed.size() / 2; i < packed.size() / 2 + 40; ++i) packed[i] ^= 0x55;
    EXPECT_THAT(failure(packed), HasSubstr("file: its "));
    EXPECT_THAT(failure(packed), testing::EndsWith("data are damaged"));
  }
  EXPECT_THAT(failure(gzip("a") + "garbage"), HasSubstr("damaged"));
}

TEST(CompressedText, FilesThatAreNotTextAreNamed) {
  EXPECT_THAT(failure("\x5d\0\0\x80rest"s), Names("file ... lzma"));
  EXPECT_THAT(failure("\x04\x22\x4d\x18rest"s), Names("file ... lz4"));
  EXPECT_THAT(failure("7z\xbc\xaf\x27\x1crest"s), Names("file ... 7z"));
  EXPECT_THAT(failure("BZh91AY&SYrest"), Names("file ... bzip2"));
  EXPECT_THAT(failure("BZh11AY&SYrest"), Names("file ... bzip2"));
  EXPECT_EQ(failure("BZh01AY&SYrest"), "read");
  EXPECT_EQ(failure("BZh#1AY&SYrest"), "read");
  EXPECT_THAT(failure("PK\x03\x04rest"), Names("file ... zip"));
  EXPECT_THAT(failure("%PDF-1.7\n"), Names("file ... PDF ... text"));
  EXPECT_THAT(failure("{\\rtf1\\ansi"), Names("file ... rich text"));
  EXPECT_THAT(failure("\xd0\xcf\x11\xe0rest"), Names("file ... office document"));
  EXPECT_THAT(failure("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"),
              Names("file ... Git LFS"));
  EXPECT_EQ(failure("version https://git\n"), "read");
  EXPECT_EQ(failure("%PD\n"), "read");
  const std::string tar = "corpus.en" + std::string(248, '\0') + "ustar\0" + "00 text";
  for (const std::string& archive : {tar, gzip(tar), zstd(tar), xz(tar)})
    EXPECT_THAT(failure(archive), Names("file ... tar"));
  EXPECT_EQ(failure(std::string(257, 'a') + "ustin"), "read");
  EXPECT_THAT(failure("\xff\xfe"
                      "a\0"s),
              HasSubstr("file: is UTF-16"));
  EXPECT_THAT(failure("\xfe\xff\0a"s), HasSubstr("file: is UTF-16"));
}

TEST(CompressedText, Utf16AndUtf32AreNamedWithoutAByteOrderMarkToo) {
  EXPECT_THAT(failure("H\0i\0"s), Names("file ... UTF-16LE"));
  EXPECT_THAT(failure("H\0i\0 \0a\0\x16\x04"s), HasSubstr("UTF-16LE"));
  EXPECT_THAT(failure("\0H\0i"s), HasSubstr("UTF-16BE"));
  EXPECT_THAT(failure("H\0\0\0i\0\0\0"s), HasSubstr("UTF-32LE"));
  EXPECT_THAT(failure("\0\0\0H\0\0\0i"s), HasSubstr("UTF-32BE"));
  EXPECT_THAT(failure("\xff\xfe\0\0a\0\0\0"s), Names("file ... UTF-32"));
  EXPECT_THAT(failure("\0\0\xfe\xff\0\0\0a"s), Names("file ... UTF-32"));
  for (const std::string& text : {"\0the cat"s, "a\0b\0the cat"s, "a\0\nb"s, "\0\0\0\0"s, "a\0"s})
    EXPECT_EQ(coding_of(text, true, "file"), TextCoding::Plain);
  EXPECT_EQ(coding_of("H\0i\0"s, false, "file"), TextCoding::Undecided);
  EXPECT_EQ(coding_of("\xff\xfe"s, false, "file"), TextCoding::Undecided);
}

TEST(CompressedText, NoWholeLineWaitsForADecision) {
  for (const std::string& text :
       {"(\n"s, "B\n"s, "BZh\n"s, "PK\n"s, "\n"s, "\x1f\n"s, "\xfd\n"s, "a\n"s})
    EXPECT_EQ(coding_of(text, false, "file"), TextCoding::Plain) << text;
  for (const std::string& text : {""s, "("s, "BZh"s, "\x1f"s}) {
    EXPECT_EQ(coding_of(text, false, "file"), TextCoding::Undecided) << text;
    EXPECT_EQ(coding_of(text, true, "file"), TextCoding::Plain) << text;
  }
}

}  // namespace
}  // namespace dragoman
