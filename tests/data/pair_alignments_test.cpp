#include "data/pair_alignments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "data/batch_stream.h"
#include "data/prepare.h"
#include "tests/data/toy_corpora.h"
#include "tests/tokenizer/sample_text.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

/// The words of the toy language linked with their translations.
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

  /// Expects of an epoch's batches that source and target pieces are linked where their words are.
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
  /// Of each piece of a sentence, </s> apart: how many words began before it, less one.
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

TEST_F(Alignments, LinksAreLeftOutWhereTheEncodedTextIsAnother) {
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
  EXPECT_THAT(message("0-0\n"), HasSubstr(file + " has 1 line but "));
  const auto with_third = [](const std::string& third) {
    std::string text;
    for (int line = 1; line <= 300; ++line) text += line == 3 ? third : "0-0\n";
    return text;
  };
  EXPECT_EQ(message(with_third("\n")), "");
  EXPECT_EQ(message(with_third("0-0 x\n")),
            file + ":3: 'x' is not a pair of word numbers like 0-2");
  EXPECT_THAT(message(with_third("0-200 0-100\n")),
              HasSubstr(file + ":3: word 200 of the target line, counted from 0, but it has "));
  data.guided_alignment.pop_back();
  EXPECT_THAT(message_of<UsageError>([&] { data.check(); }), HasSubstr("--guided-alignment"));
}

}  // namespace
}  // namespace dragoman
