#include "inference/cpu/cpu_engine.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/formatted_text.h"
#include "model/file/model_config.h"

namespace dragoman {

namespace {

/// The most tokens of a pass through the encoder, unless one sentence has more. More tokens would
/// not make it faster, but would need a larger workspace.
constexpr std::size_t kTokensOfPass = 1024;

void append_sinusoids(std::vector<float>& table, std::int64_t positions,
                      const ModelConfig& config) {
  const std::int64_t d_model = config.d_model;
  const std::int64_t known = static_cast<std::int64_t>(table.size()) / d_model;
  for (std::int64_t position = known; position < positions; ++position)
    for (std::int64_t c = 0; c < d_model; ++c)
      table.push_back(sinusoid(position, c, d_model, config.positions));
}

}  // namespace

void CpuEngine::Workspace::reserve(std::int64_t rows, const CpuModel& model) {
  const ModelConfig& config = model.config;
  const std::int64_t inner = is_gated(config.activation) ? 2 * config.d_ff : config.d_ff;
  for (auto* buffer : {&x, &input, &output}) grow(*buffer, rows * config.d_model);
  grow(wide, rows * std::max(3 * model.order.width, inner));
  grow(attended, rows * std::max(model.order.width, config.d_ff));
  grow(log_sums, rows * config.heads);
}

CpuEngine::CpuEngine(std::shared_ptr<const CpuModel> model, std::vector<TokenId> never_emitted,
                     std::shared_ptr<EngineTeam> team)
    : model_(std::move(model)),
      team_(std::move(team)),
      cache_(model_->config.decoder_layers, record_bytes()),
      choice_(std::move(never_emitted)) {}

/// 36 rows, six tiles (operand_layout-inl.h), if the shared cache holds the weights of a step. More
/// rows have more keys and values, which drive the weights out of it. 96 rows if the weights come
/// from memory: each read serves more rows, and all cores share the memory's bandwidth.
std::int64_t CpuEngine::preferred_rows() const {
  constexpr std::int64_t kNear = 32 << 20;
  return model_->step_bytes() > kNear ? 96 : 36;
}

std::vector<std::int32_t> CpuEngine::admit(std::span<const std::vector<TokenId>> sentences) {
  const auto count = static_cast<std::int64_t>(sentences.size());
  team_.hold(count);
  try {
    work_.linear.helpers = team_.helpers();
    std::vector<std::int32_t> slots;
    for (std::size_t begin = 0, end; begin < sentences.size(); begin = end) {
      std::size_t tokens = sentences[begin].size();
      for (end = begin + 1; end < sentences.size(); ++end) {
        tokens += sentences[end].size();
        if (tokens > kTokensOfPass) break;
      }
      admit_in_one_pass(sentences.subspan(begin, end - begin), slots);
    }
    return slots;
  } catch (...) {
    team_.hold(-count);  // nobody will release them
    throw;
  }
}

void CpuEngine::admit_in_one_pass(std::span<const std::vector<TokenId>> sentences,
                                  std::vector<std::int32_t>& slots) {
  std::vector<TokenId> tokens;
  std::vector<std::int32_t> starts = {0};
  work_.positions.clear();
  for (const std::vector<TokenId>& sentence : sentences) {
    tokens.insert(tokens.end(), sentence.begin(), sentence.end());
    for (std::size_t i = 0; i < sentence.size(); ++i)
      work_.positions.push_back(static_cast<std::int64_t>(i));
    starts.push_back(static_cast<std::int32_t>(tokens.size()));
  }
  const auto rows = static_cast<std::int64_t>(tokens.size());
  work_.reserve(rows, *model_);
  embed(tokens, work_.positions, model_->source_embedding, model_->source_positions);
  if (activations_ != nullptr)
    observe_embedding(tokens, model_->source_embedding, activations_->source);
  encode(starts);

  const std::size_t first = slots.size();
  for (std::size_t s = 0; s < sentences.size(); ++s)
    slots.push_back(new_slot(starts[s + 1] - starts[s]));
  for (std::size_t layer = 0; layer < model_->decoder.size(); ++layer) {
    run(model_->decoder[layer].cross_attention.key_value, work_.x.data(), rows, work_.wide.data());
    if (activations_ != nullptr) observe_memory(layer, rows);
    for (std::size_t s = 0; s < sentences.size(); ++s) {
      Source& source = sources_[static_cast<std::size_t>(slots[first + s])];
      std::uint8_t* record = source.keys_values.data() +
                             static_cast<std::int64_t>(layer) * source.length * record_bytes();
      for (std::int64_t row = starts[s]; row < starts[s + 1]; ++row, record += record_bytes())
        store_record(work_.wide.data() + row * 2 * model_->order.width, record);
    }
  }
}

std::int32_t CpuEngine::new_slot(std::int64_t length) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::int32_t>(sources_.size()));
    sources_.emplace_back();
    free_slots_.reserve(sources_.size());  // release() takes no memory
  }
  const std::int32_t slot = free_slots_.back();
  free_slots_.pop_back();
  Source& source = sources_[static_cast<std::size_t>(slot)];
  source.length = length;
  source.keys_values.resize(
      static_cast<std::size_t>(model_->config.decoder_layers * length * record_bytes()));
  return slot;
}

void CpuEngine::release(std::span<const std::int32_t> slots) {
  team_.hold(-static_cast<std::int64_t>(slots.size()));
  for (const std::int32_t slot : slots) {
    cache_.release(slot);
    free_slots_.push_back(slot);
  }
}

void CpuEngine::step(const StepRequest& step) {
  work_.linear.helpers = team_.helpers();
  cache_.select(step.rows);
  const std::int64_t rows = cache_.rows();
  cache_.begin_step();
  work_.tokens.assign(step.previous.begin(), step.previous.end());
  work_.positions.clear();
  for (std::int64_t r = 0; r < rows; ++r) {
    work_.positions.push_back(cache_.length(r) - 1);
    if (work_.positions.back() == 0)
      work_.tokens[static_cast<std::size_t>(r)] = -1;  // the zero vector
  }
  work_.reserve(rows, *model_);
  embed(work_.tokens, work_.positions, model_->target_embedding, model_->target_positions);
  if (activations_ != nullptr)
    observe_embedding(work_.tokens, model_->target_embedding, activations_->target);
  decode(rows, step);
  const WorkTimer timer(times_, EngineWork::Projection);
  choice_.run(*model_->output, work_.x.data(), rows, step, work_.linear);
}

const float* CpuEngine::position(std::int64_t position, const std::vector<float>& learned) {
  const std::int64_t d_model = model_->config.d_model;
  if (learned.empty()) {
    if (position * d_model >= static_cast<std::int64_t>(sinusoids_.size()))
      append_sinusoids(sinusoids_, std::max<std::int64_t>(256, 2 * position), model_->config);
    return sinusoids_.data() + position * d_model;
  }
  if (position >= model_->config.max_positions)
    throw Error("a sentence has more than the ", with_separators(model_->config.max_positions),
                " positions that this model has learned (--max-positions)");
  return learned.data() + position * d_model;
}

/// E[token] sqrt(D) + position, section 3.4 of the paper; the zero vector for token -1.
void CpuEngine::embed(std::span<const TokenId> tokens, std::span<const std::int64_t> positions,
                      const CpuEmbedding& embedding, const std::vector<float>& learned) {
  const std::int64_t d_model = model_->config.d_model;
  const float scale = std::sqrt(static_cast<float>(d_model));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    float* x = work_.x.data() + static_cast<std::int64_t>(i) * d_model;
    std::copy_n(position(positions[i], learned), d_model, x);
    if (tokens[i] >= 0) embedding.add(tokens[i], scale, {x, static_cast<std::size_t>(d_model)});
  }
}

std::vector<std::unique_ptr<HostEngine>> cpu_engines(const std::shared_ptr<const CpuModel>& model,
                                                     const std::vector<TokenId>& never_emitted,
                                                     int count) {
  const auto team = std::make_shared<EngineTeam>(static_cast<std::size_t>(count));
  std::vector<std::unique_ptr<HostEngine>> engines;
  for (int i = 0; i < count; ++i)
    engines.push_back(std::make_unique<CpuEngine>(model, never_emitted, team));
  return engines;
}

// ---- observing ---------------------------------------------------------------------------------

namespace {

/// Rows of floats [rows, stride]; the columns that are read begin at `first`.
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

/// The same for rows in HeadOrder: their heads are appended one after the other.
void append_heads(const Rows& from, const HeadOrder& order, std::vector<float>& to) {
  for (std::int64_t r = 0; r < from.rows; ++r)
    for (std::int64_t h = 0; h < order.heads; ++h)
      for (std::int64_t c = 0; c < order.d_k; ++c)
        to.push_back(from.x[r * from.stride + from.first + order.index(h, c)]);
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
