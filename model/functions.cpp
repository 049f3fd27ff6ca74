#include "model/functions.h"

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "model/function_support.h"
#include "model/products.h"

namespace dragoman {

namespace {

torch::Tensor run_dropout(const torch::Tensor& x, const torch::Tensor& residual,
                          const DropoutSite& site) {
  auto y = torch::empty_like(x);
  run_rows(
      kernels().dropout, element_type(x),
      DropoutArguments{x.const_data_ptr(), residual.defined() ? residual.const_data_ptr() : nullptr,
                       y.mutable_data_ptr(), x.size(1), site},
      x.size(0), kRowsPerTask);
  return y;
}

/// residual + dropout(x); an undefined residual counts as zero.
struct DropoutFunction : torch::autograd::Function<DropoutFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const OptionalTensor& residual, const torch::Tensor& row_keys,
                               SiteNumbers site) {
    RECORD_USER_SCOPE("DropoutFunction");
    context->save_for_backward({row_keys});
    context->saved_data["residual"] = residual.has_value();
    site.save(context);
    return run_dropout(x.contiguous(), residual ? residual->contiguous() : torch::Tensor(),
                       site.with(row_keys));
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto row_keys = context->get_saved_variables()[0];
    const auto dy = gradients[0].contiguous();
    const bool residual = context->saved_data["residual"].toBool();
    return {run_dropout(dy, {}, SiteNumbers::load(context).with(row_keys)),
            residual ? dy : torch::Tensor(),
            {},
            {}};
  }
};

struct ReluDropoutFunction : torch::autograd::Function<ReluDropoutFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const OptionalTensor& row_keys, SiteNumbers site) {
    RECORD_USER_SCOPE("ReluDropoutFunction");
    const auto input = x.contiguous();
    auto y = torch::empty_like(input);
    run_rows(kernels().relu_dropout, element_type(x),
             ReluDropoutArguments{input.const_data_ptr(), y.mutable_data_ptr(), x.size(1),
                                  site.with(value_of(row_keys))},
             x.size(0), kRowsPerTask);
    context->save_for_backward({y});
    context->saved_data["scale"] =
        row_keys ? static_cast<double>(site.with(*row_keys).scale()) : 1.0;
    return y;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto y = context->get_saved_variables()[0];
    const auto dy = gradients[0].contiguous();
    auto dx = torch::empty_like(dy);
    run_rows(kernels().relu_dropout_gradient, element_type(y),
             ReluDropoutGradientArguments{
                 y.const_data_ptr(), dy.const_data_ptr(), dx.mutable_data_ptr(), y.size(1),
                 static_cast<float>(context->saved_data["scale"].toDouble())},
             y.size(0), kRowsPerTask);
    return {dx, {}, {}};
  }
};

/// One matrix or vector of those that lie behind each other in memory, else a copy.
torch::Tensor joined(at::TensorList parts) {
  const char* end = static_cast<const char*>(parts[0].const_data_ptr());
  std::int64_t rows = 0;
  bool adjacent = true;
  for (const torch::Tensor& part : parts) {
    adjacent = adjacent && part.const_data_ptr() == end && part.is_alias_of(parts[0]);
    end += part.nbytes();
    rows += part.size(0);
  }
  if (!adjacent) return torch::cat(parts);
  auto sizes = parts[0].sizes().vec();
  sizes[0] = rows;
  return parts[0].as_strided(sizes, parts[0].strides());
}

struct JoinedLinearFunction : torch::autograd::Function<JoinedLinearFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               at::TensorList weights, at::TensorList biases) {
    RECORD_USER_SCOPE("JoinedLinearFunction");
    const auto weight = joined(weights);
    const auto input = x.contiguous();
    context->save_for_backward({input, weight});
    std::vector<std::int64_t> rows;
    for (const torch::Tensor& part : weights) rows.push_back(part.size(0));
    context->saved_data["rows"] = rows;
    return linear_product(input, weight, joined(biases));
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto dy = gradients[0].contiguous();
    const auto rows = context->saved_data["rows"].toIntVector();
    variable_list result = {input_gradient(dy, saved[1])};
    for (const auto& whole : {weight_gradient(dy, saved[0]), bias_gradient(dy)})
      for (const torch::Tensor& part : whole.split_with_sizes(rows, 0)) result.push_back(part);
    return result;
  }
};

/// W_2 dropout(relu(W_1 x + b_1)) + b_2 where there are products of ours, which take what stands
/// between them along.
struct FeedForwardFunction : torch::autograd::Function<FeedForwardFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& inner_weight, const torch::Tensor& inner_bias,
                               const torch::Tensor& outer_weight, const torch::Tensor& outer_bias,
                               const OptionalTensor& row_keys, SiteNumbers site) {
    RECORD_USER_SCOPE("FeedForwardFunction");
    const auto input = x.contiguous();
    const DropoutSite dropout = site.with(value_of(row_keys));
    const auto hidden = relu_product(input, inner_weight, inner_bias, dropout);
    context->save_for_backward({input, inner_weight, outer_weight, hidden});
    context->saved_data["scale"] = row_keys ? static_cast<double>(dropout.scale()) : 1.0;
    return linear_product(hidden, outer_weight, outer_bias);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto &input = saved[0], &inner_weight = saved[1], &outer_weight = saved[2],
               &hidden = saved[3];
    const auto scale = static_cast<float>(context->saved_data["scale"].toDouble());
    const auto dy = gradients[0].contiguous();
    const auto d_hidden = relu_gradient_product(dy, outer_weight, hidden, scale);
    return {input_gradient(d_hidden, inner_weight),
            weight_gradient(d_hidden, input),
            bias_gradient(d_hidden),
            weight_gradient(dy, hidden),
            bias_gradient(dy),
            {},
            {}};
  }
};

/// The rows in which each token stands, side by side and ascending; those of -1, the zero vector
/// before the first token, are left out.
struct TokenGroups {
  TokenGroups(const torch::Tensor& all, std::int64_t vocabulary) {
    const std::span values(all.const_data_ptr<std::int64_t>(),
                           static_cast<std::size_t>(all.size(0)));
    std::vector<std::int64_t> places(static_cast<std::size_t>(vocabulary));  // counts at first
    for (const std::int64_t token : values)
      if (token >= 0) ++places[token];
    std::int64_t place = 0;
    for (std::int64_t token = 0; token < vocabulary; ++token) {
      const std::int64_t count = std::exchange(places[token], place);
      if (count == 0) continue;
      tokens.push_back(token);
      starts.push_back(place);
      place += count;
    }
    starts.push_back(place);
    order.resize(static_cast<std::size_t>(place));
    for (std::size_t row = 0; row < values.size(); ++row)
      if (values[row] >= 0) order[places[values[row]]++] = static_cast<std::int64_t>(row);
  }

  std::vector<std::int64_t> order, starts, tokens;
};

struct EmbedFunction : torch::autograd::Function<EmbedFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& tokens,
                               const torch::Tensor& weight, double scale) {
    RECORD_USER_SCOPE("EmbedFunction");
    context->save_for_backward({tokens});
    context->saved_data["vocabulary"] = weight.size(0);
    context->saved_data["scale"] = scale;
    if (has_kernel(weight)) {
      TORCH_CHECK_INDEX(tokens.numel() == 0 || tokens.max().item<std::int64_t>() < weight.size(0),
                        "a token is outside of the vocabulary of ", weight.size(0));
      const auto table = weight.contiguous();
      auto y = torch::empty({tokens.size(0), weight.size(1)}, weight.options());
      run_rows(kernels().embedding, element_type(weight),
               EmbeddingArguments{table.const_data_ptr(), tokens.const_data_ptr<std::int64_t>(),
                                  y.mutable_data_ptr(), weight.size(1), static_cast<float>(scale)},
               tokens.size(0), kRowsPerTask);
      return y;
    }
    auto rows = weight.index_select(0, tokens.clamp_min(0)).mul_(scale);  // [N, D]
    return rows.masked_fill_((tokens < 0).unsqueeze(1), 0);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto tokens = context->get_saved_variables()[0];
    const auto d_output = gradients[0].contiguous();
    const std::int64_t vocabulary = context->saved_data["vocabulary"].toInt();
    const double scale = context->saved_data["scale"].toDouble();
    auto gradient = torch::zeros({vocabulary, d_output.size(1)}, d_output.options());
    if (has_kernel(d_output)) {
      const TokenGroups groups(tokens, vocabulary);
      run_rows(kernels().embedding_gradient, element_type(d_output),
               EmbeddingGradientArguments{d_output.const_data_ptr(), groups.order.data(),
                                          groups.starts.data(), groups.tokens.data(),
                                          gradient.mutable_data_ptr(), d_output.size(1),
                                          static_cast<float>(scale)},
               static_cast<std::int64_t>(groups.tokens.size()), kRowsPerTask);
      return {{}, gradient, {}};
    }
    const auto inside = (tokens >= 0).unsqueeze(1);
    auto sums = gradient.to(torch::kFloat32);
    sums.index_add_(0, tokens.clamp_min(0), (d_output * inside).to(torch::kFloat32).mul_(scale));
    return {{}, sums.to(d_output.scalar_type()), {}};
  }
};

}  // namespace

std::uint32_t Dropout::threshold() const {
  return static_cast<std::uint32_t>(std::min(std::lround(rate * 256), 255L));
}

torch::Tensor Dropout::apply(const torch::Tensor& x, const torch::Tensor& row_keys) const {
  if (drops(*this, row_keys) && has_kernel(x))
    return DropoutFunction::apply(x, OptionalTensor(), row_keys, plain_rows(*this, x.size(0)));
  return plainly_dropped(*this, x, row_keys);
}

torch::Tensor Dropout::add(const torch::Tensor& x, const torch::Tensor& residual,
                           const torch::Tensor& row_keys) const {
  if (drops(*this, row_keys) && has_kernel(x))
    return DropoutFunction::apply(x, optional(residual), row_keys, plain_rows(*this, x.size(0)));
  return residual + apply(x, row_keys);
}

torch::Tensor Dropout::relu(const torch::Tensor& x, const torch::Tensor& row_keys) const {
  if (has_kernel(x))
    return ReluDropoutFunction::apply(x, drops(*this, row_keys) ? optional(row_keys) : std::nullopt,
                                      plain_rows(*this, x.size(0)));
  return apply(x.relu(), row_keys);
}

torch::Tensor dropout_factors(const Dropout& dropout, const torch::Tensor& row_keys,
                              std::int64_t heads, std::int64_t queries, std::int64_t columns) {
  constexpr std::int64_t kMask = 0xFFFFFFFF;
  const auto hash = [](torch::Tensor x) {
    x = x.bitwise_xor(x.bitwise_right_shift(16)).mul(0x7FEB352D).bitwise_and(kMask);
    x = x.bitwise_xor(x.bitwise_right_shift(15)).mul(0x846CA68B).bitwise_and(kMask);
    return x.bitwise_xor(x.bitwise_right_shift(16));
  };
  const std::int64_t site = dropout.site * 0x85EBCA6BU;
  const auto options = row_keys.options().dtype(torch::kInt64);
  const auto token_keys = hash(row_keys.to(torch::kInt64).bitwise_and(kMask).bitwise_xor(site));
  const auto head_keys = torch::arange(heads, options).mul(0xC2B2AE35).bitwise_and(kMask);
  const auto keys =
      token_keys.view({-1, 1, queries}).add(head_keys.view({1, heads, 1}));  // [B, H, T]
  const auto column = torch::arange(columns, options);
  const auto counters = column.floor_divide(4).mul(0x9E3779B9);  // [C]
  const auto bits = hash(keys.reshape({-1, 1}).add(counters).bitwise_and(kMask));
  const auto bytes = bits.bitwise_right_shift(column.remainder(4).mul(8)).bitwise_and(0xFF);
  const double kept_scale = 256.0 / (256.0 - dropout.threshold());
  return bytes.ge(static_cast<std::int64_t>(dropout.threshold()))
      .to(torch::kFloat32)
      .mul(kept_scale);
}

torch::Tensor joined_linear(const torch::Tensor& x, at::TensorList weights, at::TensorList biases) {
  return JoinedLinearFunction::apply(x, weights, biases);
}

torch::Tensor linear(torch::nn::Linear& layer, const torch::Tensor& x) {
  return joined_linear(x, {layer->weight}, {layer->bias});
}

torch::Tensor relu_feed_forward(torch::nn::Linear& inner, torch::nn::Linear& outer,
                                const Dropout& dropout, const torch::Tensor& x,
                                const torch::Tensor& row_keys) {
  if (!has_product(x)) return linear(outer, dropout.relu(linear(inner, x), row_keys));
  return FeedForwardFunction::apply(x, inner->weight, inner->bias, outer->weight, outer->bias,
                                    drops(dropout, row_keys) ? optional(row_keys) : std::nullopt,
                                    plain_rows(dropout, x.size(0)));
}

torch::Tensor embed(const torch::Tensor& tokens, const torch::Tensor& weight, double scale) {
  return EmbedFunction::apply(tokens, weight, scale);
}

}  // namespace dragoman
