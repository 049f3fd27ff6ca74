#include "tokenizer/model_facts.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"

namespace dragoman {
namespace {

/// A length-delimited field of a protocol buffer, below 128 bytes.
std::string message(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}

const std::string kPiece = message(1, message(1, "a") + std::string("\x15\0\0\0\0\x18\x01", 7));

TEST(TokenizerFacts, FactsAreReadFromTheModel) {
  const std::string byte_fallback = "\x98\x02\x01";  // field 35
  const std::string bpe = "\x18\x02";
  const std::string normalizer = message(1, "nfc") + std::string("\x20\0", 2);
  const std::string escapes = "\xC8\x0C\x02";  // field 201
  const TokenizerFacts facts = tokenizer_facts(
      kPiece + kPiece + message(2, bpe + byte_fallback) + message(3, normalizer) + kPiece + escapes,
      "a.model");
  EXPECT_EQ(facts.type, "bpe");
  EXPECT_EQ(facts.kinds, std::vector<PieceKind>(3, PieceKind::Normal));
  EXPECT_TRUE(facts.byte_fallback);
  EXPECT_EQ(facts.normalizer, "nfc");
  EXPECT_TRUE(facts.keeps_white_space);
  EXPECT_EQ(facts.escapes, Escapes::SpaceAndTermMarks);
}

TEST(TokenizerFacts, DefaultsAreThoseOfTheFormat) {
  const TokenizerFacts facts = tokenizer_facts(kPiece, "a.model");
  EXPECT_EQ(facts.type, "unigram");
  EXPECT_EQ(facts.kinds.size(), 1u);
  EXPECT_FALSE(facts.byte_fallback);
  EXPECT_FALSE(facts.keeps_white_space);
  EXPECT_EQ(facts.escapes, Escapes::None);
}

TEST(TokenizerFacts, OtherBytesGiveAnErrorAndNoCrash) {
  EXPECT_THROW(tokenizer_facts("\x0a\x7fshort", "a.model"), Error);
  EXPECT_THROW(tokenizer_facts("\x0b", "a.model"), Error);
  EXPECT_THROW(tokenizer_facts(std::string(20, '\xff'), "a.model"), Error);
  RandomStream random(3);
  for (int round = 0; round < 2'000; ++round) {
    std::string bytes = kPiece + message(2, "\x18\x02") + kPiece;
    bytes.resize(1 + random.below(bytes.size()));
    bytes[random.below(bytes.size())] = static_cast<char>(random());
    try {
      EXPECT_LE(tokenizer_facts(bytes, "a.model").kinds.size(), 10u);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace dragoman
