#include "model/ops/embedding.h"

#include <ATen/ops/embedding_dense_backward.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "model/ops/kernel_call.h"

namespace dragoman {

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
               static_cast<std::int64_t>(groups.tokens.size()), kRowsPerTask);
      return {{}, gradient, {}};
    }
    // It sorts the tokens and adds up their rows in one order. index_add would do so by atomics on
    // a GPU, in any order. The zero vector is one more token, which it leaves out.
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

}  // namespace dragoman
