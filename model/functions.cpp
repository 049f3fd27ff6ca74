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

  void save(AutogradContext* context) const {
    context->saved_data["numbers"] = std::vector<std::int64_t>{sentences, longest_keys, causal};
  }
  static PackedAttentionNumbers load(AutogradContext* context) {
    const auto stored = context->saved_data["numbers"].toIntVector();
    return {stored[0], stored[1], stored[2] != 0};
  }
};

/// Rows behind the last sentence, which the kernels leave alone, become zero.
torch::Tensor with_zero_filler(torch::Tensor x, const torch::Tensor& starts) {
  const std::int64_t tokens = starts.const_data_ptr<std::int32_t>()[starts.size(0) - 1];
  if (tokens < x.size(0)) x.narrow(0, tokens, x.size(0) - tokens).zero_();
  return x;
}

/// The column of a matrix at which queries, keys or values begin.
void* at_column(const torch::Tensor& matrix, std::int64_t column) {
  return static_cast<char*>(matrix.data_ptr()) + column * matrix.element_size();
}

struct PackedAttentionFunction : torch::autograd::Function<PackedAttentionFunction> {
  /// Queries, keys and values side by side in `queries`, or queries alone and keys and values in
  /// `memory`.
  static std::int64_t width(const torch::Tensor& queries, const torch::Tensor& memory) {
    return memory.defined() ? queries.size(1) : queries.size(1) / 3;
  }

  static PackedAttentionArguments arguments(const variable_list& saved, const SiteNumbers& site,
                                            const PackedAttentionNumbers& numbers) {
    const auto &queries = saved[0], &memory = saved[1];
    const std::int64_t D = width(queries, memory), d_k = D / site.heads;
    const torch::Tensor& keys = memory.defined() ? memory : queries;
    const std::int64_t first = memory.defined() ? 0 : D;
    return {.q = at_column(queries, 0),
            .k = at_column(keys, first),
            .v = at_column(keys, first + D),
            .output = nullptr,
            .log_sums = saved[2].mutable_data_ptr<float>(),
            .query_starts = saved[3].const_data_ptr<std::int32_t>(),
            .key_starts = saved[4].const_data_ptr<std::int32_t>(),
            .heads = site.heads,
            .d_k = d_k,
            .query_stride = queries.size(1),
            .key_stride = keys.size(1),
            .longest_keys = numbers.longest_keys,
            .scale = static_cast<float>(1 / std::sqrt(static_cast<double>(d_k))),
            .causal = numbers.causal,
            .dropout = site.with(saved[5])};
  }

  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& queries_in,
                               const OptionalTensor& memory_in, const torch::Tensor& query_starts,
                               const torch::Tensor& key_starts, const OptionalTensor& row_keys,
                               SiteNumbers site, PackedAttentionNumbers numbers) {
    RECORD_USER_SCOPE("PackedAttentionFunction");
    const auto queries = queries_in.contiguous();
    const auto memory = memory_in ? memory_in->contiguous() : torch::Tensor();
    const std::int64_t rows = queries.size(0);
    auto output = with_zero_filler(torch::empty({rows, width(queries, memory)}, queries.options()),
                                   query_starts);
    const variable_list saved = {
        queries,
        memory,
        torch::empty({rows, site.heads}, queries.options().dtype(torch::kFloat32)),
        query_starts,
        key_starts,
        value_of(row_keys)};
    auto call = arguments(saved, site, numbers);
    call.output = output.mutable_data_ptr();
    run_rows(kernels().packed_attention, element_type(queries), call,
             numbers.sentences * site.heads, 1);
    context->save_for_backward(saved);
    numbers.save(context);
    site.save(context);
    return output;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto &queries = saved[0], &memory = saved[1];
    const auto site = SiteNumbers::load(context);
    const auto numbers = PackedAttentionNumbers::load(context);
    const auto d_output = gradients[0].contiguous();
    const auto d_queries = with_zero_filler(torch::empty_like(queries), saved[3]);
    const auto d_memory =
        memory.defined() ? with_zero_filler(torch::empty_like(memory), saved[4]) : torch::Tensor();
    const torch::Tensor& d_keys = memory.defined() ? d_memory : d_queries;
    const std::int64_t D = width(queries, memory), first = memory.defined() ? 0 : D;
    const PackedAttentionGradientArguments call{
        arguments(saved, site, numbers), d_output.const_data_ptr(), at_column(d_queries, 0),
        at_column(d_keys, first), at_column(d_keys, first + D)};
    run_rows(kernels().packed_attention_gradient, element_type(d_output), call,
             numbers.sentences * site.heads, 1);
    return {d_queries, d_memory, {}, {}, {}, {}, {}};
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
    context->save_for_backward({x, weight});
    std::vector<std::int64_t> rows;
    for (const torch::Tensor& part : weights) rows.push_back(part.size(0));
    context->saved_data["rows"] = rows;
    return torch::addmm(joined(biases), x, weight.t());
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto& dy = gradients[0];
    const auto rows = context->saved_data["rows"].toIntVector();
    variable_list result = {torch::mm(dy, saved[1])};
    for (const auto& whole : {torch::mm(dy.t(), saved[0]), dy.sum(0)})
      for (const torch::Tensor& part : whole.split_with_sizes(rows, 0)) result.push_back(part);
    return result;
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

torch::Tensor attention_weights_reference(const torch::Tensor& scores,
                                          const AttentionPattern& pattern, double scale) {
  const std::int64_t heads = pattern.queries.heads, T = scores.size(1), S = scores.size(2);
  const torch::Tensor& lengths = pattern.keys.lengths;
  const auto key = torch::arange(S, lengths.options());
  auto visible = (key.view({1, 1, 1, S}) < lengths.view({-1, 1, 1, 1}));  // [B, 1, 1, S]
  if (pattern.mask == AttentionMask::Causal) {
    const auto query = torch::arange(T, lengths.options());
    visible = visible & (key.view({1, S}) <= query.view({T, 1}));  // [B, 1, T, S]
  }
  const auto masked =
      scores.view({-1, heads, T, S})
          .mul(scale)
          .masked_fill(visible.logical_not(), -std::numeric_limits<float>::infinity());
  auto weights = masked.softmax(-1).view({-1, T, S});  // [B*H, T, S]
  const torch::Tensor& row_keys = pattern.queries.padded_row_keys;
  if (!drops(pattern.dropout, row_keys)) return weights;
  const auto factors = dropout_factors(pattern.dropout, row_keys, heads, T, S);
  return weights * factors.view_as(weights).to(weights.scalar_type());
}

torch::Tensor attention_weights(const torch::Tensor& scores, const AttentionPattern& pattern,
                                double scale) {
  if (!has_kernel(scores)) return attention_weights_reference(scores, pattern, scale);
  const Dropout& dropout = pattern.dropout;
  const torch::Tensor& row_keys = pattern.queries.padded_row_keys;
  const SiteNumbers site{dropout.site, dropout.threshold(), pattern.queries.heads, scores.size(1)};
  return AttentionWeightsFunction::apply(
      scores, pattern.keys.lengths, drops(dropout, row_keys) ? optional(row_keys) : std::nullopt,
      site, pattern.mask == AttentionMask::Causal, scale);
}

torch::Tensor scaled_dot_product_attention(const torch::Tensor& q, const torch::Tensor& k,
                                           const torch::Tensor& v,
                                           const AttentionPattern& pattern) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  const auto scores = torch::bmm(q, k.transpose(1, 2));  // [B*H, T, S]
  return torch::bmm(attention_weights(scores, pattern, scale), v);
}

torch::Tensor padded_attention(const torch::Tensor& queries, const torch::Tensor& memory,
                               const AttentionPattern& pattern) {
  auto parts = memory.defined() ? memory.chunk(2, 1) : queries.chunk(3, 1);
  if (memory.defined()) parts.insert(parts.begin(), queries);
  const auto context = scaled_dot_product_attention(pad_heads(parts[0], pattern.queries),
                                                    pad_heads(parts[1], pattern.keys),
                                                    pad_heads(parts[2], pattern.keys), pattern);
  return unpad_heads(context, pattern.queries);  // [B*H, T, K] -> [N, D]
}

torch::Tensor packed_attention(const torch::Tensor& queries, const torch::Tensor& memory,
                               const AttentionPattern& pattern) {
  const std::int64_t heads = pattern.queries.heads;
  const std::int64_t d_k = PackedAttentionFunction::width(queries, memory) / heads;
  if (!has_kernel(queries) || !fits_packed_attention(pattern.keys.longest, d_k))
    return padded_attention(queries, memory, pattern);
  const Dropout& dropout = pattern.dropout;
  const torch::Tensor& row_keys = pattern.queries.row_keys;
  return PackedAttentionFunction::apply(
      queries, optional(memory), pattern.queries.starts, pattern.keys.starts,
      drops(dropout, row_keys) ? optional(row_keys) : std::nullopt,
      SiteNumbers{dropout.site, dropout.threshold(), heads, pattern.queries.rows},
      PackedAttentionNumbers{pattern.queries.sentences, pattern.keys.longest,
                             pattern.mask == AttentionMask::Causal});
}

torch::Tensor joined_linear(const torch::Tensor& x, at::TensorList weights, at::TensorList biases) {
  return JoinedLinearFunction::apply(x, weights, biases);
}

torch::Tensor embed(const torch::Tensor& tokens, const torch::Tensor& weight, double scale) {
  return EmbedFunction::apply(tokens, weight, scale);
}

}  // namespace dragoman
