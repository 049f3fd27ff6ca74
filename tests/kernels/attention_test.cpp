#include <pthread.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

// Attention weights

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

enum class Mask { Padding, Causal };

/// One shape of the scores: every row of every head of every sentence.
struct ScoresShape {
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

  /// Scores in [-range, range), and NaN at keys that no query may see.
  Elements scores_of(const ScoresShape& shape, double range = 8) {
    std::vector<double> values = uniform_values(random_, shape.rows() * shape.keys, range);
    for (std::int64_t row = 0; row < shape.rows(); ++row)
      for (std::int64_t s = shape.visible(row); s < shape.keys; ++s)
        values[row * shape.keys + s] = kNaN;
    return {type(), values};
  }

  DropoutRule rule(const ScoresShape& shape) {
    keys_ = random_keys(random_, shape.rows() / shape.heads);
    return {keys_.data(), 5, 77, shape.heads, shape.queries};
  }

  AttentionWeightsArguments arguments(const ScoresShape& shape, Elements& scores, Result& result,
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

  Result run(const ScoresShape& shape, Elements& scores, const DropoutRule& dropout) const {
    Result result{{type(), scores.size()}, {type(), scores.size()}};
    table().attention_weights[index()](arguments(shape, scores, result, dropout), 0, shape.rows());
    return result;
  }

  /// Rounding of one weight in [0, 1].
  double tolerance() const { return is_float() ? 1e-6 : 1.0 / 256; }

  void expect_softmax(const ScoresShape& shape) {
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
    ScoresShape shape{.lengths = {}, .queries = 3, .keys = keys};
    for (std::int32_t length = 1; length <= keys; ++length) shape.lengths.push_back(length);
    expect_softmax(shape);
  }
}

TEST_P(AttentionWeightsKernel, ACausalMaskHidesLaterKeysFromEveryQuery) {
  expect_softmax({.lengths = {70, 33}, .queries = 70, .keys = 70, .mask = Mask::Causal});
}

TEST_P(AttentionWeightsKernel, LargeScoresDoNoHarm) {
  for (const double size : {0.0, 80.0, -80.0, 3e4, -3e4}) {
    const ScoresShape shape{.lengths = {19}, .queries = 1, .keys = 19, .heads = 1, .scale = 1};
    std::vector<double> values(19, size);
    values[17] = size + std::abs(size) / 2;
    Elements scores(type(), values);
    const Result result = run(shape, scores, {});
    const reference::Numbers expected = shape.weights(scores);
    for (std::int64_t s = 0; s < 19; ++s)
      EXPECT_NEAR(result.weights[s], expected[s], tolerance() * expected[s] + 1e-30) << size;
  }
}

TEST_P(AttentionWeightsKernel, NotANumberIsShownIfItMayBeSeen) {
  const ScoresShape shape{.lengths = {19}, .queries = 1, .keys = 21, .heads = 1};
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
    const ScoresShape shape{.lengths = {static_cast<std::int32_t>(keys), 1},
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
      const ScoresShape shape{.lengths = {static_cast<std::int32_t>(keys), keys % 2 ? 1 : 2},
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
  const ScoresShape shape{.lengths = {70, 33, 5}, .queries = 7, .keys = 70, .mask = Mask::Causal};
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

// Attention of a packed batch

struct Shape : reference::PackedShape {
  std::int64_t sentences() const { return static_cast<std::int64_t>(query_starts.size()) - 1; }
  std::int64_t tasks() const { return sentences() * heads; }
  std::int64_t queries() const { return query_starts.back(); }
  std::int64_t keys() const { return key_starts.back(); }
  std::int64_t longest_keys() const {
    std::int64_t longest = 0;
    for (std::size_t b = 1; b < key_starts.size(); ++b)
      longest = std::max<std::int64_t>(longest, key_starts[b] - key_starts[b - 1]);
    return longest;
  }
};

/// All of one attention's tensors, forward and backward.
struct Tensors {
  Elements q, k, v, d_output;
  Elements output, dq, dk, dv;
  std::vector<float> log_sums;
};

class PackedAttentionKernel : public KernelTest {
 protected:
  Tensors random_tensors(const Shape& shape) {
    const std::int64_t n = shape.queries() * shape.width(), m = shape.keys() * shape.width();
    return {random_elements(n, 2),
            random_elements(m, 2),
            random_elements(m, 2),
            random_elements(n, 1),
            {type(), n},
            {type(), n},
            {type(), m},
            {type(), m},
            std::vector<float>(static_cast<std::size_t>(shape.queries() * shape.heads))};
  }

  DropoutRule rule(const Shape& shape) {
    keys_ = random_keys(random_, shape.queries());
    return {keys_.data(), 9, 64, shape.heads, shape.queries()};
  }

  PackedAttentionArguments forward(const Shape& shape, Tensors& t,
                                   const DropoutRule& dropout) const {
    return {.q = t.q.data(),
            .k = t.k.data(),
            .v = t.v.data(),
            .output = t.output.data(),
            .log_sums = t.log_sums.data(),
            .query_starts = shape.query_starts.data(),
            .key_starts = shape.key_starts.data(),
            .heads = shape.heads,
            .d_k = shape.d_k,
            .query_stride = shape.width(),
            .key_stride = shape.width(),
            .longest_keys = shape.longest_keys(),
            .scale = static_cast<float>(shape.scale()),
            .causal = shape.causal,
            .dropout = dropout};
  }

  PackedAttentionGradientArguments backward(const Shape& shape, Tensors& t,
                                            const DropoutRule& dropout) const {
    return {forward(shape, t, dropout), t.d_output.data(), t.dq.data(), t.dk.data(), t.dv.data()};
  }

  void expect_near(const Elements& actual, const std::vector<double>& expected,
                   const std::string& what) const {
    EXPECT_TRUE(actual.guards_stand()) << what;
    const double relative = is_float() ? 1e-5 : 1.0 / 256;
    for (std::int64_t i = 0; i < actual.size(); ++i)
      ASSERT_NEAR(actual[i], expected[i], relative * std::max(std::abs(expected[i]), 1.0) + 1e-5)
          << what << " " << i;
  }

  void expect_formula(const Shape& shape) {
    for (const bool drops : {false, true}) {
      const DropoutRule dropout = drops ? rule(shape) : DropoutRule{.heads = shape.heads};
      Tensors t = random_tensors(shape);
      table().packed_attention[index()](forward(shape, t, dropout), 0, shape.tasks());
      table().packed_attention_gradient[index()](backward(shape, t, dropout), 0, shape.tasks());
      const reference::PackedResults expected = reference::packed_attention(
          shape, {t.q.values(), t.k.values(), t.v.values(), t.d_output.values()}, dropout);
      expect_near(t.output, expected.output, "output");
      expect_near(t.dq, expected.dq, "dq");
      expect_near(t.dk, expected.dk, "dk");
      expect_near(t.dv, expected.dv, "dv");
    }
  }

  std::vector<std::int32_t> keys_;
};

TEST_P(PackedAttentionKernel, TheKernelIsEquationOneAndItsGradient) {
  for (const std::int64_t d_k : {1, 8, 16, 20, 32, 64})
    expect_formula(
        {{.query_starts = {0, 3, 4, 21}, .key_starts = {0, 1, 18, 51}, .heads = 2, .d_k = d_k}});
}

TEST_P(PackedAttentionKernel, ACausalMaskHidesLaterKeys) {
  expect_formula({{.query_starts = {0, 1, 18, 51},
                   .key_starts = {0, 1, 18, 51},
                   .heads = 3,
                   .d_k = 20,
                   .causal = true}});
}

TEST_P(PackedAttentionKernel, ASentenceMayReachOverTheBlocksOfDropout) {
  expect_formula({{.query_starts = {0, 2}, .key_starts = {0, 131}, .heads = 1, .d_k = 16}});
}

/// Runs the task on a thread with a stack of 256 KiB.
void run_on_small_stack(std::function<void()> task) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 256 << 10), 0);
  pthread_t thread;
  const auto body = [](void* call) -> void* {
    (*static_cast<std::function<void()>*>(call))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, body, &task), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST_P(PackedAttentionKernel, ALargestSentenceFitsASmallStack) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's frames are larger";
#endif
  const Shape shape{{.query_starts = {0, 1}, .key_starts = {0, 512}, .heads = 1, .d_k = 128}};
  Tensors here = random_tensors(shape), there = here;
  const auto run = [&](Tensors& t) {
    table().packed_attention[index()](forward(shape, t, {.heads = 1}), 0, 1);
    table().packed_attention_gradient[index()](backward(shape, t, {.heads = 1}), 0, 1);
  };
  run(here);
  run_on_small_stack([&] { run(there); });
  for (std::int64_t i = 0; i < here.output.size(); ++i) EXPECT_EQ(there.output[i], here.output[i]);
}

TEST_P(PackedAttentionKernel, ALargestSentenceFitsTheStack) {
  ASSERT_TRUE(fits_packed_attention(512, 128));
  EXPECT_FALSE(fits_packed_attention(513, 1));
  EXPECT_FALSE(fits_packed_attention(512, 129));
  EXPECT_FALSE(fits_packed_attention(1, 513));
  expect_formula({{.query_starts = {0, 1}, .key_starts = {0, 512}, .heads = 1, .d_k = 128}});
}

TEST_P(PackedAttentionKernel, QueriesKeysAndValuesMayLieSideBySide) {
  const Shape shape{{.query_starts = {0, 5, 22},
                     .key_starts = {0, 5, 22},
                     .heads = 2,
                     .d_k = 20,
                     .causal = true}};
  const std::int64_t width = shape.width(), rows = shape.queries();
  const std::size_t size = is_float() ? 4 : 2;
  Tensors apart = random_tensors(shape);
  std::vector<double> values;
  for (std::int64_t n = 0; n < rows; ++n)
    for (const Elements* part : {&apart.q, &apart.k, &apart.v})
      for (std::int64_t d = 0; d < width; ++d) values.push_back((*part)[n * width + d]);
  Elements together(type(), values), gradient(type(), 3 * rows * width);
  table().packed_attention[index()](forward(shape, apart, {}), 0, shape.tasks());
  table().packed_attention_gradient[index()](backward(shape, apart, {}), 0, shape.tasks());

  Tensors joined = apart;
  auto arguments = backward(shape, joined, {});
  const auto column = [&](Elements& x, std::int64_t part) {
    return static_cast<char*>(x.data()) + static_cast<std::size_t>(part * width) * size;
  };
  arguments.forward.query_stride = arguments.forward.key_stride = 3 * width;
  arguments.forward.q = column(together, 0);
  arguments.forward.k = column(together, 1);
  arguments.forward.v = column(together, 2);
  arguments.dq = column(gradient, 0);
  arguments.dk = column(gradient, 1);
  arguments.dv = column(gradient, 2);
  table().packed_attention[index()](arguments.forward, 0, shape.tasks());
  table().packed_attention_gradient[index()](arguments, 0, shape.tasks());
  EXPECT_EQ(joined.output, apart.output);
  EXPECT_TRUE(gradient.guards_stand());
  for (std::int64_t n = 0; n < rows; ++n)
    for (std::int64_t d = 0; d < width; ++d) {
      ASSERT_EQ(gradient[n * 3 * width + d], apart.dq[n * width + d]);
      ASSERT_EQ(gradient[(n * 3 + 1) * width + d], apart.dk[n * width + d]);
      ASSERT_EQ(gradient[(n * 3 + 2) * width + d], apart.dv[n * width + d]);
    }
}

TEST_P(PackedAttentionKernel, TasksDoNotDependOnEachOther) {
  const Shape shape{
      {.query_starts = {0, 3, 4, 21}, .key_starts = {0, 1, 18, 51}, .heads = 2, .d_k = 20}};
  const DropoutRule dropout = rule(shape);
  Tensors t = random_tensors(shape);
  expect_same_when_split<PackedAttentionArguments>(
      table().packed_attention,
      [&](Elements& output) {
        PackedAttentionArguments arguments = forward(shape, t, dropout);
        arguments.output = output.data();
        return arguments;
      },
      t.output, shape.tasks());
  expect_same_when_split<PackedAttentionGradientArguments>(
      table().packed_attention_gradient,
      [&](Elements& dk) {
        PackedAttentionGradientArguments arguments = backward(shape, t, dropout);
        arguments.dk = dk.data();
        return arguments;
      },
      t.dk, shape.tasks());
}

DRAGOMAN_FOR_EACH_KERNEL_TABLE(PackedAttentionKernel);

}  // namespace
}  // namespace dragoman
