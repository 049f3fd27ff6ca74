#include "model/ops/feed_forward.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/model/ops/expect_same.h"

namespace dragoman {
namespace {

constexpr std::int64_t kRows = 9, kColumns = 70;

/// Two layers of closed-form numbers that bf16 has, in some type, and their output and gradients.
struct FeedForwardPass {
  torch::nn::Linear inner{kColumns, 33}, outer{33, kColumns};
  torch::Tensor x, y;

  template <class Function>
  FeedForwardPass(torch::ScalarType type, Function&& function)
      : x(closed_form({kRows, kColumns}).to(torch::kBFloat16).to(type).requires_grad_()) {
    double shift = 0;
    for (torch::nn::Linear& layer : {std::ref(inner), std::ref(outer)}) {
      layer->to(test_device(), type);
      const torch::NoGradGuard no_grad;
      for (torch::Tensor& parameter : layer->parameters())
        parameter.copy_((closed_form(parameter.sizes(), shift += 0.2) / 4).to(torch::kBFloat16));
    }
    y = function(*this);
    y.backward(closed_form(y.sizes(), 0.7).to(type));
  }

  std::vector<torch::Tensor> gradients() {
    return {x.grad(), inner->weight.grad(), inner->bias.grad(), outer->weight.grad(),
            outer->bias.grad()};
  }
};

TEST(ReluFeedForward, FeedForwardWithReluEqualsItsReferenceInValueAndGradients) {
  const auto keys = row_keys(kRows);
  for (const double rate : {0.0, 0.3}) {
    const Dropout dropout{rate, 6};
    FeedForwardPass exact(torch::kFloat32, [&](FeedForwardPass& pass) {
      return relu_feed_forward_reference(pass.inner, pass.outer, dropout, pass.x, keys);
    });
    for (const auto& [type, tolerance] :
         {std::pair(torch::kFloat32, 1e-5), {torch::kBFloat16, 3e-2}}) {
      FeedForwardPass ours(type, [&](FeedForwardPass& pass) {
        return relu_feed_forward(pass.inner, pass.outer, dropout, pass.x, keys);
      });
      EXPECT_EQ(ours.y.scalar_type(), type);
      expect_close(ours.y, exact.y, tolerance, "value");
      for (std::size_t i = 0; i < 5; ++i)
        expect_close(ours.gradients()[i], exact.gradients()[i], tolerance,
                     "gradient " + std::to_string(i));
    }
  }
}

}  // namespace
}  // namespace dragoman
