// The layers of CpuEngine: from embedded tokens to the encoder's and the decoder's output.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "inference/cpu/cpu_engine.h"
#include "kernels/inference_kernels.h"
#include "kernels/kernels.h"

namespace dragoman {

namespace {

/// The kernel of an activation; null for ReLU, which the linear layer applies itself.
auto activation_kernel(Activation activation) -> void (*)(const ActivationArguments&) {
  switch (activation) {
    case Activation::Relu:
      return nullptr;
    case Activation::Gelu:
    case Activation::GatedGelu:
      return inference_kernels().gelu;
    case Activation::Swish:
    case Activation::GatedSwish:
      return inference_kernels().swish;
  }
  throw Error("this engine has no such activation");
}

}  // namespace

void CpuEngine::run(const PackedLinear& layer, const float* x, std::int64_t rows, float* y,
                    bool relu) {
  const WorkTimer timer(times_, EngineWork::Linear);
  layer.run(x, rows, y, work_.linear, relu);
}

void CpuEngine::normalize(const CpuNorm& norm, std::int64_t rows, const float* added, float* y) {
  const WorkTimer timer(times_, EngineWork::Normalization);
  // Without dropout both terms of the sum are alike, so x is the stream here.
  batch_kernels().add_norm[0]({.x = work_.x.data(),
                               .residual = added,
                               .gain = norm.gain.data(),
                               .bias = norm.bias.data(),
                               .sum = added == nullptr ? nullptr : work_.x.data(),
                               .y = y,
                               .means = nullptr,
                               .inverse_deviations = nullptr,
                               .columns = model_->config.d_model,
                               .epsilon = static_cast<float>(model_->config.norm_epsilon),
                               .dropout = {}},
                              0, rows);
}

template <class SubLayer>
const float* CpuEngine::residual(const CpuNorm& norm, std::int64_t rows, const float* added,
                                 SubLayer&& sub_layer) {
  if (model_->config.norm == NormPosition::After) {
    sub_layer(work_.x.data());
    normalize(norm, rows, work_.output.data(), work_.x.data());
    return nullptr;
  }
  normalize(norm, rows, added, work_.input.data());
  sub_layer(work_.input.data());
  return work_.output.data();
}

void CpuEngine::project(const CpuSelfAttention& layer, const float* input, std::int64_t rows) {
  const std::int64_t width = layer.query_key_value.outputs();
  float* wide = work_.wide.data();
  if (layer.key_value.outputs() == 0) {
    run(layer.query_key_value, input, rows, wide);
    return;
  }
  // norm = before-queries: keys and values are computed from the residual stream. They are written
  // to the end of the buffer first, so no row overwrites one that has not been moved yet.
  float *query = work_.attended.data(), *key_value = wide + rows * width;
  run(layer.query_key_value, input, rows, query);
  run(layer.key_value, work_.x.data(), rows, key_value);
  for (std::int64_t r = 0; r < rows; ++r) {
    float* row = wide + r * 3 * width;
    std::memmove(row + width, key_value + r * 2 * width,
                 static_cast<std::size_t>(2 * width) * sizeof(float));
    std::copy_n(query + r * width, width, row);
  }
}

/// Key and value [W] side by side.
void CpuEngine::store_record(const float* key_value, std::uint8_t* record) const {
  const auto type = static_cast<std::size_t>(model_->cache_type);
  inference_kernels().store_record[type](model_->order, key_value, key_value + model_->order.width,
                                         record);
}

const float* CpuEngine::attend_row(const float* q, const std::uint8_t* cache,
                                   const std::int32_t* records, std::int64_t length,
                                   float* output) {
  grow(work_.attention, model_->order.scratch(length));
  const auto attend =
      inference_kernels().row_attention[static_cast<std::size_t>(model_->cache_type)];
  attend({.order = model_->order,
          .q = q,
          .cache = cache,
          .records = records,
          .length = length,
          .scale = 1 / std::sqrt(static_cast<float>(model_->config.d_k())),
          .scratch = work_.attention.data(),
          .output = output});
  return work_.attention.data();
}

/// Attention of all positions of a sentence to all, from query, key and value in `wide` to
/// `attended`. The length of the sentence alone chooses the kernel, so other sentences change no
/// bit.
void CpuEngine::attend_in_sentences(std::span<const std::int32_t> starts) {
  const WorkTimer timer(times_, EngineWork::Attention);
  const std::int64_t d_model = model_->config.d_model, heads = model_->config.heads;
  const std::int64_t d_k = model_->config.d_k();
  const float* qkv = work_.wide.data();
  PackedAttentionArguments arguments{.q = qkv,
                                     .k = qkv + d_model,
                                     .v = qkv + 2 * d_model,
                                     .output = work_.attended.data(),
                                     .log_sums = work_.log_sums.data(),
                                     .query_starts = starts.data(),
                                     .key_starts = starts.data(),
                                     .heads = heads,
                                     .d_k = d_k,
                                     .query_stride = 3 * d_model,
                                     .key_stride = 3 * d_model,
                                     .longest_keys = 0,
                                     .scale = 1 / std::sqrt(static_cast<float>(d_k)),
                                     .causal = false,
                                     .dropout = {}};
  const auto sentences = static_cast<std::int64_t>(starts.size()) - 1;
  for (std::int64_t s = 0; s < sentences; ++s) {
    const std::int32_t begin = starts[static_cast<std::size_t>(s)];
    const std::int32_t end = starts[static_cast<std::size_t>(s) + 1];
    arguments.longest_keys = end - begin;
    if (fits_packed_attention(arguments.longest_keys, d_k))
      batch_kernels().packed_attention[0](arguments, s * heads, (s + 1) * heads);
    else
      attend_long_sentence(begin, end);
  }
}

/// Row by row, by the decoder's kernel, for which queries, keys and values are brought into
/// HeadOrder. Keys and values are rounded as in the decoder's cache (bf16, int8).
void CpuEngine::attend_long_sentence(std::int64_t begin, std::int64_t end) {
  const HeadOrder& order = model_->order;
  const std::int64_t d_model = model_->config.d_model;
  const auto width = static_cast<std::size_t>(order.width);
  std::vector<float> q(width), key_value(2 * width), output(width);
  std::vector<std::uint8_t> records(static_cast<std::size_t>((end - begin) * record_bytes()));
  const auto to_heads = [&](const float* plain, float* ordered) {
    for (std::int64_t h = 0; h < order.heads; ++h)
      for (std::int64_t c = 0; c < order.d_k; ++c) ordered[order.index(h, c)] = *plain++;
  };
  for (std::int64_t t = begin; t < end; ++t) {
    const float* qkv = work_.wide.data() + t * 3 * d_model;
    to_heads(qkv + d_model, key_value.data());
    to_heads(qkv + 2 * d_model, key_value.data() + width);
    store_record(key_value.data(), records.data() + (t - begin) * record_bytes());
  }
  for (std::int64_t t = begin; t < end; ++t) {
    to_heads(work_.wide.data() + t * 3 * d_model, q.data());
    attend_row(q.data(), records.data(), nullptr, end - begin, output.data());
    float* attended = work_.attended.data() + t * d_model;
    for (std::int64_t h = 0; h < order.heads; ++h)
      for (std::int64_t c = 0; c < order.d_k; ++c)
        *attended++ = output[static_cast<std::size_t>(order.index(h, c))];
  }
}

void CpuEngine::feed_forward(const CpuFeedForward& layer, const float* input, std::int64_t rows) {
  const Activation activation = model_->config.activation;
  const std::int64_t d_ff = model_->config.d_ff;
  const auto activate = activation_kernel(activation);
  run(layer.inner, input, rows, work_.wide.data(), activate == nullptr);
  const float* hidden = work_.wide.data();
  if (activate != nullptr) {
    activate({.x = hidden,
              .gate = is_gated(activation) ? hidden + d_ff : nullptr,
              .y = work_.attended.data(),
              .rows = rows,
              .columns = d_ff,
              .x_stride = layer.inner.outputs()});
    hidden = work_.attended.data();
  }
  run(layer.outer, hidden, rows, work_.output.data());
}

void CpuEngine::encode(std::span<const std::int32_t> starts) {
  const std::int64_t rows = starts.back();
  const float* added = nullptr;
  if (model_->source_embedding_norm)
    normalize(*model_->source_embedding_norm, rows, nullptr, work_.x.data());
  for (std::size_t i = 0; i < model_->encoder.size(); ++i) {
    const CpuEncoderLayer& layer = model_->encoder[i];
    added = residual(layer.self_attention.norm, rows, added, [&](const float* input) {
      project(layer.self_attention, input, rows);
      attend_in_sentences(starts);
      run(layer.self_attention.output, work_.attended.data(), rows, work_.output.data());
      if (activations_ != nullptr) observe_encoder_attention(i, rows);
    });
    added = residual(layer.feed_forward.norm, rows, added, [&](const float* input) {
      feed_forward(layer.feed_forward, input, rows);
      if (activations_ != nullptr)
        observe_feed_forward(input, rows, activations_->encoder_feed_forward[i]);
    });
  }
  if (model_->encoder_norm) normalize(*model_->encoder_norm, rows, added, work_.x.data());
  if (activations_ != nullptr) observe_stream(rows, activations_->memory);
}

void CpuEngine::attend_to_history(const CpuDecoderLayer& layer, std::int64_t number,
                                  const float* input, std::int64_t rows) {
  const std::int64_t width = model_->order.width;
  project(layer.self_attention, input, rows);
  {
    const WorkTimer timer(times_, EngineWork::Attention);
    for (std::int64_t r = 0; r < rows; ++r) {
      const float* qkv = work_.wide.data() + r * 3 * width;
      store_record(qkv + width, cache_.current(number, r));
      attend_row(qkv, cache_.layer(number), cache_.records(r), cache_.length(r),
                 work_.attended.data() + r * width);
    }
  }
  run(layer.self_attention.output, work_.attended.data(), rows, work_.output.data());
  if (activations_ != nullptr) observe_history(static_cast<std::size_t>(number), rows);
}

void CpuEngine::attend_to_source(const CpuDecoderLayer& layer, std::int64_t number,
                                 const float* input, std::int64_t rows, const StepRequest* report) {
  const std::int64_t width = model_->order.width;
  run(layer.cross_attention.query, input, rows, work_.wide.data());
  {
    const WorkTimer timer(times_, EngineWork::Attention);
    for (std::int64_t r = 0; r < rows; ++r) {
      const Source& source = sources_[static_cast<std::size_t>(cache_.slot(r))];
      const float* weights =
          attend_row(work_.wide.data() + r * width,
                     source.keys_values.data() + number * source.length * record_bytes(), nullptr,
                     source.length, work_.attended.data() + r * width);
      if (report != nullptr) report_attention(weights, source.length, *report);
    }
  }
  run(layer.cross_attention.output, work_.attended.data(), rows, work_.output.data());
  if (activations_ != nullptr)
    observe_attention(rows, width, activations_->cross[static_cast<std::size_t>(number)]);
}

void CpuEngine::report_attention(const float* weights, std::int64_t length,
                                 const StepRequest& step) const {
  const std::int64_t first = step.heads.head == 0 ? 0 : step.heads.head - 1;
  const std::int64_t last = step.heads.head == 0 ? model_->config.heads : first + 1;
  for (std::int64_t position = 0; position < length; ++position) {
    const float* heads = weights + position * model_->order.lanes;
    step.attention->push_back(std::accumulate(heads + first, heads + last, 0.0F) /
                              static_cast<float>(last - first));
  }
}

void CpuEngine::decode(std::int64_t rows, const StepRequest& step) {
  if (step.attention != nullptr) step.attention->clear();
  const float* added = nullptr;
  if (model_->target_embedding_norm)
    normalize(*model_->target_embedding_norm, rows, nullptr, work_.x.data());
  for (std::size_t i = 0; i < model_->decoder.size(); ++i) {
    const CpuDecoderLayer& layer = model_->decoder[i];
    const auto number = static_cast<std::int64_t>(i);
    added = residual(layer.self_attention.norm, rows, added,
                     [&](const float* input) { attend_to_history(layer, number, input, rows); });
    const bool reports = step.attention != nullptr &&
                         step.heads.is_of_layer(number + 1, model_->config.decoder_layers);
    added = residual(layer.cross_attention.norm, rows, added, [&](const float* input) {
      attend_to_source(layer, number, input, rows, reports ? &step : nullptr);
    });
    added = residual(layer.feed_forward.norm, rows, added, [&](const float* input) {
      feed_forward(layer.feed_forward, input, rows);
      if (activations_ != nullptr)
        observe_feed_forward(input, rows, activations_->decoder_feed_forward[i]);
    });
  }
  if (model_->decoder_norm) normalize(*model_->decoder_norm, rows, added, work_.x.data());
  if (activations_ != nullptr) observe_stream(rows, activations_->decoded);
}

}  // namespace dragoman
