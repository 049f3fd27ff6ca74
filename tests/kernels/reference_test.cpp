// The reference's gradients are the slopes of its values, by central differences.
#include "tests/kernels/reference.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/random.h"
#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

using reference::Numbers;

class Reference : public testing::Test {
 protected:
  Numbers values(std::int64_t count) { return uniform_values(random_, count, 2); }

  /// `gradient` is that of value() with respect to each of x, which value() reads.
  static void expect_slopes(Numbers& x, const Numbers& gradient,
                            const std::function<double()>& value) {
    constexpr double kStep = 1e-5;
    ASSERT_EQ(x.size(), gradient.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double before = x[i];
      x[i] = before + kStep;
      const double above = value();
      x[i] = before - kStep;
      EXPECT_NEAR(gradient[i], (above - value()) / (2 * kStep), 1e-8) << i;
      x[i] = before;
    }
  }

  RandomStream random_{5};
};

TEST_F(Reference, TheGradientOfTheLossIsItsSlope) {
  for (const double smoothing : {0.0, 0.1}) {
    Numbers logits = values(9);
    expect_slopes(logits, reference::cross_entropy_gradient(logits, 4, smoothing),
                  [&] { return reference::cross_entropy(logits, 4, smoothing); });
  }
}

TEST_F(Reference, TheGradientOfAnOutputProjectionsLossIsItsSlope) {
  const Numbers logits = values(9);
  const auto [total, y] = reference::projected_loss(logits, 4, 0.1);
  const Numbers gradient = reference::cross_entropy_gradient(logits, 4, 0.1);
  for (std::size_t c = 0; c < y.size(); ++c)
    EXPECT_NEAR(y[c] / total - 0.1 / 9, gradient[c], 1e-12);
}

TEST_F(Reference, TheGradientOfAttentionWeightsIsTheirSlope) {
  const std::vector<std::int32_t> keys = random_keys(random_, 3);
  const DropoutRule site{keys.data(), 5, 77, 1, 3};
  const std::vector<std::int64_t> visible = {7, 3, 1};
  Numbers scores = values(21);
  const Numbers d_dropped = values(21);
  const auto weights = [&] { return reference::attention_weights(scores, visible, 7, 0.375); };
  expect_slopes(scores, reference::attention_weights_gradient(weights(), d_dropped, 7, 0.375, site),
                [&] { return reference::dot(reference::dropout(weights(), 7, site), d_dropped); });
}

TEST_F(Reference, TheGradientOfPackedAttentionIsItsSlope) {
  for (const bool causal : {false, true}) {
    const reference::PackedShape shape{
        .query_starts = {0, 1, 4}, .key_starts = {0, 1, 4}, .heads = 2, .d_k = 3, .causal = causal};
    const std::vector<std::int32_t> keys = random_keys(random_, 4);
    const DropoutRule site{keys.data(), 9, 64, 2, 4};
    reference::PackedInputs in{values(24), values(24), values(24), values(24)};
    const auto results = [&] { return reference::packed_attention(shape, in, site); };
    const auto value = [&] { return reference::dot(results().output, in.d_output); };
    const reference::PackedResults gradients = results();
    expect_slopes(in.q, gradients.dq, value);
    expect_slopes(in.k, gradients.dk, value);
    expect_slopes(in.v, gradients.dv, value);
  }
}

TEST_F(Reference, TheGradientOfLayerNormalisationIsItsSlope) {
  constexpr double kEpsilon = 1e-5;
  Numbers x = values(9);
  const Numbers gain = values(9), dy = values(9);
  const auto value = [&] {
    const Numbers normalized = reference::normalized(x, reference::statistics(x, kEpsilon));
    double sum = 0;
    for (std::size_t c = 0; c < x.size(); ++c) sum += normalized[c] * gain[c] * dy[c];
    return sum;
  };
  expect_slopes(x, reference::norm_gradient(dy, gain, x, reference::statistics(x, kEpsilon)),
                value);
}

}  // namespace
}  // namespace dragoman
