#include <cmath>
#include <string>
#include <vector>

#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

class EmbeddingKernel : public KernelTest {};

TEST_P(EmbeddingKernel, RowsOfTokensAreScaledAndThoseWithoutATokenAreZero) {
  const std::vector<std::int64_t> tokens = {3, -1, 0, 3, 6};
  for (const std::int64_t columns : {1, 3, 15, 16, 17, 130}) {
    Elements weight = random_elements(7 * columns);
    Elements y(type(), static_cast<std::int64_t>(tokens.size()) * columns);
    run_rows(table().embedding, type(),
             EmbeddingArguments{weight.data(), tokens.data(), y.data(), columns, 1.5F},
             static_cast<std::int64_t>(tokens.size()), 2);
    EXPECT_TRUE(y.guards_stand());
    const auto expected = reference::embedding(weight.values(), tokens, columns, 1.5);
    for (std::int64_t i = 0; i < y.size(); ++i)
      expect_rounded(y[i], expected[i],
                     "columns " + std::to_string(columns) + ", index " + std::to_string(i));
  }
}

class EmbeddingGradientKernel : public KernelTest {
 protected:
  static constexpr std::int64_t kVocabulary = 7, kRows = 12;

  /// Rows 1 and 6 belong to no token, and token 4 has no row.
  const std::vector<std::int64_t> tokens_ = {0, 1, 2, 3, 5, 6};
  const std::vector<std::int64_t> starts_ = {0, 1, 2, 3, 7, 8, 10};
  const std::vector<std::int64_t> order_ = {2, 8, 9, 0, 4, 5, 11, 7, 3, 10};

  EmbeddingGradientArguments arguments(Elements& d_output, Elements& gradient) const {
    return {d_output.data(),         order_.data(), starts_.data(), tokens_.data(), gradient.data(),
            d_output.size() / kRows, 1.5F};
  }
};

TEST_P(EmbeddingGradientKernel, TheGradientIsTheSumOfEachTokensRows) {
  for (const std::int64_t columns : {1, 3, 15, 16, 17, 63, 64, 65, 130}) {
    Elements d_output = random_elements(kRows * columns);
    const Elements before = random_elements(kVocabulary * columns);
    Elements gradient = before;
    table().embedding_gradient[index()](arguments(d_output, gradient), 0,
                                        static_cast<std::int64_t>(tokens_.size()));
    EXPECT_TRUE(gradient.guards_stand());
    const auto expected =
        reference::embedding_gradient(d_output.values(), order_, starts_, columns, 1.5);
    for (std::size_t g = 0; g < tokens_.size(); ++g)
      for (std::int64_t c = 0; c < columns; ++c)
        expect_rounded(gradient[tokens_[g] * columns + c], expected[g * columns + c],
                       "token " + std::to_string(tokens_[g]) + ", column " + std::to_string(c));
    for (std::int64_t c = 0; c < columns; ++c)
      EXPECT_EQ(gradient[4 * columns + c], before[4 * columns + c]);
  }
}

TEST_P(EmbeddingGradientKernel, TokensDoNotDependOnHowTheyAreSplit) {
  constexpr std::int64_t columns = 67;
  Elements d_output = random_elements(kRows * columns);
  expect_same_when_split<EmbeddingGradientArguments>(
      table().embedding_gradient, [&](Elements& gradient) { return arguments(d_output, gradient); },
      random_elements(kVocabulary * columns), static_cast<std::int64_t>(tokens_.size()));
}

DRAGOMAN_FOR_EACH_KERNEL_TABLE(EmbeddingKernel);
DRAGOMAN_FOR_EACH_KERNEL_TABLE(EmbeddingGradientKernel);

// Sums of columns

class ColumnSumsKernel : public KernelTest {
 protected:
  /// More rows than are summed at once.
  static constexpr std::int64_t kRows = 131;

  static ColumnSumsArguments arguments(Elements& x, Elements& sums) {
    return {x.data(), sums.data(), kRows, sums.size()};
  }
};

TEST_P(ColumnSumsKernel, AllRowsAreAddedUp) {
  for (const std::int64_t columns : {1, 3, 15, 16, 17, 64, 127, 128, 129, 260}) {
    auto values = uniform_values(random_, kRows * columns, 3);
    for (double& value : values) value = std::round(8 * value) / 8;  // whose sums fp32 has exactly
    Elements x(type(), values), sums(type(), columns);
    run_rows(table().column_sums, type(), arguments(x, sums),
             (columns + kColumnBlock - 1) / kColumnBlock, 1);
    EXPECT_TRUE(sums.guards_stand());
    const reference::Numbers expected = reference::column_sums(x.values(), columns);
    for (std::int64_t c = 0; c < columns; ++c)
      expect_rounded(sums[c], expected[c], "column " + std::to_string(c));
  }
}

TEST_P(ColumnSumsKernel, BlocksDoNotDependOnHowTheyAreSplit) {
  constexpr std::int64_t columns = 3 * kColumnBlock - 5;
  Elements x = random_elements(kRows * columns);
  expect_same_when_split<ColumnSumsArguments>(
      table().column_sums, [&](Elements& sums) { return arguments(x, sums); },
      Elements(type(), columns), 3);
}

DRAGOMAN_FOR_EACH_KERNEL_TABLE(ColumnSumsKernel);

}  // namespace
}  // namespace dragoman
