#include "data/word_alignment.h"

#include <gmock/gmock.h>

#include <map>
#include <string>

#include "base/error.h"
#include "tokenizer/train_tokenizer.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::FieldsAre;
using testing::IsEmpty;

std::vector<std::string> texts_of(const std::vector<WordPlace>& words, const std::string& line) {
  std::vector<std::string> texts;
  for (const WordPlace& word : words)
    texts.push_back(line.substr(word.begin, word.end - word.begin));
  return texts;
}

TEST(WordAlignment, WordsStandBetweenWhiteSpace) {
  const std::string line = "  a bc\td  \u00a0e ";
  EXPECT_THAT(texts_of(word_places(line), line), ElementsAre("a", "bc", "d", "\u00a0e"));
  EXPECT_THAT(word_places(""), IsEmpty());
  EXPECT_THAT(word_places("  "), IsEmpty());
}

TEST(WordAlignment, PharaohLinesAreRead) {
  EXPECT_THAT(parse_links("0-0 12-3  1-2"),
              ElementsAre(FieldsAre(0, 0), FieldsAre(12, 3), FieldsAre(1, 2)));
  EXPECT_THAT(parse_links(""), IsEmpty());
  for (const char* wrong :
       {"0", "0-", "-0", "0-1x", "0--1", "a-1", "0:1", "1-99999999999999999999"})
    EXPECT_THROW(parse_links(wrong), Error) << wrong;
}

TEST(WordAlignment, APieceBelongsToTheWordsItOverlaps) {
  // "ab  cd e": pieces " a"-like ranges, one over two words, one of space alone, empty ones.
  const std::string line = "ab  cd e";
  const std::vector<PieceSpan> pieces = {{5, 0, 1}, {5, 1, 2}, {5, 2, 3}, {5, 2, 5},
                                         {5, 5, 8}, {5, 7, 7}, {5, 7, 8}, {5, 8, 8}};
  EXPECT_THAT(words_of_pieces(pieces, line),
              ElementsAre(FieldsAre(0, 1), FieldsAre(0, 1), FieldsAre(1, 2), FieldsAre(1, 2),
                          FieldsAre(1, 3), FieldsAre(2, 3), FieldsAre(2, 3), FieldsAre(3, 3)));
}

TEST(WordAlignment, PiecesOfATrainedTokenizerCoverTheirWords) {
  const std::vector<std::string> lines = {"the old man reads  the newspaper",
                                          "a na\u00efve snow \u2603\u2603man sings"};
  const std::vector<std::string_view> text(lines.begin(), lines.end());
  const Tokenizer tokenizer(
      train_tokenizer(std::vector<std::string_view>(40, text[0]), {.vocab_size = 280}).model_bytes,
      "tokenizer");
  for (const std::string& line : lines) {
    const auto pieces = tokenizer.encode_with_offsets(line);
    std::vector<TokenId> ids;
    for (const PieceSpan& piece : pieces) ids.push_back(piece.id);
    EXPECT_EQ(ids, tokenizer.encode(line));
    const auto words = word_places(line);
    const auto ranges = words_of_pieces(pieces, line);
    std::map<std::size_t, std::string> joined;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      ASSERT_EQ(ranges[i].last, ranges[i].first + 1);
      for (std::size_t at = pieces[i].begin; at < pieces[i].end; ++at)
        if (line[at] != ' ') joined[ranges[i].first] += line[at];
    }
    ASSERT_EQ(joined.size(), words.size());
    for (std::size_t w = 0; w < words.size(); ++w) EXPECT_EQ(joined[w], texts_of(words, line)[w]);
  }
}

TEST(WordAlignment, PiecesHaveTheLinksOfTheirWords) {
  // Source words: 0 = pieces 0 and 1, 1 = piece 2. Target: 0 = piece 0, 1 = pieces 1 and 2, 2 = 3.
  const std::vector<WordRange> source = {{0, 1}, {0, 1}, {1, 2}};
  const std::vector<WordRange> target = {{0, 1}, {1, 2}, {1, 2}, {2, 3}};
  const auto links =
      piece_links(std::vector<WordLink>{{1, 0}, {0, 1}, {1, 1}, {0, 1}}, source, target);
  const float third = 1.0F / 3;
  EXPECT_THAT(links,
              ElementsAre(FieldsAre(2, 0, 1.0F), FieldsAre(0, 1, third), FieldsAre(1, 1, third),
                          FieldsAre(2, 1, third), FieldsAre(0, 2, third), FieldsAre(1, 2, third),
                          FieldsAre(2, 2, third)));
}

}  // namespace
}  // namespace dragoman
