#include "tokenizer/sentencepiece_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/random.h"
#include "tests/names.h"
#include "tests/tokenizer/sample_text.h"

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

class RenumberedTokenizer : public testing::TestWithParam<TokenizerType> {
 protected:
  RenumberedTokenizer() : original_(trained(GetParam())) {
    for (TokenId id = 0; id < original_.size(); ++id) pieces_.push_back(original_.piece(id));
  }

  static Tokenizer trained(TokenizerType type) {
    TokenizerConfig config;
    config.vocab_size = 300;
    config.type = type;
    return train_on(sample_text(400), config);
  }
  Tokenizer renumbered() const {
    return Tokenizer(renumbered_tokenizer(original_.model_bytes(), pieces_, "spm"), "renumbered");
  }
  static std::vector<std::string> texts(const Tokenizer& tokenizer, const std::string& line) {
    std::vector<std::string> texts;
    for (const TokenId id : tokenizer.encode(line)) texts.push_back(tokenizer.piece(id));
    return texts;
  }

  const Tokenizer original_;
  std::vector<std::string> pieces_;
};

TEST_P(RenumberedTokenizer, ARestrictedTokenizerCutsTextIntoPiecesOfTheVocabularyAlone) {
  std::vector<std::string> left;
  for (std::size_t id = 0; id < pieces_.size(); ++id)
    if (id < 3 || random_bits(5, id) % 2 == 0) left.push_back(pieces_[id]);
  const Tokenizer restricted(restricted_tokenizer(original_.model_bytes(), left, "spm"), "left");
  std::size_t cut_otherwise = 0;
  for (const std::string& line : sample_text(50)) {
    std::string joined;
    for (const std::string& piece : restricted.pieces(line)) {
      const auto starts = std::ranges::count_if(piece, [](char c) { return (c & 0xC0) != 0x80; });
      EXPECT_TRUE(starts == 1 || std::ranges::find(left, piece) != left.end()) << piece;
      joined += piece;
    }
    std::string whole;
    for (const std::string& piece : original_.pieces(line)) whole += piece;
    EXPECT_EQ(joined, whole);
    cut_otherwise += restricted.pieces(line) != original_.pieces(line);
  }
  EXPECT_GT(cut_otherwise, 10u);
  const Tokenizer all(restricted_tokenizer(original_.model_bytes(), pieces_, "spm"), "all");
  for (const std::string& line : sample_text(50))
    EXPECT_EQ(all.pieces(line), original_.pieces(line));
}

INSTANTIATE_TEST_SUITE_P(Types, RenumberedTokenizer,
                         testing::Values(TokenizerType::Unigram, TokenizerType::Bpe),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_P(RenumberedTokenizer, TextIsSegmentedAsBeforeWithTheNewNumbers) {
  std::ranges::reverse(pieces_);
  const Tokenizer tokenizer = renumbered();
  ASSERT_EQ(tokenizer.size(), original_.size());
  for (TokenId id = 0; id < tokenizer.size(); ++id)
    EXPECT_EQ(tokenizer.piece(id), pieces_[static_cast<std::size_t>(id)]);
  for (const std::string& line : sample_text(100)) {
    EXPECT_EQ(texts(tokenizer, line), texts(original_, line));
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(line)), original_.decode(original_.encode(line)));
  }
  EXPECT_EQ(tokenizer.piece(tokenizer.eos_id()), "</s>");
  EXPECT_EQ(tokenizer.piece(tokenizer.unk_id()), original_.piece(original_.unk_id()));
}

TEST_P(RenumberedTokenizer, APieceThatTheVocabularyLacksIsReadAsUnknown) {
  const std::string lacked = texts(original_, "mother").front();
  std::erase(pieces_, lacked);
  const Tokenizer tokenizer = renumbered();
  EXPECT_EQ(tokenizer.size(), original_.size() - 1);
  std::vector<std::string> expected = texts(original_, "the mother sees");
  std::ranges::replace(expected, lacked, original_.piece(original_.unk_id()));
  EXPECT_EQ(texts(tokenizer, "the mother sees"), expected);
  EXPECT_EQ(tokenizer.id(lacked), tokenizer.unk_id());
}

TEST_P(RenumberedTokenizer, APieceThatTheModelLacksIsDecodedAndNeverRead) {
  pieces_.push_back("\u2581mothersees");
  pieces_.push_back("moth");
  const Tokenizer tokenizer = renumbered();
  for (const std::string& line : sample_text(100))
    EXPECT_EQ(texts(tokenizer, line), texts(original_, line));
  EXPECT_EQ(texts(tokenizer, "mothersees moth"), texts(original_, "mothersees moth"));
  EXPECT_EQ(tokenizer.decode(std::vector{tokenizer.id("\u2581mothersees")}), "mothersees");
  EXPECT_THAT(tokenizer.never_emitted(),
              testing::Not(testing::Contains(tokenizer.id("\u2581mothersees"))));
}

/// The model with another type: 1 unigram, 2 bpe, 3 word, 4 char.
std::string with_type(std::string_view model_bytes, std::uint64_t type) {
  constexpr std::uint64_t kTrainerSpec = 2, kModelType = 3;
  WireWriter written;
  WireReader model(model_bytes);
  while (const auto field = model.next()) {
    if (field->number != kTrainerSpec) {
      written.stored(*field);
      continue;
    }
    WireWriter spec;
    WireReader settings(field->bytes);
    while (const auto setting = settings.next())
      if (setting->number != kModelType) spec.stored(*setting);
    spec.number(kModelType, type);
    written.bytes(kTrainerSpec, spec.message());
  }
  return written.message();
}

/// OPUS-MT looks the pieces of one side's model up in a vocabulary of both sides.
TEST_P(RenumberedTokenizer, PiecesOfTheOtherSideDoNotChangeTheSegmentation) {
  for (const char* added : {"\u041f", "\u0440", "\u0438", "\u2581\u041f\u0440", "\u2581dogs", "d@g",
                            "gd", "\u2581xyzzy", "\u2581\u0440\u0438"})
    pieces_.push_back(added);
  for (const std::uint64_t type : {1, 2, 3, 4}) {
    const Tokenizer model(with_type(original_.model_bytes(), type), "spm");
    const Tokenizer read(renumbered_tokenizer(model.model_bytes(), pieces_, "spm"), "renumbered");
    for (const char* line :
         {"the old dog", "\u041f\u0440\u0438 the dog", "the \u041f", "\u0440 dog \u0440\u0438",
          "dogs d@gd", "xyzzy", "the xyzzy plugh dog", "\u0438 \u041f\u0440 \u0438dog"}) {
      std::vector<std::string>
          expected;  // by the texts of the pieces, as that system looks them up
      for (const std::string& piece : model.pieces(line))
        expected.push_back(std::ranges::find(pieces_, piece) == pieces_.end()
                               ? original_.piece(original_.unk_id())
                               : piece);
      EXPECT_EQ(texts(read, line), expected) << line << ", type " << type;
      std::vector<TokenId> ids;
      for (const PieceSpan& span : read.encode_with_offsets(line)) ids.push_back(span.id);
      EXPECT_EQ(ids, read.encode(line));
    }
    const auto id = read.id("\u2581xyzzy");
    EXPECT_EQ(read.decode(std::vector{id}), "xyzzy");
  }
}

TEST_P(RenumberedTokenizer, ALanguageTagIsReadAtTheBeginningOfAText) {
  pieces_.push_back(">>fra<<");
  const Tokenizer tokenizer = renumbered();
  std::vector<std::string> expected = texts(original_, "the old dog");
  expected.insert(expected.begin(), "\u2581>>fra<<");
  EXPECT_EQ(texts(tokenizer, ">>fra<< the old dog"), expected);
  EXPECT_THAT(tokenizer.user_symbols(), testing::Contains(">>fra<<"));
  EXPECT_EQ(without_tag_space(expected.front()), ">>fra<<");
  EXPECT_EQ(without_tag_space("\u2581dog"), "\u2581dog");
}

/// A piece as sentencepiece_model.proto has it.
std::string piece_message(const std::string& text, float score, PieceKind kind) {
  WireWriter piece;
  piece.bytes(1, text);
  piece.real(2, score);
  piece.number(3, static_cast<std::uint64_t>(kind));
  return piece.message();
}

// The models that we train have pieces of bytes, so no character is unknown to them.
TEST(RenumberedTokenizerWithoutBytes, ARunOfUnknownCharactersIsReadAsThePieceWithItsText) {
  WireWriter model;
  model.bytes(1, piece_message("<unk>", 0, PieceKind::Unknown));
  model.bytes(1, piece_message("</s>", 0, PieceKind::Control));
  model.bytes(1, piece_message("\u2581the", -1, PieceKind::Normal));
  model.bytes(1, piece_message("\u2581", -2, PieceKind::Normal));
  const std::vector<std::string> pieces = {"</s>", "\u732b", "\u2581", "<unk>", "\u2581the"};
  const Tokenizer tokenizer(renumbered_tokenizer(model.message(), pieces, "spm"), "renumbered");
  EXPECT_EQ(tokenizer.encode("the \u732b"), (std::vector<TokenId>{4, 2, 1}));
  EXPECT_EQ(tokenizer.encode("the \u732b\u732b"), (std::vector<TokenId>{4, 2, 3}));
  EXPECT_EQ(tokenizer.encode("the \u72ac"), (std::vector<TokenId>{4, 2, 3}));
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{4, 2, 1, 0}), "the \u732b");
}

TEST_P(RenumberedTokenizer, TheSameNumbersOnceMoreChangeNoByte) {
  std::erase(pieces_, texts(original_, "mother").front());
  pieces_.push_back(">>fra<<");
  pieces_.push_back("\u2581mothersees");
  const std::string once = renumbered_tokenizer(original_.model_bytes(), pieces_, "spm");
  EXPECT_EQ(renumbered_tokenizer(once, pieces_, "spm"), once);
}

TEST_P(RenumberedTokenizer, AFaultOfAVocabularyIsNamed) {
  const auto message = [&] { return message_of<Error>([&] { renumbered(); }); };
  pieces_.push_back(pieces_[5]);
  EXPECT_THAT(message(), Names("piece 5 ... piece 300"));
  pieces_.pop_back();
  std::erase(pieces_, "</s>");
  EXPECT_THAT(message(), Names("end of sentence"));
  pieces_.back() = "</s>";
  std::erase(pieces_, original_.piece(original_.unk_id()));
  EXPECT_THAT(message(), testing::HasSubstr("no unknown piece"));
}

TEST_P(RenumberedTokenizer, DamagedModelsDoNotCrash) {
  RandomStream random(7);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = original_.model_bytes();
    if (random.chance(0.5)) bytes.resize(random.below(bytes.size()));
    for (int flips = 0; flips < 5 && !bytes.empty(); ++flips)
      bytes[random.below(bytes.size())] = static_cast<char>(random());
    try {
      renumbered_tokenizer(bytes, pieces_, "spm");
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace dragoman
