#include "base/byte_text.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "base/utf8.h"

namespace dragoman {
namespace {

TEST(ByteText, AnyBytesBecomeUtf8AndComeBack) {
  for (const char* text : {"", "data/train.en", "Übung.de", "\u65e5\u672c"})
    EXPECT_EQ(utf8_of_bytes(text), text);
  RandomStream random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes;
    for (std::uint64_t n = random.below(7); n > 0; --n) {
      if (random.chance(0.2))  // such a one as stands for a byte
        append_utf8(bytes, static_cast<char32_t>(0x100070 + random.below(0xA0)));
      else
        bytes += static_cast<char>(random.below(256));
    }
    const std::string text = utf8_of_bytes(bytes);
    ASSERT_EQ(find_invalid_utf8(text), std::string::npos);
    ASSERT_EQ(bytes_of_utf8(text), bytes);
  }
}

}  // namespace
}  // namespace dragoman
