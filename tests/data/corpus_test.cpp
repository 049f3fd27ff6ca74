#include "data/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/data/corpus_of.h"
#include "tests/folder_test.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using CorpusFileTest = FolderTest;

void expect_holds(const Corpus& corpus, const std::vector<TokenPair>& pairs) {
  ASSERT_EQ(corpus.pairs(), static_cast<std::int64_t>(pairs.size()));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto pair = static_cast<std::int64_t>(i);
    EXPECT_EQ(corpus.source(pair), pairs[i].first);
    EXPECT_EQ(corpus.target(pair), pairs[i].second);
    EXPECT_EQ(corpus.lengths(pair).source, static_cast<std::int32_t>(pairs[i].first.size()));
    EXPECT_EQ(corpus.lengths(pair).target, static_cast<std::int32_t>(pairs[i].second.size()));
    EXPECT_EQ(corpus.line(pair), 3 * pair);
  }
}

TEST_F(CorpusFileTest, AFileHoldsAnyNumberOfPairs) {
  for (const int count : {0, 1, 1023, 1024, 1025, 3000})
    expect_holds(corpus_of(random_pairs(count, 12)), random_pairs(count, 12));
}

TEST_F(CorpusFileTest, AFileHoldsTheLargestIdsOfNarrowAndWideVocabularies) {
  for (const TokenId vocab_size : {1 << 16, (1 << 16) + 1, 1'000'000}) {
    const std::vector<TokenPair> pairs = {{{0, vocab_size - 1}, {vocab_size - 1}}, {{}, {1}}};
    expect_holds(corpus_of(pairs, vocab_size), pairs);
  }
}

TEST_F(CorpusFileTest, AFileHoldsTheFactsAboutAllPairs) {
  CorpusFacts facts{.report = {.read = 9, .kept = 1, .held_out = 2, .ratio = 6, .target_tokens = 3},
                    .held_out_source = {"a \"quoted\" line", "ü\t"},
                    .held_out_target = {"x", ""}};
  write("file", corpus_bytes(random_pairs(5, 3), 1000, facts));
  const auto storage = Corpus::Storage::open(folder / "file", 2);
  EXPECT_EQ(storage->facts().report, facts.report);
  EXPECT_EQ(storage->facts().held_out_source, facts.held_out_source);
  EXPECT_EQ(storage->facts().held_out_target, facts.held_out_target);
}

TEST_F(CorpusFileTest, AFileHoldsManySections) {
  const auto pairs = random_pairs(20'000, 150);
  const std::string bytes = corpus_bytes(pairs, 1000);
  ASSERT_GT(bytes.size(), std::size_t{5} << 20);
  write("file", bytes);
  const Corpus corpus(Corpus::Storage::open(folder / "file", 2));
  for (std::size_t i = 0; i < pairs.size(); i += 501)
    EXPECT_EQ(corpus.target(static_cast<std::int64_t>(i)), pairs[i].second);
}

TEST_F(CorpusFileTest, AChangeOfAnyByteIsFound) {
  const std::string bytes =
      corpus_bytes(random_pairs(30, 5), 1000,
                   {.report = {.read = 7}, .held_out_source = {}, .held_out_target = {}});
  for (std::size_t at = 0; at < bytes.size(); at += at + 150 < bytes.size() ? 7 : 1) {
    std::string damaged = bytes;
    damaged[at] ^= 4;
    EXPECT_THROW(Corpus::Storage::from_bytes(damaged), Error) << "byte " << at;
  }
}

TEST_F(CorpusFileTest, AFileCutShortAnywhereIsFound) {
  const std::string bytes = corpus_bytes(random_pairs(30, 5), 1000);
  for (std::size_t size = 0; size < bytes.size(); size += 13)
    EXPECT_THROW(Corpus::Storage::from_bytes(bytes.substr(0, size)), Error) << size;
  EXPECT_THROW(Corpus::Storage::from_bytes(bytes + "x"), Error);
  write("file", bytes.substr(0, bytes.size() / 2));
  EXPECT_THAT(message_of<Error>([&] { Corpus::Storage::open(folder / "file", 1); }),
              Names("file ... cut short"));
}

TEST_F(CorpusFileTest, ACorpusOutlivesTheOneItWasCopiedFrom) {
  Corpus copy;
  EXPECT_EQ(copy.pairs(), 0);
  const auto pairs = random_pairs(10, 5);
  {
    const Corpus corpus = corpus_of(pairs);
    copy = corpus;
  }
  expect_holds(copy, pairs);
}

}  // namespace
}  // namespace dragoman
