#include <pthread.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

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
