// Compares each of our differentiable functions with the plain tensor operations that are its
// reference, forward and backward, on the shapes of a preset and batches of 4,096 random pieces.
// Prints a line of JSON for each: milliseconds of both, medians of runs in turn, and their ratio.
//   kernel_speed [--preset tiny|small|base] [--length N] [--rounds N] [--threads N]
#include <ATen/Parallel.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/cpu.h"
#include "base/json.h"
#include "base/threads.h"
#include "kernels/kernels.h"
#include "model/file/model_config.h"
#include "model/ops/attention.h"
#include "model/ops/layers.h"
#include "model/ops/products.h"
#include "training/loss/loss.h"

namespace {

using namespace dragoman;

constexpr std::int64_t kTokens = 4096;

struct Shape {
  std::int64_t d_model, d_ff, heads, vocabulary, length;
};

using Function = std::function<torch::Tensor(const torch::Tensor&)>;

double milliseconds(const Function& function, const torch::Tensor& input) {
  const auto leaf = input.detach().requires_grad_();
  const auto start = std::chrono::steady_clock::now();
  const auto value = function(leaf);
  if (value.requires_grad()) value.backward(torch::ones_like(value));
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Comparison {
 public:
  Comparison(std::string preset, int rounds) : preset_(std::move(preset)), rounds_(rounds) {}

  void run(const std::string& name, const torch::Tensor& input, const Function& ours,
           const Function& plain) const {
    std::vector<double> our_times, plain_times;
    for (int i = -1; i < rounds_; ++i) {  // the first warms up
      const double first = milliseconds(ours, input), second = milliseconds(plain, input);
      if (i < 0) continue;
      our_times.push_back(first);
      plain_times.push_back(second);
    }
    const double our_time = median(our_times), plain_time = median(plain_times);
    const nlohmann::ordered_json line{{"function", name},
                                      {"preset", preset_},
                                      {"milliseconds", our_time},
                                      {"plain_milliseconds", plain_time},
                                      {"gain", plain_time / our_time},
                                      {"kernels", batch_kernels().name},
                                      {"processor", cpu_features().model}};
    std::puts(json_text(line).c_str());
    std::fflush(stdout);
  }

 private:
  std::string preset_;
  int rounds_;
};

torch::Tensor random(std::vector<std::int64_t> shape) {
  return torch::randn(shape).to(torch::kBFloat16);
}

/// Dropout as in a plain program, with a mask drawn by LibTorch's generator.
torch::Tensor plain_dropout(const torch::Tensor& x, double rate) {
  return torch::dropout(x, rate, true);
}

void compare_rows(const Comparison& compare, const Shape& s, const torch::Tensor& keys) {
  const Dropout dropout{0.1, 3};
  const auto residual = random({kTokens, s.d_model});
  const auto gain = random({s.d_model}), bias = random({s.d_model});
  compare.run(
      "dropout", random({kTokens, s.d_model}), [&](auto& x) { return dropout.apply(x, keys); },
      [&](auto& x) { return plain_dropout(x, 0.1); });
  compare.run(
      "relu and dropout", random({kTokens, s.d_ff}), [&](auto& x) { return dropout.relu(x, keys); },
      [&](auto& x) { return plain_dropout(x.relu(), 0.1); });
  compare.run(
      "add and norm", random({kTokens, s.d_model}),
      [&](auto& x) {
        return AddNorm{gain, bias, 1e-5, dropout}.apply(x, residual, keys).normalized;
      },
      [&](auto& x) {
        return torch::layer_norm(residual + plain_dropout(x, 0.1), {s.d_model}, gain, bias);
      });
}

/// A feed-forward network and its inner layer, forward and backward, and the gradient of the output
/// projection alone.
void compare_linear(const Comparison& compare, const Shape& s, const torch::Tensor& keys) {
  const auto weight = random({s.d_ff, s.d_model}).requires_grad_();
  const auto bias = random({s.d_ff}).requires_grad_();
  compare.run(
      "linear layer", random({kTokens, s.d_model}),
      [&](auto& x) { return joined_linear(x, {weight}, {bias}); },
      [&](auto& x) { return torch::linear(x, weight, bias); });
  torch::nn::Linear inner(s.d_model, s.d_ff), outer(s.d_ff, s.d_model);
  inner->to(torch::kBFloat16);
  outer->to(torch::kBFloat16);
  compare.run(
      "feed-forward network", random({kTokens, s.d_model}),
      [&](auto& x) {
        return relu_feed_forward(inner, outer, {0.1, 7}, x, keys);
      },
      [&](auto& x) { return outer(plain_dropout(inner(x).relu(), 0.1)); });
  const auto d_logits = random({kTokens / 2, s.vocabulary});
  compare.run(
      "gradient of a weight", random({kTokens / 2, s.d_model}),
      [&](auto& x) { return weight_gradient(d_logits, x.detach()); },
      [&](auto& x) { return torch::mm(d_logits.t(), x.detach()); });
}

/// Causal self-attention of sentences of one length, which need no padding. x [B*L, 3D] -> [B*L,
/// D].
torch::Tensor plain_attention(const torch::Tensor& x, const Shape& s) {
  const std::int64_t d_k = s.d_model / s.heads;
  const auto parts = x.view({-1, s.length, 3, s.heads, d_k}).permute({2, 0, 3, 1, 4}).unbind();
  const auto heads = [&](int part) {
    return parts[part].reshape({-1, s.length, d_k});
  };  // [B*H, L, K]
  const auto future = torch::ones({s.length, s.length}, torch::kBool).triu(1);
  const auto scores = heads(0).bmm(heads(1).transpose(1, 2)) / std::sqrt(static_cast<double>(d_k));
  const auto weights = scores.masked_fill(future, -1e9).softmax(-1);
  return plain_dropout(weights, 0.1)
      .bmm(heads(2))
      .view({-1, s.heads, s.length, d_k})
      .transpose(1, 2)
      .reshape({-1, s.d_model});
}

void compare_attention(const Comparison& compare, const Shape& s, const torch::Tensor& keys) {
  std::vector<std::int32_t> starts;
  for (std::int64_t n = 0; n <= kTokens; n += s.length)
    starts.push_back(static_cast<std::int32_t>(n));
  auto layout = PackedLayout::from_starts(starts, s.heads, torch::kCPU);
  layout.set_row_keys({keys.const_data_ptr<std::int32_t>(), static_cast<std::size_t>(layout.rows)});
  const AttentionPattern pattern{layout, layout, AttentionMask::Causal, {0.1, 5}};
  compare.run(
      "attention", random({layout.rows, 3 * s.d_model}),
      [&](auto& x) { return packed_self_attention(x, pattern); },
      [&](auto& x) { return plain_attention(x, s); });
}

void compare_loss_and_embedding(const Comparison& compare, const Shape& s) {
  const auto targets = torch::randint(3, s.vocabulary, {kTokens}, torch::kInt64);
  const auto weight = random({s.vocabulary, s.d_model}).mul_(0.05);
  const LossConfig loss{.label_smoothing = 0.1};
  compare.run(
      "output projection and loss", random({kTokens, s.d_model}),
      [&](auto& x) { return projected_cross_entropy(x, weight, {}, targets, loss).objective; },
      [&](auto& x) {
        const auto logits = torch::linear(x, weight).to(torch::kFloat32);
        return torch::cross_entropy_loss(logits, targets, {}, at::Reduction::Sum, -100, 0.1);
      });
  compare.run(
      "embedding", random({s.vocabulary, s.d_model}),
      [&](auto& table) { return embed(targets, table, 2); },
      [&](auto& table) { return torch::embedding(table, targets) * 2; });
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("our functions beside plain tensor operations");
  std::string preset = "tiny";
  int rounds = 15, threads = available_cores();
  std::int64_t length = 30;
  app.add_option("--preset", preset)->check(CLI::IsMember({"tiny", "small", "base"}));
  app.add_option("--length", length, "pieces of a sentence")->check(CLI::Range(1, 512));
  app.add_option("--rounds", rounds)->check(CLI::PositiveNumber);
  app.add_option("--threads", threads)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, count, arguments);
  at::set_num_threads(threads);

  const ModelConfig model = ModelConfig::from_preset(preset == "tiny"    ? Preset::Tiny
                                                     : preset == "small" ? Preset::Small
                                                                         : Preset::Base);
  const Shape shape{model.d_model, model.d_ff, model.heads, preset == "base" ? 32000 : 8000,
                    length};
  const auto keys = torch::randint(1 << 30, {kTokens}, torch::kInt32);
  const Comparison compare(preset, rounds);
  compare_rows(compare, shape, keys);
  compare_linear(compare, shape, keys);
  compare_attention(compare, shape, keys);
  compare_loss_and_embedding(compare, shape);
}
