#include "data/word_alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"
#include "data/alignment/words.h"
#include "data/batch_stream.h"
#include "data/prepare.h"
#include "tests/data/prepare_fixture.h"
#include "tests/names.h"
#include "tests/tokenizer/sample_text.h"
#include "tokenizer/train_tokenizer.h"

namespace dragoman {

namespace {

using testing::ElementsAre;
using testing::FieldsAre;
using testing::HasSubstr;

TEST(WordAlignment, APieceBelongsToTheWordsItOverlaps) {
  // Pieces of "ab  cd e": some begin with a space, one spans two words, one is space alone, and
  // some are empty.
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
    for (std::size_t w = 0; w < words.size(); ++w)
      EXPECT_EQ(joined[w], line.substr(words[w].begin, words[w].end - words[w].begin));
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

/// Links the words of the toy language with their translations.
class Alignments : public ToyCorpora {
 protected:
  Alignments() : ToyCorpora(300) {
    for (const std::string name : {"a", "b"}) {
      std::string links;
      for (const std::string& line : sample_text(300)) {
        const auto words = static_cast<std::int64_t>(word_places(line).size());
        for (std::int64_t word = 0; word < words; ++word)
          links += join_text(word, "-", word + 1, " ");
        links += "\n";
      }
      data.guided_alignment.push_back(write(name + ".align", links));
    }
  }

  /// Expects in the batches of an epoch that pieces are linked exactly if their words are.
  void expect_links() const {
    const PreparedData prepared = prepare();
    BatchStream stream(prepared.train, {.max_tokens = 500}, end_ids(prepared.tokenizers), {},
                       {.supplements = {prepared.encoder, prepared.alignments}});
    int sentences = 0;
    while (stream.position().epoch == 0) {
      const PackedBatch batch = stream.next();
      ASSERT_EQ(batch.links.size(), batch.sentences.size());
      for (std::size_t b = 0; b < batch.links.size(); ++b) {
        const std::int64_t tag = batch.sentences[b] < 300 ? 0 : 1;
        const auto source = words(*prepared.tokenizers.source, batch.source, b);
        const auto target = words(*prepared.tokenizers.target, batch.target, b);
        std::vector<std::vector<float>> weights(target.size(), std::vector<float>(source.size()));
        for (const PieceLink& link : batch.links[b])
          weights[link.target][link.source] = link.weight;
        for (std::size_t t = 0; t < target.size(); ++t) {
          const auto own = [&](std::int64_t word) {
            return word >= tag && word - tag + 1 == target[t];
          };
          const auto linked = std::count_if(source.begin(), source.end(), own);
          EXPECT_EQ(linked > 0, target[t] > 0);
          for (std::size_t s = 0; s < source.size(); ++s)
            ASSERT_EQ(weights[t][s], own(source[s]) ? 1 / static_cast<float>(linked) : 0);
        }
        ++sentences;
      }
    }
    EXPECT_EQ(sentences, 600);
  }

 private:
  /// For each piece of a sentence except </s>: the number of words that began before it, less one.
  static std::vector<std::int64_t> words(const Tokenizer& tokenizer, const PackedSide& side,
                                         std::size_t sentence) {
    std::vector<std::int64_t> result;
    std::int64_t word = -1;
    for (std::int32_t n = side.starts[sentence]; n + 1 < side.starts[sentence + 1]; ++n) {
      if (tokenizer.piece(side.tokens[n]).starts_with("\u2581")) ++word;
      result.push_back(word);
    }
    return result;
  }
};

TEST_F(Alignments, PiecesOfLinkedWordsAreLinked) { expect_links(); }

TEST_F(Alignments, PiecesOfAnySegmentationAreLinked) {
  data.subword_sampling = 0.3;
  data.augment_upper_case = 0.2;
  expect_links();
}

TEST_F(Alignments, LinksAreLeftOutIfTheEncodedTextIsAnother) {
  const PreparedData prepared = prepare();
  const Tokenizer& source = *prepared.tokenizers.source;
  const std::int64_t line = prepared.train.line(5);
  const auto target = prepared.train.target(5);
  EXPECT_FALSE(prepared.alignments->links(line, prepared.train.source(5), target).empty());
  EXPECT_TRUE(prepared.alignments->links(line, source.encode("another text"), target).empty());
}

TEST_F(Alignments, AlignmentsMustFitTheText) {
  const std::string file = data.guided_alignment[1];
  const auto message = [&](const std::string& links) {
    write("b.align", links);
    return message_of<Error>([&] { prepare(); });
  };
  EXPECT_THAT(message("0-0\n"), Names(file + " ... 1 line"));
  const auto with_third = [](const std::string& third) {
    std::string text;
    for (int line = 1; line <= 300; ++line) text += line == 3 ? third : "0-0\n";
    return text;
  };
  EXPECT_EQ(message(with_third("\n")), "");
  EXPECT_THAT(message(with_third("0-0 x\n")), Names(file + ":3: ... 'x' ... 0-2"));
  EXPECT_THAT(message(with_third("0-200 0-100\n")),
              Names(file + ":3: ... word 200 ... target line"));
  data.guided_alignment.pop_back();
  EXPECT_THAT(message_of<UsageError>([&] { data.check(); }), HasSubstr("--guided-alignment"));
}

/// The pieces of a toy sentence and of its translation are the same, but for "das".
class OwnAlignments : public ToyCorpora {
 protected:
  OwnAlignments() : ToyCorpora(300) { data.guided_alignment = {"auto"}; }

  /// Expects that most pieces are linked, and nearly all of these with themselves.
  void expect_links() const {
    const PreparedData prepared = prepare();
    BatchStream stream(prepared.train, {.max_tokens = 500}, end_ids(prepared.tokenizers), {},
                       {.supplements = {prepared.encoder, prepared.alignments}});
    std::int64_t links = 0, right = 0, pieces = 0;
    while (stream.position().epoch == 0) {
      const PackedBatch batch = stream.next();
      for (std::size_t b = 0; b < batch.links.size(); ++b) {
        const auto piece = [b](const Tokenizer& tokenizer, const PackedSide& side, std::int32_t n) {
          return tokenizer.piece(side.tokens[side.starts[b] + n]);
        };
        pieces += batch.source.starts[b + 1] - batch.source.starts[b];
        for (const PieceLink& link : batch.links[b]) {
          ++links;
          right += piece(*prepared.tokenizers.source, batch.source, link.source) ==
                   piece(*prepared.tokenizers.target, batch.target, link.target);
        }
      }
    }
    EXPECT_GT(links, pieces * 2 / 3);
    EXPECT_GT(right, links * 9 / 10);
  }
};

TEST_F(OwnAlignments, PiecesAreLinkedWithoutAFile) { expect_links(); }

TEST_F(OwnAlignments, PiecesOfAnySegmentationAreLinked) {
  data.subword_sampling = 0.1;
  data.subword_sampling_side = SamplingSide::Target;
  const PreparedData prepared = prepare();
  ASSERT_NE(prepared.encoder, nullptr);
  const auto source = prepared.train.source(5);
  const Tokenizer& target = *prepared.tokenizers.target;
  std::vector<TokenId> characters;  // another segmentation: a byte or character each
  for (const TokenId id : prepared.train.target(5))
    for (const char32_t c : code_points(target.piece(id))) {
      const TokenId single = target.id(to_utf8({&c, 1}));
      ASSERT_NE(single, target.unk_id());
      characters.push_back(single);
    }
  ASSERT_GT(characters.size(), prepared.train.target(5).size());
  const std::int64_t line = prepared.train.line(5);
  const auto links = prepared.alignments->links(line, source, prepared.train.target(5));
  EXPECT_GT(prepared.alignments->links(line, source, characters).size(), links.size());
}

TEST_F(OwnAlignments, AlignmentsAreMadeOnceAndForAnyNumberOfThreads) {
  prepare(1);
  const auto files = [&] {
    std::map<std::string, std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "corpus"))
      if (entry.path().filename().string().starts_with("alignment-"))
        found[entry.path().filename()] = read_file(entry.path());
    return found;
  };
  const auto made = files();
  EXPECT_EQ(made.size(), 2u);
  for (const auto& [name, links] : made) std::filesystem::remove(folder / "corpus" / name);
  prepare(3);
  EXPECT_EQ(files(), made);
  std::ofstream(folder / "corpus" / made.begin()->first) << made.begin()->second.substr(4);
  prepare(3);
  EXPECT_NE(files(), made) << "a file that is there is taken";
}

}  // namespace

}  // namespace dragoman
