#include "model/functions.h"

#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/kernels.h"

namespace dragoman {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kRowsPerTask = 64;

bool has_kernel(const torch::Tensor& x) {
  return x.device().is_cpu() &&
         (x.scalar_type() == torch::kFloat32 || x.scalar_type() == torch::kBFloat16);
}

ElementType element_type(const torch::Tensor& x) {
  return x.scalar_type() == torch::kBFloat16 ? ElementType::BFloat16 : ElementType::Float32;
}

using OptionalTensor = std::optional<torch::Tensor>;  // undefined ones may not enter a Function

OptionalTensor optional(const torch::Tensor& x) {
  return x.defined() ? OptionalTensor(x) : std::nullopt;
}

torch::Tensor value_of(const OptionalTensor& x) { return x.value_or(torch::Tensor()); }

const std::int32_t* keys_of(const torch::Tensor& row_keys) {
  return row_keys.defined() ? row_keys.const_data_ptr<std::int32_t>() : nullptr;
}

/// Dropout's numbers as they travel through an autograd context.
struct SiteNumbers {
  std::int64_t site, threshold, heads, queries;

  DropoutSite with(const torch::Tensor& row_keys) const {
    return {.row_keys = keys_of(row_keys),
            .site = static_cast<std::uint32_t>(site),
            .threshold = static_cast<std::uint32_t>(threshold),
            .heads = heads,
            .queries = queries};
  }
  void save(AutogradContext* context) const {
    context->saved_data["site"] = std::vector<std::int64_t>{site, threshold, heads, queries};
  }
  static SiteNumbers load(AutogradContext* context) {
    const auto numbers = context->saved_data["site"].toIntVector();
    return {numbers[0], numbers[1], numbers[2], numbers[3]};
  }
};

SiteNumbers plain_rows(const Dropout& dropout, std::int64_t rows) {
  return {dropout.site, dropout.threshold(), 1, rows};
}

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

struct AttentionWeightsFunction : torch::autograd::Function<AttentionWeightsFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& scores,
                               const torch::Tensor& key_lengths, const OptionalTensor& row_keys,
                               SiteNumbers site, bool causal, double scale) {
    RECORD_USER_SCOPE("AttentionWeightsFunction");
    const auto input = scores.contiguous();
    auto weights = torch::empty_like(input);
    auto dropped = row_keys ? torch::empty_like(input) : weights;
    run_rows(kernels().attention_weights, element_type(input),
             AttentionWeightsArguments{
                 input.const_data_ptr(), weights.mutable_data_ptr(), dropped.mutable_data_ptr(),
                 key_lengths.const_data_ptr<std::int32_t>(), site.heads, site.queries,
                 input.size(2), static_cast<float>(scale), causal, site.with(value_of(row_keys))},
             input.size(0) * input.size(1), kRowsPerTask);
    context->save_for_backward({weights, value_of(row_keys)});
    context->saved_data["scale"] = scale;
    site.save(context);
    return dropped;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto& weights = saved[0];
    const auto d_dropped = gradients[0].contiguous();
    auto d_scores = torch::empty_like(d_dropped);
    run_rows(kernels().attention_weights_gradient, element_type(weights),
             AttentionWeightsGradientArguments{
                 weights.const_data_ptr(), d_dropped.const_data_ptr(), d_scores.mutable_data_ptr(),
                 weights.size(2), static_cast<float>(context->saved_data["scale"].toDouble()),
                 SiteNumbers::load(context).with(saved[1])},
             weights.size(0) * weights.size(1), kRowsPerTask);
    return {d_scores, {}, {}, {}, {}, {}};
  }
};

/// What PackedAttentionFunction remembers besides tensors.
struct PackedAttentionNumbers {
  std::int64_t sentences, longest_keys;
  bool causal;
};

/// Rows behind the last sentence, which the kernels leave alone, become zero.
void zero_filler(torch::Tensor& x, const torch::Tensor& starts) {
  const std::int64_t tokens = starts.const_data_ptr<std::int32_t>()[starts.size(0) - 1];
  if (tokens < x.size(0)) x.narrow(0, tokens, x.size(0) - tokens).zero_();
}

struct PackedAttentionFunction : torch::autograd::Function<PackedAttentionFunction> {
  static PackedAttentionArguments arguments(const torch::Tensor& q, const torch::Tensor& k,
                                            const torch::Tensor& v, torch::Tensor& log_sums,
                                            const torch::Tensor& query_starts,
                                            const torch::Tensor& key_starts,
                                            const DropoutSite& dropout,
                                            const PackedAttentionNumbers& numbers) {
    const std::int64_t d_k = q.size(1) / dropout.heads;
    return {q.const_data_ptr(),
            k.const_data_ptr(),
            v.const_data_ptr(),
            nullptr,
            log_sums.mutable_data_ptr<float>(),
            query_starts.const_data_ptr<std::int32_t>(),
            key_starts.const_data_ptr<std::int32_t>(),
            dropout.heads,
            d_k,
            numbers.longest_keys,
            static_cast<float>(1 / std::sqrt(static_cast<double>(d_k))),
            numbers.causal,
            dropout};
  }
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& q_in,
                               const torch::Tensor& k_in, const torch::Tensor& v_in,
                               const torch::Tensor& query_starts, const torch::Tensor& key_starts,
                               const OptionalTensor& row_keys, SiteNumbers site,
                               PackedAttentionNumbers numbers) {
    RECORD_USER_SCOPE("PackedAttentionFunction");
    const auto q = q_in.contiguous(), k = k_in.contiguous(), v = v_in.contiguous();
    auto output = torch::empty_like(q);
    zero_filler(output, query_starts);
    auto log_sums = torch::empty({q.size(0), site.heads}, q.options().dtype(torch::kFloat32));
    auto call = arguments(q, k, v, log_sums, query_starts, key_starts,
                          site.with(value_of(row_keys)), numbers);
    call.output = output.mutable_data_ptr();
    run_rows(kernels().packed_attention, element_type(q), call, numbers.sentences * site.heads, 1);
    context->save_for_backward({q, k, v, log_sums, query_starts, key_starts, value_of(row_keys)});
    context->saved_data["numbers"] = std::vector<std::int64_t>{
        numbers.sentences, numbers.longest_keys, static_cast<std::int64_t>(numbers.causal)};
    site.save(context);
    return output;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    auto saved = context->get_saved_variables();
    const auto stored = context->saved_data["numbers"].toIntVector();
    const PackedAttentionNumbers numbers{stored[0], stored[1], stored[2] != 0};
    const SiteNumbers site = SiteNumbers::load(context);
    const auto d_output = gradients[0].contiguous();
    auto dq = torch::empty_like(saved[0]), dk = torch::empty_like(saved[1]),
         dv = torch::empty_like(saved[2]);
    zero_filler(dq, saved[4]);
    zero_filler(dk, saved[5]);
    zero_filler(dv, saved[5]);
    const PackedAttentionGradientArguments call{
        arguments(saved[0], saved[1], saved[2], saved[3], saved[4], saved[5], site.with(saved[6]),
                  numbers),
        d_output.const_data_ptr(), dq.mutable_data_ptr(), dk.mutable_data_ptr(),
        dv.mutable_data_ptr()};
    run_rows(kernels().packed_attention_gradient, element_type(d_output), call,
             numbers.sentences * site.heads, 1);
    return {dq, dk, dv, {}, {}, {}, {}, {}};
  }
};

struct EmbedFunction : torch::autograd::Function<EmbedFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& tokens,
                               const torch::Tensor& weight, double scale) {
    RECORD_USER_SCOPE("EmbedFunction");
    context->save_for_backward({tokens});
    context->saved_data["vocabulary"] = weight.size(0);
    context->saved_data["scale"] = scale;
    auto rows = weight.index_select(0, tokens.clamp_min(0)).mul_(scale);  // [N, D]
    return rows.masked_fill_((tokens < 0).unsqueeze(1), 0);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto tokens = context->get_saved_variables()[0];
    const auto d_output = gradients[0].contiguous();
    const std::int64_t columns = d_output.size(1);
    auto gradient = torch::zeros({context->saved_data["vocabulary"].toInt(), columns},
                                 d_output.options().dtype(torch::kFloat32));
    const double scale = context->saved_data["scale"].toDouble();
    if (has_kernel(d_output)) {
      run_rows(kernels().embedding_gradient, element_type(d_output),
               EmbeddingGradientArguments{d_output.const_data_ptr(),
                                          tokens.const_data_ptr<std::int64_t>(),
                                          gradient.mutable_data_ptr<float>(), tokens.size(0),
                                          columns, static_cast<float>(scale)},
               columns, kRowsPerTask);
    } else {
      const auto inside = (tokens >= 0).unsqueeze(1);
      gradient.index_add_(0, tokens.clamp_min(0),
                          (d_output * inside).to(torch::kFloat32).mul_(scale));
    }
    return {{}, gradient.to(d_output.scalar_type()), {}};
  }
};

bool drops(const Dropout& dropout, const torch::Tensor& row_keys) {
  return row_keys.defined() && dropout.threshold() > 0;
}

}  // namespace

std::uint32_t Dropout::threshold() const {
  return static_cast<std::uint32_t>(std::min(std::lround(rate * 256), 255L));
}

torch::Tensor Dropout::apply(const torch::Tensor& x, const torch::Tensor& row_keys) const {
  if (!drops(*this, row_keys)) return x;
  if (has_kernel(x))
    return DropoutFunction::apply(x, OptionalTensor(), row_keys, plain_rows(*this, x.size(0)));
  return x * dropout_factors(*this, row_keys, 1, x.size(0), x.size(1)).to(x.scalar_type());
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

torch::Tensor attention_weights_reference(const torch::Tensor& scores, const PackedLayout& queries,
                                          const PackedLayout& keys, AttentionMask mask,
                                          double scale, const Dropout& dropout) {
  const std::int64_t heads = queries.heads, T = scores.size(1), S = scores.size(2);
  const auto key = torch::arange(S, keys.lengths.options());
  auto visible = (key.view({1, 1, 1, S}) < keys.lengths.view({-1, 1, 1, 1}));  // [B, 1, 1, S]
  if (mask == AttentionMask::Causal) {
    const auto query = torch::arange(T, keys.lengths.options());
    visible = visible & (key.view({1, S}) <= query.view({T, 1}));  // [B, 1, T, S]
  }
  const auto masked =
      scores.view({-1, heads, T, S})
          .mul(scale)
          .masked_fill(visible.logical_not(), -std::numeric_limits<float>::infinity());
  auto weights = masked.softmax(-1).view({-1, T, S});  // [B*H, T, S]
  if (!drops(dropout, queries.padded_row_keys)) return weights;
  const auto factors = dropout_factors(dropout, queries.padded_row_keys, heads, T, S);
  return weights * factors.view_as(weights).to(weights.scalar_type());
}

torch::Tensor attention_weights(const torch::Tensor& scores, const PackedLayout& queries,
                                const PackedLayout& keys, AttentionMask mask, double scale,
                                const Dropout& dropout) {
  if (!has_kernel(scores))
    return attention_weights_reference(scores, queries, keys, mask, scale, dropout);
  const SiteNumbers site{dropout.site, dropout.threshold(), queries.heads, scores.size(1)};
  return AttentionWeightsFunction::apply(
      scores, keys.lengths,
      drops(dropout, queries.padded_row_keys) ? optional(queries.padded_row_keys) : std::nullopt,
      site, mask == AttentionMask::Causal, scale);
}

torch::Tensor scaled_dot_product_attention(const torch::Tensor& q, const torch::Tensor& k,
                                           const torch::Tensor& v, const PackedLayout& queries,
                                           const PackedLayout& keys, AttentionMask mask,
                                           const Dropout& dropout) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  const auto scores = torch::bmm(q, k.transpose(1, 2));  // [B*H, T, S]
  return torch::bmm(attention_weights(scores, queries, keys, mask, scale, dropout), v);
}

torch::Tensor padded_attention(const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, const PackedLayout& queries,
                               const PackedLayout& keys, AttentionMask mask,
                               const Dropout& dropout) {
  const auto context = scaled_dot_product_attention(
      pad_heads(q, queries), pad_heads(k, keys), pad_heads(v, keys), queries, keys, mask, dropout);
  return unpad_heads(context, queries);  // [B*H, T, K] -> [N, D]
}

torch::Tensor packed_attention(const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, const PackedLayout& queries,
                               const PackedLayout& keys, AttentionMask mask,
                               const Dropout& dropout) {
  if (!has_kernel(q) || !fits_packed_attention(keys.longest, q.size(1) / queries.heads))
    return padded_attention(q, k, v, queries, keys, mask, dropout);
  const SiteNumbers site{dropout.site, dropout.threshold(), queries.heads, queries.rows};
  return PackedAttentionFunction::apply(
      q, k, v, queries.starts, keys.starts,
      drops(dropout, queries.row_keys) ? optional(queries.row_keys) : std::nullopt, site,
      PackedAttentionNumbers{queries.sentences, keys.longest, mask == AttentionMask::Causal});
}

torch::Tensor embed(const torch::Tensor& tokens, const torch::Tensor& weight, double scale) {
  return EmbedFunction::apply(tokens, weight, scale);
}

}  // namespace dragoman
