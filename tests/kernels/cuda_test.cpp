// The kernels for NVIDIA GPUs, on the CPU, beside those for the CPU: they have the same bits.
#include "kernels/cuda/dropout.h"
#include "tests/kernels/cuda_on_cpu.h"
#include "tests/kernels/kernel_test.h"
// Their source:
#include "kernels/cuda/dropout.cu"

#include <cmath>
#include <limits>

#include "base/threads.h"

namespace dragoman {
namespace {

constexpr std::int64_t kColumns[] = {1, 3, 7, 8, 9, 64, 65, 130, 200};

class CudaKernels : public KernelTest {
 protected:
  static constexpr std::int64_t kHeads = 3, kQueries = 5, kSentences = 2;
  static constexpr std::int64_t kRows = kHeads * kQueries * kSentences;

  DropoutRule rule(std::uint32_t threshold, std::int64_t heads = kHeads) const {
    return {keys_.data(), 9, threshold, heads, kRows / kSentences / heads};
  }

  /// Two thirds of a warp, so that rows begin in the middle of a block.
  template <class Arguments>
  void launch(void (*of_float)(Arguments), void (*of_bfloat)(Arguments), const Arguments& arguments,
              std::int64_t elements) {
    constexpr unsigned threads = 21;
    const auto blocks = static_cast<unsigned>(elements / threads + 1);
    cuda_on_cpu::run(blocks, threads, [&] { (is_float() ? of_float : of_bfloat)(arguments); });
  }

  void run_dropout(const void* x, const void* residual, void* y, std::int64_t columns,
                   const DropoutRule& rule, bool relu = false) {
    const CudaDropout arguments{.x = x,
                                .residual = residual,
                                .y = y,
                                .rows = kRows,
                                .columns = static_cast<unsigned>(columns),
                                .relu = relu,
                                .row_keys = rule.row_keys,
                                .site = rule.site,
                                .threshold = rule.threshold,
                                .heads = static_cast<unsigned>(rule.heads),
                                .queries = static_cast<unsigned>(rule.queries),
                                .scale = rule.scale()};
    launch(&cuda_kernels::dropout_float32, &cuda_kernels::dropout_bfloat16, arguments,
           kRows * divide_up<std::int64_t>(columns, kCudaColumns));
  }

  std::vector<std::int32_t> keys_ = random_keys(random_, kRows);
};

TEST_P(CudaKernels, DropoutHasTheBitsOfTheCpu) {
  for (const std::int64_t columns : kColumns)
    for (const std::int64_t heads : {std::int64_t{1}, kHeads}) {
      SCOPED_TRACE(columns);
      Elements x = random_elements(kRows * columns), y(type(), kRows * columns), expected = y;
      table().dropout[index()]({x.data(), nullptr, expected.data(), columns, rule(77, heads)}, 0,
                               kRows);
      run_dropout(x.data(), nullptr, y.data(), columns, rule(77, heads));
      EXPECT_EQ(y, expected);
      table().relu_dropout[index()]({x.data(), expected.data(), columns, rule(26, heads)}, 0,
                                    kRows);
      run_dropout(x.data(), nullptr, y.data(), columns, rule(26, heads), true);
      EXPECT_EQ(y, expected);
    }
}

TEST_P(CudaKernels, DropoutAddsTheResidualAndMayOverwriteIt) {
  for (const std::int64_t columns : kColumns) {
    SCOPED_TRACE(columns);
    Elements x = random_elements(kRows * columns), residual = random_elements(kRows * columns);
    Elements expected(type(), kRows * columns), y = expected;
    // The scale is 2, so that the product is exact: SSE2 rounds it, others only the sum.
    table().dropout[index()]({x.data(), residual.data(), expected.data(), columns, rule(128)}, 0,
                             kRows);
    run_dropout(x.data(), residual.data(), y.data(), columns, rule(128));
    EXPECT_EQ(y, expected);
    run_dropout(x.data(), residual.data(), residual.data(), columns, rule(128));
    EXPECT_EQ(residual, expected);
  }
}

TEST_P(CudaKernels, DropoutTakesAddressesThatAreNoMultipleOf16) {
  constexpr std::int64_t columns = 64;
  const std::int64_t bytes = is_float() ? 4 : 2;
  const auto moved = [&](Elements& elements) {
    return static_cast<char*>(elements.data()) + bytes;
  };
  Elements x = random_elements(kRows * columns + 1), y(type(), kRows * columns + 1), expected = y;
  table().dropout[index()]({moved(x), nullptr, moved(expected), columns, rule(77)}, 0, kRows);
  run_dropout(moved(x), nullptr, moved(y), columns, rule(77));
  EXPECT_EQ(y, expected);
}

TEST_P(CudaKernels, TheGradientAfterReluHasTheBitsOfTheCpu) {
  for (const std::int64_t columns : kColumns) {
    SCOPED_TRACE(columns);
    Elements y = random_elements(kRows * columns), dy = random_elements(kRows * columns);
    Elements dx(type(), kRows * columns), expected = dx;
    const float scale = rule(77).scale();
    table().relu_dropout_gradient[index()]({y.data(), dy.data(), expected.data(), columns, scale},
                                           0, kRows);
    launch(&cuda_kernels::relu_dropout_gradient_float32,
           &cuda_kernels::relu_dropout_gradient_bfloat16,
           CudaReluDropoutGradient{y.data(), dy.data(), dx.data(), kRows * columns, scale},
           kRows * divide_up<std::int64_t>(columns, kCudaColumns));
    EXPECT_EQ(dx, expected);
  }
}

TEST_P(CudaKernels, NotANumberStaysOneAfterRelu) {
  Elements x(type(), std::vector<double>(kRows, std::numeric_limits<double>::quiet_NaN()));
  run_dropout(x.data(), nullptr, x.data(), 1, rule(77), true);
  for (std::int64_t i = 0; i < x.size(); ++i) EXPECT_TRUE(std::isnan(x[i]));
}

DRAGOMAN_FOR_EACH_KERNEL_TABLE(CudaKernels);

}  // namespace
}  // namespace dragoman
