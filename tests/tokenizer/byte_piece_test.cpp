#include "tokenizer/byte_piece.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

TEST(BytePiece, ABytePieceIsTwoHexadecimalDigits) {
  EXPECT_EQ(byte_of_piece("<0x41>"), 'A');
  EXPECT_EQ(byte_of_piece("<0xE5>"), 0xE5);
  for (const char* other : {"", "<0x4>", "<0x4g>", "<0x-1>", "<0x411>", "\u2581<0x4", "<0x41"})
    EXPECT_EQ(byte_of_piece(other), std::nullopt) << other;
}

}  // namespace
}  // namespace dragoman
