#include "model/ops/layers.h"

#include <ATen/ops/embedding_dense_backward.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "model/ops/kernel_call.h"
#include "model/ops/products.h"

namespace dragoman {

// Embeddings

torch::Tensor embed_reference(const torch::Tensor& tokens, const torch::Tensor& weight,
                              double scale) {
  auto rows = weight.index_select(0, tokens.clamp_min(0)).mul_(scale);  // [N, D]
  return rows.masked_fill_((tokens < 0).unsqueeze(1), 0);
}

namespace {

/// The rows of each token: order[starts[g]..starts[g+1]), ascending, are the rows with tokens[g].
/// Rows with token -1 (the zero vector) are left out.
struct TokenGroups {
  TokenGroups(const torch::Tensor& all, std::int64_t vocabulary) {
    const std::span values(all.const_data_ptr<std::int64_t>(),
                           static_cast<std::size_t>(all.size(0)));
    std::vector<std::int64_t> next(static_cast<std::size_t>(vocabulary));  // counts at first
    for (const std::int64_t token : values)
      if (token >= 0) ++next[token];
    std::int64_t position = 0;
    for (std::int64_t token = 0; token < vocabulary; ++token) {
      const std::int64_t count = std::exchange(next[token], position);
      if (count == 0) continue;
      tokens.push_back(token);
      starts.push_back(position);
      position += count;
    }
    starts.push_back(position);
    order.resize(static_cast<std::size_t>(position));
    for (std::size_t row = 0; row < values.size(); ++row)
      if (values[row] >= 0) order[next[values[row]]++] = static_cast<std::int64_t>(row);
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
    if (has_kernel_for(weight)) {
      TORCH_CHECK_INDEX(tokens.numel() == 0 || tokens.max().item<std::int64_t>() < weight.size(0),
                        "a token is outside of the vocabulary of ", weight.size(0));
      const auto table = weight.contiguous();
      auto y = torch::empty({tokens.size(0), weight.size(1)}, weight.options());
      run_rows(batch_kernels().embedding, element_type(weight),
               EmbeddingArguments{table.const_data_ptr(), tokens.const_data_ptr<std::int64_t>(),
                                  y.mutable_data_ptr(), weight.size(1), static_cast<float>(scale)},
               tokens.size(0), kRowsPerTask);
      return y;
    }
    return embed_reference(tokens, weight, scale);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto tokens = context->get_saved_variables()[0];
    const auto d_output = gradients[0].contiguous();
    const std::int64_t vocabulary = context->saved_data["vocabulary"].toInt();
    const double scale = context->saved_data["scale"].toDouble();
    if (has_kernel_for(d_output)) {
      auto gradient = torch::zeros({vocabulary, d_output.size(1)}, d_output.options());
      const TokenGroups groups(tokens, vocabulary);
      run_rows(batch_kernels().embedding_gradient, element_type(d_output),
               EmbeddingGradientArguments{d_output.const_data_ptr(), groups.order.data(),
                                          groups.starts.data(), groups.tokens.data(),
                                          gradient.mutable_data_ptr(), d_output.size(1),
                                          static_cast<float>(scale)},
               std::ssize(groups.tokens), kRowsPerTask);
      return {{}, gradient, {}};
    }
    // LibTorch's function sorts the tokens and adds up their rows in one order; index_add on a GPU
    // adds by atomics, in any order. The zero vector is one more token, which it leaves out.
    const auto rows = tokens.masked_fill(tokens < 0, vocabulary);
    const auto sums = at::embedding_dense_backward(d_output.to(torch::kFloat32).mul(scale), rows,
                                                   vocabulary + 1, /*padding_idx=*/vocabulary,
                                                   /*scale_grad_by_freq=*/false);
    return {{}, sums.narrow(0, 0, vocabulary).to(d_output.scalar_type()), {}};
  }
};

}  // namespace

torch::Tensor embed(const torch::Tensor& tokens, const torch::Tensor& weight, double scale) {
  return EmbedFunction::apply(tokens, weight, scale);
}

// Linear layers

namespace {

/// The parts as one matrix or vector: a view if they lie one after another in memory, else a copy.
torch::Tensor join_views(at::TensorList parts) {
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
    const auto weight = join_views(weights);
    const auto input = x.contiguous();
    context->save_for_backward({input, weight});
    std::vector<std::int64_t> rows;
    for (const torch::Tensor& part : weights) rows.push_back(part.size(0));
    context->saved_data["rows"] = rows;
    return linear_product(input, weight, join_views(biases));
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

}  // namespace

torch::Tensor joined_linear(const torch::Tensor& x, at::TensorList weights, at::TensorList biases) {
  return JoinedLinearFunction::apply(x, weights, biases);
}

torch::Tensor linear(torch::nn::Linear& layer, const torch::Tensor& x) {
  return joined_linear(x, {layer->weight}, {layer->bias});
}

// The feed-forward network

namespace {

/// For our own products, which apply bias, ReLU and dropout while they have the sums in registers.
struct FeedForwardFunction : torch::autograd::Function<FeedForwardFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& inner_weight, const torch::Tensor& inner_bias,
                               const torch::Tensor& outer_weight, const torch::Tensor& outer_bias,
                               const DropoutMask& mask) {
    RECORD_USER_SCOPE("FeedForwardFunction");
    const auto input = x.contiguous();
    const auto hidden = relu_product(input, inner_weight, inner_bias, mask.rule());
    context->save_for_backward({input, inner_weight, outer_weight, hidden});
    context->saved_data["scale"] = static_cast<double>(mask.rule().scale());
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
            {}};
  }
};

}  // namespace

torch::Tensor relu_feed_forward(torch::nn::Linear& inner, torch::nn::Linear& outer,
                                const Dropout& dropout, const torch::Tensor& x,
                                const torch::Tensor& row_keys) {
  if (!is_own_product(x)) return linear(outer, dropout.relu(linear(inner, x), row_keys));
  return FeedForwardFunction::apply(x, inner->weight, inner->bias, outer->weight, outer->bias,
                                    DropoutMask(dropout, row_keys, x.size(0)));
}

// Add & Norm

NormalizedSum add_norm_reference(const AddNorm& norm, const torch::Tensor& x,
                                 const torch::Tensor& residual, const torch::Tensor& row_keys) {
  const auto sum = residual.defined() ? norm.dropout.add(x, residual, row_keys)
                                      : norm.dropout.apply(x, row_keys);
  return {sum, torch::layer_norm(sum, {x.size(1)}, norm.gain, norm.bias, norm.epsilon)};
}

namespace {

/// [normalized, sum], or [normalized] if x is the sum.
struct AddNormFunction : torch::autograd::Function<AddNormFunction> {
  static variable_list forward(AutogradContext* context, const torch::Tensor& x,
                               const OptionalTensor& residual, const torch::Tensor& gain,
                               const torch::Tensor& bias, double epsilon, const DropoutMask& mask,
                               bool wants_gradients) {
    RECORD_USER_SCOPE("AddNormFunction");
    const auto input = x.contiguous();
    const auto added = residual ? residual->contiguous() : torch::Tensor();
    const auto y = torch::empty_like(input);
    const auto sum = residual || mask.drops() ? torch::empty_like(input) : torch::Tensor();
    auto statistics = wants_gradients
                          ? torch::empty({2, x.size(0)}, x.options().dtype(torch::kFloat32))
                          : torch::Tensor();
    float* means = wants_gradients ? statistics.mutable_data_ptr<float>() : nullptr;
    run_rows(
        batch_kernels().add_norm, element_type(input),
        NormArguments{input.const_data_ptr(), added.defined() ? added.const_data_ptr() : nullptr,
                      gain.const_data_ptr(), bias.const_data_ptr(),
                      sum.defined() ? sum.mutable_data_ptr() : nullptr, y.mutable_data_ptr(), means,
                      wants_gradients ? means + x.size(0) : nullptr, x.size(1),
                      static_cast<float>(epsilon), mask.rule()},
        x.size(0), kRowsPerTask);
    if (wants_gradients)
      context->save_for_backward({sum.defined() ? sum : input, statistics, gain});
    context->saved_data["residual"] = residual.has_value();
    context->set_materialize_grads(false);
    mask.save(context);
    return sum.defined() ? variable_list{y, sum} : variable_list{y};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto &sum = saved[0], &statistics = saved[1], &gain = saved[2];
    const auto mask = DropoutMask::saved(context);
    const auto dy = gradients[0].defined() ? gradients[0].contiguous() : torch::zeros_like(sum);
    const auto elsewhere = gradients.size() > 1 && gradients[1].defined()
                               ? gradients[1].contiguous()
                               : torch::Tensor();
    const std::int64_t rows = sum.size(0), columns = sum.size(1);
    auto d_sum = torch::empty_like(sum);
    auto d_x = mask.drops() ? torch::empty_like(sum) : d_sum;
    const std::int64_t parts = divide_up(rows, kRowsPerTask);
    auto d_parameters = torch::zeros({2, parts, columns}, statistics.options());
    float* d_gain = d_parameters.mutable_data_ptr<float>();
    const auto* means = statistics.const_data_ptr<float>();
    run_rows(batch_kernels().add_norm_gradient, element_type(sum),
             NormGradientArguments{
                 dy.const_data_ptr(), elsewhere.defined() ? elsewhere.const_data_ptr() : nullptr,
                 sum.const_data_ptr(), gain.const_data_ptr(), means, means + rows,
                 d_sum.mutable_data_ptr(), mask.drops() ? d_x.mutable_data_ptr() : nullptr, d_gain,
                 d_gain + parts * columns, kRowsPerTask, columns, mask.rule()},
             rows, kRowsPerTask);
    const auto totals = d_parameters.sum(1).to(gain.scalar_type());  // [2, D]
    const auto d_residual = context->saved_data["residual"].toBool() ? d_sum : torch::Tensor();
    return {d_x, d_residual, totals[0], totals[1], {}, {}, {}};
  }
};

}  // namespace

NormalizedSum AddNorm::apply(const torch::Tensor& x, const torch::Tensor& residual,
                             const torch::Tensor& row_keys) const {
  if (!has_kernel_for(x)) return add_norm_reference(*this, x, residual, row_keys);
  const auto results = AddNormFunction::apply(x, as_optional(residual), gain, bias, epsilon,
                                              DropoutMask(dropout, row_keys, x.size(0)),
                                              torch::GradMode::is_enabled());
  return {results.size() > 1 ? results[1] : x, results[0]};
}

}  // namespace dragoman
