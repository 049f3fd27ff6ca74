#include <algorithm>

#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

class EmbeddingGradientKernel : public KernelTest {
 protected:
  static constexpr std::int64_t kVocabulary = 7;

  /// Repeated tokens, token -1, and token 4 never.
  const std::vector<std::int64_t> tokens_ = {3, -1, 0, 6, 3, 3, -1, 5, 1, 2, 6, 3};
  const std::int64_t count_ = static_cast<std::int64_t>(tokens_.size());

  EmbeddingGradientArguments arguments(Elements& d_output, Elements& gradient) const {
    return {d_output.data(), tokens_.data(),           static_cast<float*>(gradient.data()),
            count_,          d_output.size() / count_, 1.5F};
  }
};

TEST_P(EmbeddingGradientKernel, AddsEachTokensRowsToWhatIsThere) {
  for (const std::int64_t columns : {1, 3, 15, 16, 17, 63, 64, 65, 130}) {
    Elements d_output = random_elements(count_ * columns);
    const Elements before(ElementType::Float32, uniform_values(random_, kVocabulary * columns, 3));
    Elements gradient = before;
    table().embedding_gradient[index()](arguments(d_output, gradient), 0, columns);
    EXPECT_TRUE(gradient.guards_stand());
    for (std::int64_t token = 0; token < kVocabulary; ++token)
      for (std::int64_t c = 0; c < columns; ++c) {
        double expected = before[token * columns + c];
        for (std::int64_t n = 0; n < count_; ++n)
          if (tokens_[n] == token) expected += 1.5 * d_output[n * columns + c];
        // Summed in fp32 for both element types.
        EXPECT_NEAR(gradient[token * columns + c], expected, 5e-6);
        if (token == 4) {
          EXPECT_EQ(gradient[token * columns + c], before[token * columns + c]);
        }
      }
  }
}

TEST_P(EmbeddingGradientKernel, ColumnsDoNotDependOnHowTheyAreSplit) {
  constexpr std::int64_t columns = 67;
  Elements d_output = random_elements(count_ * columns);
  const Elements before(ElementType::Float32, uniform_values(random_, kVocabulary * columns, 3));
  expect_same_in_pieces<EmbeddingGradientArguments>(
      table().embedding_gradient, [&](Elements& gradient) { return arguments(d_output, gradient); },
      before, columns);
}

DRAGOMAN_FOR_EACH_KERNEL_TABLE(EmbeddingGradientKernel);

}  // namespace
}  // namespace dragoman
