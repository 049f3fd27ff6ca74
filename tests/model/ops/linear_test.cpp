#include "model/ops/linear.h"

#include <utility>
#include <vector>

#include "tests/model/ops/expect_same.h"

namespace dragoman {
namespace {

constexpr std::int64_t kRows = 9;

TEST(JoinedLinear, JoinedLayersEqualTheLayersOneByOneWhereverTheirWeightsLie) {
  constexpr std::int64_t kIn = 10;
  const auto x = closed_form({kRows, kIn});
  for (const bool adjacent : {true, false}) {
    const auto flat = closed_form({9, kIn + 1}, 0.2);
    auto matrices = flat.slice(1, 0, kIn).contiguous(), vectors = flat.select(1, kIn).contiguous();
    std::vector<torch::Tensor> weights, biases;
    for (const auto& [begin, rows] : {std::pair{0, 4}, std::pair{4, 2}, std::pair{6, 3}}) {
      const auto weight = matrices.narrow(0, begin, rows), bias = vectors.narrow(0, begin, rows);
      weights.push_back(adjacent ? weight : weight.clone());
      biases.push_back(adjacent ? bias : bias.clone());
    }
    for (std::size_t i = 0; i <= 2 * weights.size(); ++i) {  // x, then each weight, then each bias
      const auto with = [&, i](auto&& f) {
        return [&, i, f](const torch::Tensor& moved) {
          auto input = x.to(moved.scalar_type());
          auto w = weights, b = biases;
          for (auto* list : {&w, &b})
            for (auto& part : *list) part = part.to(moved.scalar_type());
          if (i == 0)
            input = moved;
          else
            (i <= w.size() ? w[i - 1] : b[i - 1 - w.size()]) = moved;
          return f(input, w, b);
        };
      };
      const auto& place = i == 0                ? x
                          : i <= weights.size() ? weights[i - 1]
                                                : biases[i - 1 - weights.size()];
      expect_same(with([](const auto& in, const auto& w, const auto& b) {
                    return joined_linear(in, w, b);
                  }),
                  with([](const auto& in, const auto& w, const auto& b) {
                    return joined_linear_reference(in, w, b);
                  }),
                  place);
    }
  }
}

}  // namespace
}  // namespace dragoman
