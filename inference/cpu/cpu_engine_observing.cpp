// How CpuEngine writes down what it computes, for CpuEngine::observe.
#include <algorithm>
#include <cmath>

#include "inference/cpu/cpu_engine.h"

namespace dragoman {

namespace {

/// Rows of floats [rows, stride], of which those from column `first` are meant.
struct Rows {
  const float* x;
  std::int64_t rows, stride, first;
};

/// Appends `columns` numbers of each row.
void append_columns(const Rows& from, std::int64_t columns, std::vector<float>& to) {
  for (std::int64_t r = 0; r < from.rows; ++r) {
    const float* row = from.x + r * from.stride + from.first;
    to.insert(to.end(), row, row + columns);
  }
}

/// The same for rows in HeadOrder, whose heads are brought one behind the other.
void append_heads(const Rows& from, const HeadOrder& order, std::vector<float>& to) {
  for (std::int64_t r = 0; r < from.rows; ++r) {
    const float* row = from.x + r * from.stride + from.first;
    for (std::int64_t h = 0; h < order.heads; ++h)
      for (std::int64_t c = 0; c < order.d_k; ++c) to.push_back(row[order.index(h, c)]);
  }
}

}  // namespace

void CpuEngine::observe(Activations* activations) {
  activations_ = activations;
  if (activations == nullptr) return;
  *activations = {};
  activations->encoder.resize(model_->encoder.size());
  activations->decoder.resize(model_->decoder.size());
  activations->cross.resize(model_->decoder.size());
  activations->encoder_feed_forward.resize(model_->encoder.size());
  activations->decoder_feed_forward.resize(model_->decoder.size());
}

void CpuEngine::observe_embedding(std::span<const TokenId> tokens, const CpuEmbedding& embedding,
                                  Activations::Embedding& to) const {
  const std::int64_t d_model = model_->config.d_model;
  std::vector<float> row(static_cast<std::size_t>(d_model));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::ranges::fill(row, 0.0F);
    if (tokens[i] >= 0)
      embedding.add(tokens[i], std::sqrt(static_cast<float>(d_model)), std::span<float>(row));
    to.token.insert(to.token.end(), row.begin(), row.end());
    const float* sum = work_.x.data() + static_cast<std::int64_t>(i) * d_model;
    to.sum.insert(to.sum.end(), sum, sum + d_model);
    for (std::size_t c = 0; c < row.size(); ++c) to.position.push_back(sum[c] - row[c]);
  }
}

void CpuEngine::observe_encoder_attention(std::size_t layer, std::int64_t rows) {
  const std::int64_t d_model = model_->config.d_model;
  Activations::Attention& to = activations_->encoder[layer];
  const float* qkv = work_.wide.data();
  append_columns({qkv, rows, 3 * d_model, 0}, d_model, to.query);
  append_columns({qkv, rows, 3 * d_model, d_model}, d_model, to.key);
  append_columns({qkv, rows, 3 * d_model, 2 * d_model}, d_model, to.value);
  append_columns({work_.attended.data(), rows, d_model, 0}, d_model, to.context);
  append_columns({work_.output.data(), rows, d_model, 0}, d_model, to.output);
  observe_stream(rows, to.stream);
}

void CpuEngine::observe_memory(std::size_t layer, std::int64_t rows) {
  const HeadOrder& order = model_->order;
  Activations::Attention& to = activations_->cross[layer];
  append_heads({work_.wide.data(), rows, 2 * order.width, 0}, order, to.key);
  append_heads({work_.wide.data(), rows, 2 * order.width, order.width}, order, to.value);
}

void CpuEngine::observe_history(std::size_t layer, std::int64_t rows) {
  const HeadOrder& order = model_->order;
  Activations::Attention& to = activations_->decoder[layer];
  append_heads({work_.wide.data(), rows, 3 * order.width, order.width}, order, to.key);
  append_heads({work_.wide.data(), rows, 3 * order.width, 2 * order.width}, order, to.value);
  observe_attention(rows, 3 * order.width, to);
}

void CpuEngine::observe_attention(std::int64_t rows, std::int64_t stride,
                                  Activations::Attention& to) {
  const HeadOrder& order = model_->order;
  append_heads({work_.wide.data(), rows, stride, 0}, order, to.query);
  append_heads({work_.attended.data(), rows, order.width, 0}, order, to.context);
  append_columns({work_.output.data(), rows, model_->config.d_model, 0}, model_->config.d_model,
                 to.output);
  observe_stream(rows, to.stream);
}

void CpuEngine::observe_feed_forward(const float* input, std::int64_t rows,
                                     Activations::FeedForward& to) {
  const std::int64_t d_model = model_->config.d_model, d_ff = model_->config.d_ff;
  // See feed_forward(): ReLU is applied in place.
  const bool in_place = model_->config.activation == Activation::Relu;
  observe_stream(rows, to.stream);
  append_columns({input, rows, d_model, 0}, d_model, to.input);
  append_columns({(in_place ? work_.wide : work_.attended).data(), rows, d_ff, 0}, d_ff, to.hidden);
  append_columns({work_.output.data(), rows, d_model, 0}, d_model, to.output);
}

void CpuEngine::observe_stream(std::int64_t rows, std::vector<float>& to) const {
  const std::int64_t d_model = model_->config.d_model;
  append_columns({work_.x.data(), rows, d_model, 0}, d_model, to);
}

}  // namespace dragoman
