#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

enum class Mask { Padding, Causal };

/// One shape of the attention: every row of every head of every sentence.
struct Shape {
  std::vector<std::int32_t> lengths;
  std::int64_t queries, keys;
  Mask mask = Mask::Padding;
  std::int64_t heads = 2;
  float scale = 0.375F;

  std::int64_t rows() const { return static_cast<std::int64_t>(lengths.size()) * heads * queries; }
  /// Keys that the row may see.
  std::int64_t visible(std::int64_t row) const {
    const std::int64_t length = lengths[row / queries / heads];
    return mask == Mask::Causal ? std::min(length, row % queries + 1) : length;
  }
  /// The reference's softmax.
  reference::Numbers weights(const Elements& scores) const {
    std::vector<std::int64_t> lengths_of_rows;
    for (std::int64_t row = 0; row < rows(); ++row) lengths_of_rows.push_back(visible(row));
    return reference::attention_weights(scores.values(), lengths_of_rows, keys,
                                        static_cast<double>(scale));
  }
  std::string at(std::int64_t i) const {
    return "keys " + std::to_string(keys) + ", row " + std::to_string(i / keys) + ", key " +
           std::to_string(i % keys);
  }
};

class AttentionWeightsKernel : public KernelTest {
 protected:
  struct Result {
    Elements weights, dropped;
  };

  /// Scores in [-range, range), and NaN where nothing may look.
  Elements scores_of(const Shape& shape, double range = 8) {
    std::vector<double> values = uniform_values(random_, shape.rows() * shape.keys, range);
    for (std::int64_t row = 0; row < shape.rows(); ++row)
      for (std::int64_t s = shape.visible(row); s < shape.keys; ++s)
        values[row * shape.keys + s] = kNaN;
    return {type(), values};
  }

  DropoutRule rule(const Shape& shape) {
    keys_ = random_keys(random_, shape.rows() / shape.heads);
    return {keys_.data(), 5, 77, shape.heads, shape.queries};
  }

  AttentionWeightsArguments arguments(const Shape& shape, Elements& scores, Result& result,
                                      const DropoutRule& dropout) const {
    return {.scores = scores.data(),
            .weights = result.weights.data(),
            .dropped = dropout.row_keys ? result.dropped.data() : result.weights.data(),
            .key_lengths = shape.lengths.data(),
            .heads = shape.heads,
            .queries = shape.queries,
            .keys = shape.keys,
            .scale = shape.scale,
            .causal = shape.mask == Mask::Causal,
            .dropout = dropout};
  }

  Result run(const Shape& shape, Elements& scores, const DropoutRule& dropout) const {
    Result result{{type(), scores.size()}, {type(), scores.size()}};
    table().attention_weights[index()](arguments(shape, scores, result, dropout), 0, shape.rows());
    return result;
  }

  /// Rounding of one weight in [0, 1].
  double tolerance() const { return is_float() ? 1e-6 : 1.0 / 256; }

  void expect_softmax(const Shape& shape) {
    Elements scores = scores_of(shape);
    const Result result = run(shape, scores, {});
    EXPECT_TRUE(result.weights.guards_stand());
    const reference::Numbers expected = shape.weights(scores);
    for (std::int64_t row = 0; row < shape.rows(); ++row) {
      const std::int64_t at = row * shape.keys;
      double sum = 0;
      for (std::int64_t s = 0; s < shape.keys; ++s) {
        sum += result.weights[at + s];
        ASSERT_NEAR(result.weights[at + s], expected[at + s], tolerance() * expected[at + s] + 1e-9)
            << shape.at(at + s);
        if (s >= shape.visible(row)) {
          ASSERT_EQ(result.weights[at + s], 0);
        }
      }
      ASSERT_NEAR(sum, 1, tolerance());
    }
  }

  std::vector<std::int32_t> keys_;
};

TEST_P(AttentionWeightsKernel, WeightsAreTheSoftmaxOverTheKeysOfTheSentence) {
  for (std::int64_t keys = 1; keys <= 70; ++keys) {
    const auto longest = static_cast<std::int32_t>(keys);
    for (const Mask mask : {Mask::Padding, Mask::Causal})
      expect_softmax({.lengths = {longest, (longest + 1) / 2, 1},
                      .queries = std::min<std::int64_t>(keys, 9),
                      .keys = keys,
                      .mask = mask});
  }
}

TEST_P(AttentionWeightsKernel, KeysBeyondALengthAreHidden) {
  for (const std::int64_t keys : {17, 70}) {
    Shape shape{.lengths = {}, .queries = 3, .keys = keys};
    for (std::int32_t length = 1; length <= keys; ++length) shape.lengths.push_back(length);
    expect_softmax(shape);
  }
}

TEST_P(AttentionWeightsKernel, ACausalMaskHidesLaterKeysFromEveryQuery) {
  expect_softmax({.lengths = {70, 33}, .queries = 70, .keys = 70, .mask = Mask::Causal});
}

TEST_P(AttentionWeightsKernel, LargeScoresDoNoHarm) {
  for (const double size : {0.0, 80.0, -80.0, 3e4, -3e4}) {
    const Shape shape{.lengths = {19}, .queries = 1, .keys = 19, .heads = 1, .scale = 1};
    std::vector<double> values(19, size);
    values[17] = size + std::abs(size) / 2;
    Elements scores(type(), values);
    const Result result = run(shape, scores, {});
    const reference::Numbers expected = shape.weights(scores);
    for (std::int64_t s = 0; s < 19; ++s)
      EXPECT_NEAR(result.weights[s], expected[s], tolerance() * expected[s] + 1e-30) << size;
  }
}

TEST_P(AttentionWeightsKernel, NotANumberIsShownWhereItMayBeSeen) {
  const Shape shape{.lengths = {19}, .queries = 1, .keys = 21, .heads = 1};
  for (const std::int64_t index : {0, 7, 18}) {
    std::vector<double> values(21, 1);
    values[index] = kNaN;
    Elements scores(type(), values);
    const Result result = run(shape, scores, {});
    for (std::int64_t s = 0; s < 21; ++s) EXPECT_EQ(std::isnan(result.weights[s]), s < 19);
  }
}

TEST_P(AttentionWeightsKernel, WeightsAreDroppedAfterTheSoftmax) {
  for (const std::int64_t keys : {1, 3, 16, 17, 63, 64, 65, 130}) {
    const Shape shape{.lengths = {static_cast<std::int32_t>(keys), 1},
                      .queries = 5,
                      .keys = keys,
                      .mask = keys % 2 ? Mask::Padding : Mask::Causal};
    const DropoutRule dropout = rule(shape);
    Elements scores = scores_of(shape);
    const Result plain = run(shape, scores, {}), result = run(shape, scores, dropout);
    EXPECT_EQ(result.weights, plain.weights);
    EXPECT_TRUE(result.dropped.guards_stand());
    for (std::int64_t i = 0; i < scores.size(); ++i) {
      const double factor = reference::dropout_factor(dropout, i / keys, i % keys);
      // Both were rounded from the same exact weight.
      EXPECT_NEAR(result.dropped[i], plain.weights[i] * factor,
                  2 * tolerance() * plain.weights[i] * factor)
          << shape.at(i);
    }
  }
}

TEST_P(AttentionWeightsKernel, TheGradientIsTheFormulas) {
  for (const bool drops : {false, true})
    for (const std::int64_t keys : {1, 3, 15, 16, 17, 63, 64, 65, 70, 130}) {
      const Shape shape{.lengths = {static_cast<std::int32_t>(keys), keys % 2 ? 1 : 2},
                        .queries = 3,
                        .keys = keys,
                        .mask = keys % 3 ? Mask::Padding : Mask::Causal};
      const DropoutRule dropout = drops ? rule(shape) : DropoutRule{};
      Elements scores = scores_of(shape, 2), d_dropped = random_elements(scores.size(), 1);
      Result result = run(shape, scores, dropout);
      Elements d_scores(type(), scores.size()), over = d_dropped;
      const auto gradient = [&](Elements& d, Elements& to) {
        table().attention_weights_gradient[index()](
            {result.weights.data(), d.data(), to.data(), keys, shape.scale, dropout}, 0,
            shape.rows());
      };
      gradient(d_dropped, d_scores);
      gradient(over, over);
      EXPECT_EQ(over, d_scores);
      EXPECT_TRUE(d_scores.guards_stand());
      const reference::Numbers expected =
          reference::attention_weights_gradient(shape.weights(scores), d_dropped.values(), keys,
                                                static_cast<double>(shape.scale), dropout);
      for (std::int64_t i = 0; i < scores.size(); ++i)
        ASSERT_NEAR(d_scores[i], expected[i], is_float() ? 1e-6 : 4e-3) << shape.at(i);
    }
}

TEST_P(AttentionWeightsKernel, RowsDoNotDependOnHowTheyAreSplit) {
  const Shape shape{.lengths = {70, 33, 5}, .queries = 7, .keys = 70, .mask = Mask::Causal};
  const DropoutRule dropout = rule(shape);
  Elements scores = scores_of(shape), d_dropped = random_elements(scores.size());
  const Elements fresh(type(), scores.size());
  Result other{fresh, fresh};
  expect_same_when_split<AttentionWeightsArguments>(
      table().attention_weights,
      [&](Elements& dropped) {
        auto all = arguments(shape, scores, other, dropout);
        all.dropped = dropped.data();
        return all;
      },
      fresh, shape.rows());
  expect_same_when_split<AttentionWeightsArguments>(
      table().attention_weights,
      [&](Elements& weights) {
        auto all = arguments(shape, scores, other, dropout);
        all.weights = weights.data();
        return all;
      },
      fresh, shape.rows());
  expect_same_when_split<AttentionWeightsGradientArguments>(
      table().attention_weights_gradient,
      [&](Elements& d_scores) {
        return AttentionWeightsGradientArguments{other.weights.data(), d_dropped.data(),
                                                 d_scores.data(),      shape.keys,
                                                 shape.scale,          dropout};
      },
      fresh, shape.rows());
}

DRAGOMAN_FOR_EACH_KERNEL_TABLE(AttentionWeightsKernel);

}  // namespace
}  // namespace dragoman
