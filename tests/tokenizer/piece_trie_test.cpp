#include "tokenizer/piece_trie.h"

#include <gtest/gtest.h>

#include "tests/tokenizer/sample_text.h"

namespace dragoman {
namespace {

TEST(PieceTrie, AllPiecesThatATextStartsWithAreFound) {
  PieceTrie trie;
  const auto words = sample_text(300);
  for (std::size_t i = 0; i < words.size(); ++i)
    trie.add(words[i].substr(0, 1 + i % 17), static_cast<TokenId>(i % 17));
  for (const std::string& word : words) {
    std::vector<std::size_t> expected, found;
    for (std::size_t size = 1; size <= word.size(); ++size)
      if (trie.find(word.substr(0, size))) expected.push_back(size);
    trie.for_each_prefix(word, [&](std::size_t size, TokenId id) {
      found.push_back(size);
      EXPECT_EQ(static_cast<std::size_t>(id) + 1, size);
    });
    EXPECT_EQ(found, expected);
    EXPECT_FALSE(found.empty());
  }
  EXPECT_FALSE(trie.find("no"));
  EXPECT_FALSE(trie.find(""));
}

}  // namespace
}  // namespace dragoman
