#include "model/ops/layers.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/ops/cuda_kernels.h"
#include "tests/cuda_stand_in/counts.h"
#include "tests/model/ops/expect_same.h"

namespace dragoman {
namespace {

constexpr std::int64_t kRows = 9, kColumns = 70;

torch::Tensor joined_linear_reference(const torch::Tensor& x, at::TensorList weights,
                                      at::TensorList biases) {
  std::vector<torch::Tensor> outputs;
  for (std::size_t i = 0; i < weights.size(); ++i)
    outputs.push_back(torch::matmul(x, weights[i].t()) + biases[i]);
  return torch::cat(outputs, 1);
}

torch::Tensor relu_feed_forward_reference(torch::nn::Linear& inner, torch::nn::Linear& outer,
                                          const Dropout& dropout, const torch::Tensor& x,
                                          const torch::Tensor& row_keys) {
  const auto hidden = torch::linear(x, inner->weight, inner->bias).relu();
  const auto kept = dropout_reference(hidden, {dropout, row_keys, x.size(0)});
  return torch::linear(kept, outer->weight, outer->bias);
}

TEST(Embed, EmbeddingsAreScaledRowsOrTheZeroVector) {
  const auto tokens = torch::tensor({3, -1, 0, 3, 6, -1, 3}, torch::kInt64).to(test_device());
  const auto table = closed_form({7, kColumns});
  const auto rows = embed(tokens, table, 4);
  EXPECT_TRUE(rows[0].equal(table[3] * 4));
  EXPECT_EQ(rows[1].count_nonzero().item<std::int64_t>(), 0);
  expect_same([&](const auto& weight) { return embed(tokens, weight, 4); },
              [&](const auto& weight) { return embed_reference(tokens, weight, 4); }, table);
}

TEST(Embed, ATokenOutsideOfTheVocabularyIsRefused) {
  if (!test_device().is_cpu()) GTEST_SKIP() << "CUDA would have to be restarted";
  EXPECT_THROW(embed(torch::tensor({1, 7}, torch::kInt64), closed_form({7, kColumns}), 4),
               c10::IndexError);
}

TEST(Embed, TheGradientOfAFrequentTokenIsSummedInFp32) {
  const auto tokens = torch::zeros({1024}, torch::kInt64).to(test_device());
  const auto weight = closed_form({2, 3}).to(torch::kBFloat16).requires_grad_();
  embed(tokens, weight, 1).sum().backward();
  // Summed in bf16, it would have stopped at 256.
  EXPECT_TRUE(weight.grad().select(0, 0).eq(1024).all().item<bool>());
  EXPECT_TRUE(weight.grad().select(0, 1).eq(0).all().item<bool>());
}

/// The input of the first layer for 9 tokens, some of them alike or the zero vector.
struct TokenInputExample {
  torch::Tensor tokens =
      torch::tensor({3, -1, 0, 3, 6, -1, 3, 3, 1}, torch::kInt64).to(test_device());
  torch::Tensor positions =
      torch::tensor({0, 1, 2, 3, 0, 0, 1, 2, 4}, torch::kInt64).to(test_device());
  torch::Tensor encodings = closed_form({5, kColumns}, 0.4), keys = row_keys(kRows);

  torch::Tensor run(const torch::Tensor& weight, const Dropout& dropout) const {
    return embed_at_positions(
        {tokens, weight, 4, encodings.to(weight.scalar_type()), positions, dropout, keys});
  }
};

TEST(EmbedAtPositions, TheInputOfTheFirstLayerEqualsItsReferenceInValueAndGradient) {
  const TokenInputExample example;
  for (const double rate : {0.0, 0.3}) {
    const Dropout dropout{rate, 6};
    expect_same([&](const auto& weight) { return example.run(weight, dropout); },
                [&](const auto& weight) {
                  const auto sum =
                      embed_reference(example.tokens, weight, 4) +
                      example.encodings.to(weight.scalar_type()).index_select(0, example.positions);
                  return dropout_reference(sum, {dropout, example.keys, kRows});
                },
                closed_form({7, kColumns}) / 4);
  }
}

TEST(EmbedAtPositions, OnADeviceTheInputIsOneLaunchAndItsGradientTwo) {
  if (!StandInCounts::is_loaded()) GTEST_SKIP() << "only the stand-in for CUDA counts launches";
  TokenInputExample example;
  example.encodings = example.encodings.to(torch::kBFloat16);
  const auto weight = closed_form({7, kColumns}).to(torch::kBFloat16).requires_grad_();
  const auto direction = closed_form({kRows, kColumns}).to(torch::kBFloat16);
  const StandInCounts counts;
  const auto y = example.run(weight, {0.1, 6});
  EXPECT_EQ(counts.report()["launch_count"], 1);
  y.backward(direction);
  EXPECT_EQ(counts.launches_of("embedding_gradient_bfloat16"), 1);
  EXPECT_EQ(counts.report()["launch_count"], 3);  // with the sort of the tokens
}

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

/// Two layers of closed-form numbers that bf16 represents exactly, in some type, and their output
/// and gradients.
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
        // Every part has a gradient; the sum has two if it is used.
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

TEST(AddNorm, TheGradientsOfGainAndBiasAreSumsOverAllRows) {
  constexpr std::int64_t kManyRows = 150;
  const auto x = closed_form({kManyRows, kColumns}), keys = row_keys(kManyRows);
  const auto residual = closed_form({kManyRows, kColumns}, 0.4);
  const auto run = [&](const torch::Tensor& v, auto&& function) {
    const auto gain = v[0], bias = v[1];
    return function(AddNorm{gain, bias, 1e-5, {0.1, 6}}, x.to(v.scalar_type()),
                    residual.to(v.scalar_type()), keys)
               .normalized *
           (1.0 / 16);
  };
  expect_same(
      [&](const auto& v) {
        return run(v, [](const AddNorm& norm, auto&&... in) { return norm.apply(in...); });
      },
      [&](const auto& v) { return run(v, [](auto&&... in) { return add_norm_reference(in...); }); },
      closed_form({2, kColumns}, 0.2));
}

/// A linear layer and "Add & Norm" after it, as each sub-layer ends.
TEST(ColumnSums, TheBiasBeforeAddAndNormHasTheSumOfItsGradientWithoutAnotherPass) {
  const auto residual = closed_form({kRows, kColumns}, 0.4), keys = row_keys(kRows);
  const auto x = closed_form({kRows, 10}), weight = closed_form({kColumns, 10}, 0.2);
  const auto gain = closed_form({kColumns}, 0.6) + 1.5;
  const auto run = [&](const torch::Tensor& bias, auto&& joined, auto&& norm) {
    const auto like = [&](const torch::Tensor& a) { return a.to(bias.scalar_type()); };
    const auto of_norm = like(gain);
    return norm(AddNorm{of_norm, of_norm, 1e-5, {0.3, 6}}, joined(like(x), {like(weight)}, {bias}),
                like(residual), keys)
        .normalized;
  };
  const auto ours = [&](const torch::Tensor& bias) {
    return run(
        bias,
        [](const auto& in, at::TensorList w, at::TensorList b) { return joined_linear(in, w, b); },
        [](const AddNorm& norm, auto&&... in) { return norm.apply(in...); });
  };
  expect_same(
      ours,
      [&](const torch::Tensor& bias) {
        return run(
            bias,
            [](const auto& in, at::TensorList w, at::TensorList b) {
              return joined_linear_reference(in, w, b);
            },
            [](auto&&... in) { return add_norm_reference(in...); });
      },
      closed_form({kColumns}, 0.8));
  if (!StandInCounts::is_loaded()) return;
  const auto bias = closed_form({kColumns}, 0.8).requires_grad_();
  const auto y = ours(bias);
  const StandInCounts counts;
  y.backward(residual);
  EXPECT_EQ(counts.launches_of("aten::sum.IntList_out"), 0);
}

TEST(AddNorm, OnADeviceAddAndNormIsOneLaunchAndItsGradientTwo) {
  if (!StandInCounts::is_loaded()) GTEST_SKIP() << "only the stand-in for CUDA counts launches";
  const auto matrix = [](std::int64_t rows) {
    return closed_form({rows, kColumns}).to(torch::kBFloat16).requires_grad_();
  };
  const auto x = matrix(kRows), residual = matrix(kRows), gain = matrix(1)[0].detach(),
             bias = gain.clone();
  gain.requires_grad_();
  bias.requires_grad_();
  const auto keys = row_keys(kRows);
  const auto direction = closed_form({kRows, kColumns}).to(torch::kBFloat16);
  const StandInCounts counts;
  const auto y = AddNorm{gain, bias, 1e-5, {0.1, 6}}.apply(x, residual, keys);
  EXPECT_EQ(counts.report()["launch_count"], 1);
  y.normalized.backward(direction);
  EXPECT_EQ(counts.launches_of("add_norm_gradient_bfloat16"), 1);
  EXPECT_EQ(counts.report()["launch_count"], 3);
}

}  // namespace
}  // namespace dragoman
