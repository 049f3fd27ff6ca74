#include "inference/cpu/cpu_engine.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "model/file/sinusoids.h"

namespace dragoman {

namespace {

/// The most tokens of a pass through the encoder, unless one sentence has more. More tokens would
/// make it no faster, but the workspace larger.
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

std::int64_t CpuEngine::max_positions() const { return model_->config.longest_sentence(); }

/// 36 rows, six tiles (operand_layout-inl.h), where the shared cache holds the weights of a step.
/// More rows have more keys and values, which drive the weights out of it. 96 rows where the
/// weights come from memory: each read serves more of them, and all cores share the memory's
/// bandwidth.
std::int64_t CpuEngine::preferred_rows() const {
  constexpr std::int64_t kNear = 32 << 20;
  return model_->step_bytes() > kNear ? 96 : 36;
}

void CpuEngine::check(const AttentionHeads& heads) const {
  heads.check(model_->config.decoder_layers, model_->config.heads);
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
    throw Error("a sentence has more than the ", model_->config.max_positions,
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

std::vector<std::unique_ptr<Engine>> cpu_engines(const std::shared_ptr<const CpuModel>& model,
                                                 const std::vector<TokenId>& never_emitted,
                                                 int count) {
  const auto team = std::make_shared<EngineTeam>(static_cast<std::size_t>(count));
  std::vector<std::unique_ptr<Engine>> engines;
  for (int i = 0; i < count; ++i)
    engines.push_back(std::make_unique<CpuEngine>(model, never_emitted, team));
  return engines;
}

}  // namespace dragoman
