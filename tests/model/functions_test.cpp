#include "model/functions.h"

#include <functional>

#include "base/random.h"
#include "tests/model/examples.h"

namespace dragoman {
namespace {

constexpr std::int64_t kRows = 9, kColumns = 70, kHeads = 2;

using Function = std::function<torch::Tensor(const torch::Tensor&)>;

struct ValueAndGradient {
  torch::Tensor value, gradient;
};

/// f(x) and the gradient of sum(direction * f(x)).
ValueAndGradient differentiate(const Function& f, const torch::Tensor& x,
                               const torch::Tensor& direction) {
  const auto leaf = x.detach().clone().requires_grad_();
  const auto value = f(leaf);
  value.backward(direction.to(value.scalar_type()).view_as(value));
  return {value.detach(), leaf.grad()};
}

/// Expects `f` to be `reference` in value and gradient, in fp32 and, less exactly, in bf16; and
/// f's fp32 gradient to be its own slope at a few places.
void expect_same(const Function& f, const Function& reference, const torch::Tensor& x) {
  const auto direction = closed_form({reference(x).numel()}, 0.3);
  const auto ours = differentiate(f, x, direction), theirs = differentiate(reference, x, direction);
  expect_close(ours.value, theirs.value, 1e-5, "value");
  expect_close(ours.gradient, theirs.gradient, 1e-5, "gradient");

  const auto half = x.to(torch::kBFloat16), half_direction = direction.to(torch::kBFloat16);
  const auto rounded = differentiate(f, half, half_direction);
  EXPECT_EQ(rounded.value.scalar_type(), torch::kBFloat16);
  const auto exact =
      differentiate(reference, half.to(torch::kFloat32), half_direction.to(torch::kFloat32));
  expect_close(rounded.value, exact.value, 2e-2, "bf16 value");
  expect_close(rounded.gradient, exact.gradient, 3e-2, "bf16 gradient");

  const torch::NoGradGuard no_grad;
  constexpr double step = 1.0 / 64;
  const auto total = [&](std::int64_t place, double change) {
    auto moved = x.clone();
    moved.view(-1)[place] += change;
    return f(moved).view(-1).to(torch::kFloat64).dot(direction.to(torch::kFloat64)).item<double>();
  };
  for (std::int64_t place = 1; place < x.numel(); place += 1 + x.numel() / 12) {
    const double slope = (total(place, step) - total(place, -step)) / (2 * step);
    EXPECT_NEAR(ours.gradient.view(-1)[place].item<double>(), slope, 1e-3) << place;
  }
}

torch::Tensor row_keys(std::int64_t count) {
  std::vector<std::int32_t> keys(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<std::int32_t>(random_bits(17, i));
  return torch::tensor(keys, torch::kInt32).to(test_device());
}

/// No value within a numeric step of ReLU's kink.
torch::Tensor away_from_zero(const torch::Tensor& x) { return x + x.sign() * 0.05; }

/// x, residual, gain and bias below each other as one tensor, so that all gradients are compared.
TEST(AddNormFunction, EqualsLayerNormOfTheSumInValueAndGradients) {
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

TEST(DropoutFunctions, EqualPlainOperationsWithTheFactors) {
  const auto x = away_from_zero(closed_form({kRows, kColumns}));
  const auto residual = closed_form({kRows, kColumns}, 0.5);
  const auto keys = row_keys(kRows);
  for (const double rate : {0.1, 0.5}) {
    const Dropout dropout{rate, 6};
    const auto factors = dropout_factors(dropout, keys, 1, kRows, kColumns);
    const auto like = [](const torch::Tensor& a, const torch::Tensor& b) {
      return a.to(b.scalar_type());
    };
    expect_same([&](const auto& v) { return dropout.apply(v, keys); },
                [&](const auto& v) { return v * factors; }, x);
    expect_same([&](const auto& v) { return dropout.add(v, like(residual, v), keys); },
                [&](const auto& v) { return residual + v * factors; }, x);
    expect_same([&](const auto& v) { return dropout.add(like(x, v), v, keys); },
                [&](const auto& v) { return v + x * factors; }, residual);
    expect_same([&](const auto& v) { return dropout.relu(v, keys); },
                [&](const auto& v) { return v.relu() * factors; }, x);
  }
}

TEST(DropoutFunctions, LeaveTheInputWithoutKeysOrWithRateZero) {
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

TEST(DropoutFunctions, KeepSomethingAtAnyRateBelowOne) {
  const Dropout dropout{0.9999, 6};
  const auto factors = dropout_factors(dropout, row_keys(100), 1, 100, 100);
  EXPECT_TRUE(factors.isfinite().all().item<bool>());
  EXPECT_GT(factors.count_nonzero().item<std::int64_t>(), 0);
}

TEST(DropoutFunctions, DropTheSameOnTheCpuAndOnAnyDevice) {
  const auto keys = row_keys(kRows);
  const Dropout dropout{0.3, 6};
  const auto on_cpu = dropout.apply(torch::ones({kRows, kColumns}), keys.cpu());
  const auto factors = dropout_factors(dropout, keys, 1, kRows, kColumns);
  EXPECT_TRUE(factors.cpu().equal(on_cpu));
  EXPECT_TRUE(dropout.apply(torch::ones_like(factors), keys).cpu().equal(on_cpu));
}

/// Queries and keys of unlike lengths, with dropout keys.
struct AttentionExample {
  PackedLayout queries, keys;
  torch::Tensor scores;
};

AttentionExample attention_example(AttentionMask mask) {
  const std::vector<std::int32_t> short_starts = {0, 3, 8, 9}, long_starts = {0, 7, 9, 26};
  auto queries = PackedLayout::from_starts(short_starts, kHeads, test_device());
  auto keys = mask == AttentionMask::Causal
                  ? queries
                  : PackedLayout::from_starts(long_starts, kHeads, test_device());
  const auto numbers = row_keys(queries.tokens).cpu();
  queries.set_row_keys({numbers.const_data_ptr<std::int32_t>(), 9});
  const auto scores = closed_form({3 * kHeads, queries.longest, keys.longest}) * 3;
  return {queries, keys, scores};
}

TEST(AttentionWeights, EqualMaskedSoftmaxAndDropoutByPlainOperations) {
  for (const AttentionMask mask : {AttentionMask::Padding, AttentionMask::Causal})
    for (const double rate : {0.0, 0.3}) {
      const auto example = attention_example(mask);
      const AttentionPattern pattern{example.queries, example.keys, mask, {rate, 4}};
      expect_same(
          [&](const auto& scores) { return attention_weights(scores, pattern, 0.6); },
          [&](const auto& scores) { return attention_weights_reference(scores, pattern, 0.6); },
          example.scores);
    }
}

TEST(AttentionWeights, AreTheWeightsWithoutDropoutTimesTheFactorsBitForBit) {
  const auto example = attention_example(AttentionMask::Padding);
  const Dropout dropout{0.3, 4};
  const auto weights = [&](const Dropout& chosen) {
    return attention_weights(example.scores,
                             {example.queries, example.keys, AttentionMask::Padding, chosen}, 0.6);
  };
  const auto factors = dropout_factors(dropout, example.queries.padded_row_keys, kHeads,
                                       example.scores.size(1), example.scores.size(2));
  const auto plain = weights({0, 4});
  EXPECT_TRUE(weights(dropout).equal(plain * factors.view_as(plain)));
}

TEST(AttentionWeights, ReferenceSumsToOneOverTheVisibleKeysAlone) {
  const auto example = attention_example(AttentionMask::Causal);
  const auto weights = attention_weights_reference(
      example.scores, {example.queries, example.keys, AttentionMask::Causal, {0, 4}}, 0.6);
  expect_close(weights.sum(-1), torch::ones({6, 5}), 1e-6);
  EXPECT_EQ(weights.triu(1).count_nonzero().item<std::int64_t>(), 0);
  // The last sentence has one token: its other places are hidden from every query.
  expect_close(weights.slice(0, 4).select(2, 0), torch::ones({2, 5}), 0);
}

/// Layouts whose queries have filler rows, and random inputs of attention.
struct PackedExample {
  PackedLayout queries, keys;
  torch::Tensor own, memory;  ///< [N, D] and [M, 2D]; or [N, 3D] and undefined
};

PackedExample packed_example(AttentionMask mask) {
  constexpr std::int64_t kWidth = 12, kFilled = 16;
  const std::vector<std::int32_t> starts = {0, 3, 8, 9}, other_starts = {0, 7, 9, 26};
  auto queries = PackedLayout::from_starts(starts, kHeads, test_device(), kFilled);
  const auto numbers = row_keys(queries.tokens).cpu();
  queries.set_row_keys({numbers.const_data_ptr<std::int32_t>(), 9});
  if (mask == AttentionMask::Causal)
    return {queries, queries, closed_form({queries.rows, 3 * kWidth}), {}};
  const auto keys = PackedLayout::from_starts(other_starts, kHeads, test_device());
  return {queries, keys, closed_form({queries.rows, kWidth}),
          closed_form({keys.rows, 2 * kWidth}, 0.3)};
}

TEST(PackedAttention, EqualsThePaddedPathAndSkipsFillerRows) {
  const auto like = [](const torch::Tensor& x, const torch::Tensor& as) {
    return x.defined() ? x.to(as.scalar_type()) : x;
  };
  for (const AttentionMask mask : {AttentionMask::Padding, AttentionMask::Causal})
    for (const double rate : {0.0, 0.3}) {
      const auto e = packed_example(mask);
      const AttentionPattern pattern{e.queries, e.keys, mask, {rate, 4}};
      expect_same(
          [&](const auto& own) { return packed_attention(own, like(e.memory, own), pattern); },
          [&](const auto& own) { return padded_attention(own, like(e.memory, own), pattern); },
          e.own);
      if (e.memory.defined())
        expect_same(
            [&](const auto& memory) {
              return packed_attention(like(e.own, memory), memory, pattern);
            },
            [&](const auto& memory) {
              return padded_attention(like(e.own, memory), memory, pattern);
            },
            e.memory);
      const auto context = packed_attention(e.own, e.memory, pattern);
      EXPECT_EQ(context.slice(0, e.queries.tokens).count_nonzero().item<std::int64_t>(), 0);
    }
}

TEST(JoinedLinear, EqualsTheLayersOneByOneWhereverTheirWeightsLie) {
  constexpr std::int64_t kIn = 10;
  const auto x = closed_form({kRows, kIn});
  const auto one_by_one = [](const torch::Tensor& input, const std::vector<torch::Tensor>& weights,
                             const std::vector<torch::Tensor>& biases) {
    std::vector<torch::Tensor> parts;
    for (std::size_t i = 0; i < weights.size(); ++i)
      parts.push_back(torch::addmm(biases[i], input, weights[i].t()));
    return torch::cat(parts, 1);
  };
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
                  with(one_by_one), place);
    }
  }
}

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

TEST(FeedForwardFunction, EqualsItsLayersWithReluAndDropoutBetween) {
  const auto keys = row_keys(kRows);
  for (const double rate : {0.0, 0.3}) {
    const Dropout dropout{rate, 6};
    const auto factors = rate > 0 ? dropout_factors(dropout, keys, 1, kRows, 33)
                                  : torch::ones({kRows, 33}).to(test_device());
    FeedForwardPass exact(torch::kFloat32, [&](FeedForwardPass& pass) {
      const auto hidden = torch::linear(pass.x, pass.inner->weight, pass.inner->bias);
      return torch::linear(hidden.relu() * factors, pass.outer->weight, pass.outer->bias);
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

TEST(Embed, LooksUpScaledRowsAndTheZeroVector) {
  const auto tokens = torch::tensor({3, -1, 0, 3, 6, -1, 3}, torch::kInt64).to(test_device());
  const auto reference = [&](const torch::Tensor& weight) {
    const auto inside = (tokens >= 0).unsqueeze(1).to(weight.scalar_type());
    return weight.index({tokens.clamp_min(0)}) * 4 * inside;
  };
  expect_same([&](const auto& weight) { return embed(tokens, weight, 4); }, reference,
              closed_form({7, kColumns}));
}

TEST(Embed, RefusesATokenOutsideOfTheVocabulary) {
  if (!test_device().is_cpu()) GTEST_SKIP() << "CUDA would have to be restarted";
  EXPECT_THROW(embed(torch::tensor({1, 7}, torch::kInt64), closed_form({7, kColumns}), 4),
               c10::IndexError);
}

TEST(Embed, SumsTheGradientOfAFrequentTokenInFp32) {
  const auto tokens = torch::zeros({1024}, torch::kInt64).to(test_device());
  const auto weight = closed_form({2, 3}).to(torch::kBFloat16).requires_grad_();
  embed(tokens, weight, 1).sum().backward();
  // Summed in bf16, it would have stopped at 256.
  EXPECT_TRUE(weight.grad().select(0, 0).eq(1024).all().item<bool>());
  EXPECT_TRUE(weight.grad().select(0, 1).eq(0).all().item<bool>());
}

}  // namespace
}  // namespace dragoman
