#include "model/ops/dropout.h"

#include "kernels/cuda/image.h"
#include "model/ops/cuda_kernels.h"
#include "model/ops/kernel_call.h"
#include "tests/cuda_stand_in/counts.h"
#include "tests/model/ops/expect_same.h"

namespace dragoman {
namespace {

constexpr std::int64_t kRows = 9, kColumns = 70;

/// No value within a numeric step of ReLU's kink.
torch::Tensor away_from_zero(const torch::Tensor& x) { return x + x.sign() * 0.05; }

TEST(Dropout, DropoutEqualsItsReferenceBesideReluAndAResidual) {
  const auto x = away_from_zero(closed_form({kRows, kColumns}));
  const auto residual = closed_form({kRows, kColumns}, 0.5);
  const auto keys = row_keys(kRows);
  for (const double rate : {0.1, 0.5}) {
    const Dropout dropout{rate, 6};
    const DropoutMask mask(dropout, keys, kRows);
    const auto like = [](const torch::Tensor& a, const torch::Tensor& b) {
      return a.to(b.scalar_type());
    };
    expect_same([&](const auto& v) { return dropout.apply(v, keys); },
                [&](const auto& v) { return dropout_reference(v, mask); }, x);
    expect_same([&](const auto& v) { return dropout.add(v, like(residual, v), keys); },
                [&](const auto& v) { return residual + dropout_reference(v, mask); }, x);
    expect_same([&](const auto& v) { return dropout.add(like(x, v), v, keys); },
                [&](const auto& v) { return v + dropout_reference(x, mask); }, residual);
    expect_same([&](const auto& v) { return dropout.relu(v, keys); },
                [&](const auto& v) { return dropout_reference(v.relu(), mask); }, x);
  }
}

TEST(Dropout, WithoutKeysOrWithRateZeroTheInputStays) {
  const auto x = away_from_zero(closed_form({kRows, kColumns}));
  const auto residual = closed_form({kRows, kColumns}, 0.5);
  const auto check = [&](const Dropout& dropout, const torch::Tensor& keys) {
    EXPECT_TRUE(dropout.apply(x, keys).is_same(x));
    EXPECT_TRUE(dropout.add(x, residual, keys).equal(x + residual));
    expect_same([&](const auto& v) { return dropout.relu(v, keys); },
                [](const auto& v) { return v.relu(); }, x);
  };
  check({0.3, 6}, {});
  check({0, 6}, row_keys(kRows));
}

TEST(Dropout, ARateBelowOneKeepsSomething) {
  const Dropout dropout{0.9999, 6};
  const auto factors = DropoutMask(dropout, row_keys(100), 100).factors(100);
  EXPECT_TRUE(factors.isfinite().all().item<bool>());
  EXPECT_GT(factors.count_nonzero().item<std::int64_t>(), 0);
}

TEST(Dropout, TheSameElementsAreDroppedOnTheCpuAndOnAnyDevice) {
  const auto keys = row_keys(kRows);
  const Dropout dropout{0.3, 6};
  const auto on_cpu = dropout.apply(torch::ones({kRows, kColumns}), keys.cpu());
  const auto factors = DropoutMask(dropout, keys, kRows).factors(kColumns);
  EXPECT_TRUE(factors.cpu().equal(on_cpu));
  EXPECT_TRUE(dropout.apply(torch::ones_like(factors), keys).cpu().equal(on_cpu));
}

/// A function of x and its gradient, both on the CPU.
ValueAndGradient on_cpu(const Function& f, const torch::Tensor& x) {
  const auto result = differentiate(f, x, x.flip(1));
  return {result.value.cpu(), result.gradient.cpu()};
}

TEST(Dropout, ADeviceWithKernelsGivesTheBitsOfTheCpu) {
  if (test_device().is_cuda() && !has_cuda_kernel_for(closed_form({1})))
    GTEST_SKIP() << "LibTorch's operations round more often than the kernels";
  const auto keys = row_keys(kRows);
  // Twice x is exact, so it does not matter whether a sum is rounded with it or after it.
  const Dropout dropout{0.5, 6};
  for (const auto type : {torch::kFloat32, torch::kBFloat16})
    for (const std::int64_t columns : {std::int64_t{64}, kColumns}) {
      const auto x = closed_form({kRows, columns}).to(type);
      const auto residual = closed_form({kRows, columns}, 0.5).to(type);
      const auto expect_equal = [&](auto&& of) {
        const auto there = on_cpu([&](const auto& v) { return of(dropout, v, residual, keys); }, x);
        const auto here = on_cpu(
            [&](const auto& v) { return of(dropout, v, residual.cpu(), keys.cpu()); }, x.cpu());
        EXPECT_TRUE(there.value.equal(here.value)) << type << ' ' << columns;
        EXPECT_TRUE(there.gradient.equal(here.gradient)) << type << ' ' << columns;
      };
      expect_equal([](const Dropout& d, const auto& v, const auto&, const auto& k) {
        return d.apply(v, k);
      });
      expect_equal([](const Dropout& d, const auto& v, const auto& r, const auto& k) {
        return d.add(v, r, k);
      });
      expect_equal(
          [](const Dropout& d, const auto& v, const auto&, const auto& k) { return d.relu(v, k); });
    }
}

TEST(Dropout, TheKernelsOfTheBuildRunOnTheDevice) {
  if (test_device().is_cpu()) GTEST_SKIP() << "for GPUs";
  if (cuda_image("kernels.ptx").empty()) GTEST_SKIP() << "the build had no compiler for them";
  const auto x = closed_form({kRows, kColumns});
  EXPECT_TRUE(has_cuda_kernel_for(x));
  EXPECT_FALSE(has_cuda_kernel_for(x.to(torch::kFloat64)));
  const WithoutKernels without;
  EXPECT_FALSE(has_cuda_kernel_for(x));
}

TEST(Dropout, OnADeviceAMaskIsOneLaunchInEachPass) {
  if (!StandInCounts::is_loaded()) GTEST_SKIP() << "for the stand-in, which counts";
  const auto keys = row_keys(kRows);
  const auto x = closed_form({kRows, kColumns}).to(torch::kBFloat16).requires_grad_();
  const auto residual = closed_form({kRows, kColumns}).to(torch::kBFloat16);
  const StandInCounts counts;
  const auto y = Dropout{0.1, 6}.add(x, residual, keys);
  EXPECT_EQ(counts.report()["launch_count"], 1);
  y.backward(residual);
  EXPECT_EQ(counts.launches_of("dropout_bfloat16"), 2);
  constexpr double bytes = kRows * kColumns * 2, of_keys = kRows * 4;
  EXPECT_EQ(counts.report()["launches"]["dropout_bfloat16"]["read"], 3 * bytes + 2 * of_keys);
  EXPECT_EQ(counts.report()["launches"]["dropout_bfloat16"]["written"], 2 * bytes);
}

}  // namespace
}  // namespace dragoman
