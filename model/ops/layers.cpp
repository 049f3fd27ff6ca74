#include "model/ops/layers.h"

#include <ATen/ops/embedding_dense_backward.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "kernels/cuda/add_norm.h"
#include "kernels/cuda/column_sums.h"
#include "kernels/cuda/embedding.h"
#include "model/ops/column_sums.h"
#include "model/ops/cuda_kernels.h"
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

namespace {

/// TokenInput by our kernels for GPUs.
struct TokenInputFunction : torch::autograd::Function<TokenInputFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& weight,
                               const torch::Tensor& tokens, double scale,
                               const torch::Tensor& encodings, const torch::Tensor& positions,
                               const DropoutMask& mask) {
    RECORD_USER_SCOPE("TokenInputFunction");
    const auto table = weight.contiguous();
    const std::int64_t rows = tokens.size(0), columns = weight.size(1);
    auto y = torch::empty({rows, columns}, weight.options());
    const CudaEmbedding arguments{.tokens = long_longs(tokens.const_data_ptr<std::int64_t>()),
                                  .positions = long_longs(positions.const_data_ptr<std::int64_t>()),
                                  .weight = table.const_data_ptr(),
                                  .encodings = encodings.const_data_ptr(),
                                  .y = y.mutable_data_ptr(),
                                  .rows = static_cast<unsigned>(rows),
                                  .columns = static_cast<unsigned>(columns),
                                  .scale = static_cast<float>(scale),
                                  .rule = on_cuda(mask.rule())};
    launch_cuda_kernel("embedding", y,
                       blocks_of(rows * divide_up<std::int64_t>(columns, kCudaColumns)),
                       &arguments);
    context->save_for_backward({tokens});
    context->saved_data["vocabulary"] = weight.size(0);
    context->saved_data["scale"] = scale;
    mask.save(context);
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto tokens = context->get_saved_variables()[0], dy = gradients[0].contiguous();
    const std::int64_t vocabulary = context->saved_data["vocabulary"].toInt();
    const auto [sorted, order] = tokens.sort(/*stable=*/true, 0, /*descending=*/false);
    auto d_weight = torch::empty({vocabulary, dy.size(1)}, dy.options());
    const auto columns = static_cast<unsigned>(dy.size(1));
    const auto mask = DropoutMask::saved(context);
    const CudaEmbeddingGradient arguments{
        .dy = dy.const_data_ptr(),
        .tokens = long_longs(sorted.const_data_ptr<std::int64_t>()),
        .order = long_longs(order.const_data_ptr<std::int64_t>()),
        .d_weight = d_weight.mutable_data_ptr(),
        .rows = static_cast<unsigned>(dy.size(0)),
        .columns = columns,
        .vocabulary = static_cast<unsigned>(vocabulary),
        .scale = static_cast<float>(context->saved_data["scale"].toDouble()),
        .rule = on_cuda(mask.rule())};
    launch_cuda_kernel("embedding_gradient", dy, {dy.size(0), cuda_embedding_threads(columns)},
                       &arguments);
    return {d_weight, {}, {}, {}, {}, {}};
  }
};

}  // namespace

torch::Tensor embed_at_positions(const TokenInput& in) {
  const std::int64_t rows = in.tokens.size(0);
  if (has_cuda_kernel_for(in.weight) && in.weight.size(1) <= kCudaMostEmbeddingColumns && rows > 0)
    return TokenInputFunction::apply(in.weight, in.tokens, in.scale, in.encodings, in.positions,
                                     DropoutMask(in.dropout, in.row_keys, rows));
  const auto embedded = embed(in.tokens, in.weight, in.scale);
  return in.dropout.apply(embedded + in.encodings.index_select(0, in.positions), in.row_keys);
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

/// For products and kernels that apply bias, ReLU and dropout in one pass: our own products, which
/// have the sums in registers, and our kernels for GPUs, after LibTorch's product.
struct FeedForwardFunction : torch::autograd::Function<FeedForwardFunction> {
  static bool fits(const torch::Tensor& x, const DropoutMask& mask) {
    return is_own_product(x) || (mask.drops() && has_cuda_kernel_for(x));
  }

  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& inner_weight, const torch::Tensor& inner_bias,
                               const torch::Tensor& outer_weight, const torch::Tensor& outer_bias,
                               const DropoutMask& mask) {
    RECORD_USER_SCOPE("FeedForwardFunction");
    const auto input = x.contiguous();
    torch::Tensor hidden, kept;
    if (is_own_product(input)) {
      hidden = relu_product(input, inner_weight, inner_bias, mask.rule());
    } else {
      hidden = linear_product(input, inner_weight, inner_bias);
      kept = relu_dropout_on_cuda(hidden, mask.rule());
    }
    context->save_for_backward({input, inner_weight, outer_weight, hidden, kept});
    context->saved_data["scale"] = static_cast<double>(mask.rule().scale());
    return linear_product(hidden, outer_weight, outer_bias);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto &input = saved[0], &inner_weight = saved[1], &outer_weight = saved[2],
               &hidden = saved[3], &kept = saved[4];
    const auto scale = static_cast<float>(context->saved_data["scale"].toDouble());
    const auto dy = gradients[0].contiguous();
    const auto d_outer_bias = bias_gradient(dy);  // first: its sums may be noted
    torch::Tensor d_hidden;
    if (kept.defined()) {
      d_hidden = input_gradient(dy, outer_weight);
      relu_dropout_gradient_on_cuda(d_hidden, kept, scale);
    } else {
      d_hidden = relu_gradient_product(dy, outer_weight, hidden, scale);
    }
    return {input_gradient(d_hidden, inner_weight),
            weight_gradient(d_hidden, input),
            bias_gradient(d_hidden),
            weight_gradient(dy, hidden),
            d_outer_bias,
            {}};
  }
};

}  // namespace

torch::Tensor relu_feed_forward(torch::nn::Linear& inner, torch::nn::Linear& outer,
                                const Dropout& dropout, const torch::Tensor& x,
                                const torch::Tensor& row_keys) {
  const DropoutMask mask(dropout, row_keys, x.size(0));
  if (!FeedForwardFunction::fits(x, mask))
    return linear(outer, dropout.relu(linear(inner, x), row_keys));
  return FeedForwardFunction::apply(x, inner->weight, inner->bias, outer->weight, outer->bias,
                                    mask);
}

// Add & Norm

NormalizedSum add_norm_reference(const AddNorm& norm, const torch::Tensor& x,
                                 const torch::Tensor& residual, const torch::Tensor& row_keys) {
  const auto sum = residual.defined() ? norm.dropout.add(x, residual, row_keys)
                                      : norm.dropout.apply(x, row_keys);
  const auto y = torch::layer_norm(sum, {x.size(1)}, norm.gain, norm.bias, norm.epsilon);
  return {sum, y, y};
}

namespace {

bool has_norm_kernel_for(const torch::Tensor& x) {
  return has_kernel_for(x) || (has_cuda_kernel_for(x) && x.size(1) <= kCudaMostColumns);
}

void run_add_norm(const NormArguments& a, const torch::Tensor& x) {
  if (x.is_cpu())
    return run_rows(batch_kernels().add_norm, element_type(x), a, x.size(0), kRowsPerTask);
  const auto columns = static_cast<unsigned>(a.columns);
  const CudaAddNorm arguments{a.x,
                              a.residual,
                              a.gain,
                              a.bias,
                              a.sum,
                              a.y,
                              a.means,
                              a.inverse_deviations,
                              static_cast<unsigned>(x.size(0)),
                              columns,
                              a.epsilon,
                              on_cuda(a.dropout)};
  launch_cuda_kernel("add_norm", x, {x.size(0), cuda_threads_of_row(columns)}, &arguments);
}

/// Arguments of the kernel for GPUs alone (CudaAddNormGradient).
struct NormGradientOnCuda {
  torch::Tensor dy_again;  ///< may be undefined
  float* x_sums;
};

/// On a GPU, gradients of gain and bias are written; on the CPU they are added.
void run_add_norm_gradient(const NormGradientArguments& a, const NormGradientOnCuda& on_gpu,
                           const torch::Tensor& sum) {
  const std::int64_t rows = sum.size(0);
  if (sum.is_cpu())
    return run_rows(batch_kernels().add_norm_gradient, element_type(sum), a, rows, a.rows_per_sum);
  const auto columns = static_cast<unsigned>(a.columns);
  const CudaAddNormGradient arguments{
      .dy = a.dy,
      .dy_again = on_gpu.dy_again.defined() ? on_gpu.dy_again.const_data_ptr() : nullptr,
      .d_sum_elsewhere = a.d_sum_elsewhere,
      .sum = a.sum,
      .gain = a.gain,
      .means = a.means,
      .inverse_deviations = a.inverse_deviations,
      .d_sum = a.d_sum,
      .d_x = a.d_x,
      .d_gain = a.d_gain,
      .d_bias = a.d_bias,
      .x_sums = on_gpu.x_sums,
      .rows = static_cast<unsigned>(rows),
      .columns = columns,
      .rows_per_sum = static_cast<unsigned>(a.rows_per_sum),
      .rule = on_cuda(a.dropout)};
  launch_cuda_kernel("add_norm_gradient", sum,
                     {divide_up(rows, a.rows_per_sum), cuda_threads_of_row(columns)}, &arguments);
}

/// [normalized, sum], or [normalized] if x is the sum. On a GPU `again` comes last.
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
    run_add_norm({input.const_data_ptr(), added.defined() ? added.const_data_ptr() : nullptr,
                  gain.const_data_ptr(), bias.const_data_ptr(),
                  sum.defined() ? sum.mutable_data_ptr() : nullptr, y.mutable_data_ptr(), means,
                  wants_gradients ? means + x.size(0) : nullptr, x.size(1),
                  static_cast<float>(epsilon), mask.rule()},
                 input);
    if (wants_gradients)
      context->save_for_backward({sum.defined() ? sum : input, statistics, gain});
    context->saved_data["residual"] = residual.has_value();
    context->set_materialize_grads(false);
    mask.save(context);
    context->saved_data["has_sum"] = sum.defined();
    variable_list results = {y};
    if (sum.defined()) results.push_back(sum);
    if (input.is_cuda()) results.emplace_back(y.variable_data());
    return results;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto &sum = saved[0], &statistics = saved[1], &gain = saved[2];
    const auto mask = DropoutMask::saved(context);
    for (torch::Tensor& gradient : gradients)
      if (gradient.defined()) gradient = gradient.contiguous();
    torch::Tensor dy = gradients[0], dy_again, elsewhere;
    if (context->saved_data["has_sum"].toBool()) elsewhere = gradients[1];
    if (sum.is_cuda()) dy_again = gradients.back();
    if (!dy.defined()) std::swap(dy, dy_again);
    if (!dy.defined()) dy = torch::zeros_like(sum);
    const std::int64_t rows = sum.size(0), columns = sum.size(1);
    auto d_sum = torch::empty_like(sum);
    auto d_x = mask.drops() ? torch::empty_like(sum) : d_sum;
    const std::int64_t rows_per_sum = sum.is_cpu() ? kRowsPerTask : kCudaRowsOfSum;
    const std::int64_t parts = divide_up(rows, rows_per_sum);
    // The gradients of gain and bias, and on a GPU that of the bias of the linear layer that wrote
    // x.
    auto d_parameters = torch::empty({sum.is_cpu() ? 2 : 3, parts, columns}, statistics.options());
    if (sum.is_cpu()) d_parameters.zero_();
    float* const d_gain = d_parameters.mutable_data_ptr<float>();
    float* const d_bias = d_gain + parts * columns;
    float* const x_sums = sum.is_cpu() ? nullptr : d_bias + parts * columns;
    const auto* means = statistics.const_data_ptr<float>();
    run_add_norm_gradient(
        {dy.const_data_ptr(), elsewhere.defined() ? elsewhere.const_data_ptr() : nullptr,
         sum.const_data_ptr(), gain.const_data_ptr(), means, means + rows, d_sum.mutable_data_ptr(),
         mask.drops() ? d_x.mutable_data_ptr() : nullptr, d_gain, d_bias, rows_per_sum, columns,
         mask.rule()},
        {dy_again, x_sums}, sum);
    const auto totals = sum.is_cpu() ? d_parameters.sum(1).to(gain.scalar_type())
                                     : sums_of_stretches(d_parameters, gain.scalar_type());
    if (sum.is_cuda()) note_column_sums(d_x, totals[2]);
    const auto d_residual = context->saved_data["residual"].toBool() ? d_sum : torch::Tensor();
    return {d_x, d_residual, totals[0], totals[1], {}, {}, {}};
  }
};

}  // namespace

NormalizedSum AddNorm::apply(const torch::Tensor& x, const torch::Tensor& residual,
                             const torch::Tensor& row_keys) const {
  if (!has_norm_kernel_for(x)) return add_norm_reference(*this, x, residual, row_keys);
  const auto results = AddNormFunction::apply(x, as_optional(residual), gain, bias, epsilon,
                                              DropoutMask(dropout, row_keys, x.size(0)),
                                              torch::GradMode::is_enabled());
  const bool has_sum = results.size() > (x.is_cuda() ? 2 : 1);
  return {has_sum ? results[1] : x, results[0], x.is_cuda() ? results.back() : results[0]};
}

}  // namespace dragoman
