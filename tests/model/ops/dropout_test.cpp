#include "model/ops/dropout.h"

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

}  // namespace
}  // namespace dragoman
