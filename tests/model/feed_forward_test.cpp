#include "model/feed_forward.h"

#include <cmath>

#include "tests/model/examples.h"

namespace dragoman {
namespace {

TEST(FeedForward, TheActivationIsApplied) {
  const auto x = closed_form({5, 16});
  const auto gelu = [](const torch::Tensor& v) { return v * 0.5 * (1 + (v / std::sqrt(2)).erf()); };
  const auto swish = [](const torch::Tensor& v) { return v / (1 + v.neg().exp()); };
  for (const Activation activation : {Activation::Relu, Activation::Gelu, Activation::Swish,
                                      Activation::GatedGelu, Activation::GatedSwish}) {
    ModelConfig config = small_config();
    config.activation = activation;
    FeedForward module(config, 0);
    module->to(test_device());
    const auto inner = module->inner(x);
    torch::Tensor hidden;
    switch (activation) {
      case Activation::Relu:
        hidden = inner.clamp_min(0);
        break;
      case Activation::Gelu:
        hidden = gelu(inner);
        break;
      case Activation::Swish:
        hidden = swish(inner);
        break;
      case Activation::GatedGelu:
        hidden = gelu(module->gate(x)) * inner;
        break;
      case Activation::GatedSwish:
        hidden = swish(module->gate(x)) * inner;
        break;
    }
    expect_close(module(x, torch::Tensor()), module->outer(hidden), 1e-5);
  }
}

}  // namespace
}  // namespace dragoman
