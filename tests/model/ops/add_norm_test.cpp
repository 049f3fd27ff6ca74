#include "model/ops/add_norm.h"

#include <utility>

#include "tests/model/ops/expect_same.h"

namespace dragoman {
namespace {

constexpr std::int64_t kRows = 9, kColumns = 70;

/// x, residual, gain and bias below each other as one tensor, so that all gradients are compared.
TEST(AddNorm, AddAndNormEqualsItsReferenceInValueAndGradients) {
  auto all = closed_form({2 * kRows + 2, kColumns});
  all.narrow(0, 2 * kRows, 1) += 1.5;
  const auto keys = row_keys(kRows);
  for (const double rate : {0.0, 0.3})
    for (const auto& [has_residual, uses_sum] :
         {std::pair(true, true), {true, false}, {false, true}, {false, false}}) {
      const auto run = [&](const torch::Tensor& v, auto&& function) {
        const auto gain = v[2 * kRows], bias = v[2 * kRows + 1];
        const AddNorm norm{gain, bias, 1e-5, {rate, 6}};
        const NormalizedSum y =
            function(norm, v.narrow(0, 0, kRows),
                     has_residual ? v.narrow(0, kRows, kRows) : torch::Tensor(), keys);
        // Every part has a gradient, the sum's two ones where it is used.
        return y.normalized + 0 * v.narrow(0, kRows, kRows) + (uses_sum ? 0.5 * y.sum : 0 * y.sum);
      };
      expect_same(
          [&](const auto& v) {
            return run(v, [](const AddNorm& norm, auto&&... x) { return norm.apply(x...); });
          },
          [&](const auto& v) {
            return run(v, [](auto&&... x) { return add_norm_reference(x...); });
          },
          all);
    }
}

}  // namespace
}  // namespace dragoman
