#include "model/ops/embedding.h"

#include "tests/model/ops/expect_same.h"

namespace dragoman {
namespace {

constexpr std::int64_t kColumns = 70;

TEST(Embed, EmbeddingsAreScaledRowsOrTheZeroVector) {
  const auto tokens = torch::tensor({3, -1, 0, 3, 6, -1, 3}, torch::kInt64).to(test_device());
  const auto table = closed_form({7, kColumns});
  const auto rows = embed(tokens, table, 4);
  EXPECT_TRUE(rows[0].equal(table[3] * 4));
  EXPECT_EQ(rows[1].count_nonzero().item<std::int64_t>(), 0);
  expect_same([&](const auto& weight) { return embed(tokens, weight, 4); },
              [&](const auto& weight) { return embed_reference(tokens, weight, 4); }, table);
}

TEST(Embed, ATokenOutsideOfTheVocabularyIsRefused) {
  if (!test_device().is_cpu()) GTEST_SKIP() << "CUDA would have to be restarted";
  EXPECT_THROW(embed(torch::tensor({1, 7}, torch::kInt64), closed_form({7, kColumns}), 4),
               c10::IndexError);
}

TEST(Embed, TheGradientOfAFrequentTokenIsSummedInFp32) {
  const auto tokens = torch::zeros({1024}, torch::kInt64).to(test_device());
  const auto weight = closed_form({2, 3}).to(torch::kBFloat16).requires_grad_();
  embed(tokens, weight, 1).sum().backward();
  // Summed in bf16, it would have stopped at 256.
  EXPECT_TRUE(weight.grad().select(0, 0).eq(1024).all().item<bool>());
  EXPECT_TRUE(weight.grad().select(0, 1).eq(0).all().item<bool>());
}

}  // namespace
}  // namespace dragoman
