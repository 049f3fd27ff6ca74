#include "inference/torch/torch_engine.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <limits>

#include "inference/torch/candidates.h"

namespace dragoman {

namespace {

constexpr std::int64_t kBlock = 32;  // places that caches grow by

std::int64_t round_up(std::int64_t value) { return (value + kBlock - 1) / kBlock * kBlock; }

/// `cache` [A, H, L, K] with room for more along dimensions 0 and 2; what it held stays.
void grow(torch::Tensor& cache, std::int64_t count, std::int64_t length) {
  auto larger = torch::zeros({count, cache.size(1), length, cache.size(3)}, cache.options());
  const std::int64_t kept = std::min(count, cache.size(0)),
                     long_kept = std::min(length, cache.size(2));
  larger.narrow(0, 0, kept)
      .narrow(2, 0, long_kept)
      .copy_(cache.narrow(0, 0, kept).narrow(2, 0, long_kept));
  cache = larger;
}

/// The parts of a PackedLayout that attention_weights reads.
PackedLayout lengths_only(const torch::Tensor& lengths, std::int64_t heads) {
  return {.sentences = lengths.size(0),
          .tokens = 0,
          .longest = 0,
          .heads = heads,
          .lengths = lengths,
          .positions = {},
          .head_rows = {},
          .head_places = {},
          .row_keys = {},
          .padded_row_keys = {}};
}

}  // namespace

/// One step of all rows: appends to the self-attention caches and attends over caches.
class TorchEngine::CachedAttention : public DecoderAttention {
 public:
  explicit CachedAttention(TorchEngine& engine) : engine_(engine) {
    const auto device = engine.options_.device();
    const auto int32 = [&](const std::vector<std::int32_t>& values) {
      return torch::tensor(values, torch::kInt32).to(device);
    };
    std::vector<std::int32_t> seen;
    for (const std::int64_t length : engine.row_lengths_)
      seen.push_back(static_cast<std::int32_t>(length + 1));
    // A free slot counts as one key long, so that its (unused) softmax is over something.
    std::vector<std::int32_t> slots = engine.slot_lengths_;
    for (std::int32_t& length : slots) length = std::max(1, length);
    longest_self_ = *std::max_element(seen.begin(), seen.end());
    longest_cross_ = *std::max_element(slots.begin(), slots.end());
    self_keys_ = lengths_only(int32(seen), engine.model_->config.heads);
    cross_keys_ = lengths_only(int32(slots), engine.model_->config.heads);
    rows_ = engine.indices(engine.row_numbers());
    positions_ = engine.indices(engine.row_lengths_);
    places_ = engine.indices(engine.row_places_);
  }

  const torch::Tensor& positions() const { return positions_; }

  torch::Tensor self(std::int64_t layer, MultiHeadAttention& module,
                     const torch::Tensor& x) override {
    LayerCache& cache = engine_.layers_[layer];
    const std::int64_t R = x.size(0), H = module->heads, K = x.size(1) / H;
    const auto rows = rows_.view({R, 1}), heads = torch::arange(H, rows.options()).view({1, H});
    const auto places = positions_.view({R, 1});
    cache.self_keys.index_put_({rows, heads, places}, module->key(x).view({R, H, K}));
    cache.self_values.index_put_({rows, heads, places}, module->value(x).view({R, H, K}));
    const auto q = module->query(x).view({R * H, 1, K});
    const auto k = cache.self_keys.narrow(2, 0, longest_self_).flatten(0, 1);    // [R*H, T, K]
    const auto v = cache.self_values.narrow(2, 0, longest_self_).flatten(0, 1);  // [R*H, T, K]
    const auto context = scaled_dot_product_attention(q, k, v, self_keys_, self_keys_,
                                                      AttentionMask::Padding, module->dropout);
    return module->output(context.view({R, H * K}));
  }

  torch::Tensor cross(std::int64_t layer, MultiHeadAttention& module,
                      const torch::Tensor& x) override {
    LayerCache& cache = engine_.layers_[layer];
    const std::int64_t H = module->heads, K = x.size(1) / H, A = cache.cross_keys.size(0),
                       W = engine_.rows_per_slot_;
    auto padded = torch::zeros({A * W, H * K}, x.options());
    padded.index_copy_(0, places_, module->query(x));
    const auto q = padded.view({A, W, H, K}).transpose(1, 2).reshape({A * H, W, K});
    const auto k = cache.cross_keys.narrow(2, 0, longest_cross_).flatten(0, 1);    // [A*H, S, K]
    const auto v = cache.cross_values.narrow(2, 0, longest_cross_).flatten(0, 1);  // [A*H, S, K]
    const auto context = scaled_dot_product_attention(q, k, v, cross_keys_, cross_keys_,
                                                      AttentionMask::Padding, module->dropout);
    const auto by_row = context.view({A, H, W, K}).transpose(1, 2).reshape({A * W, H * K});
    return module->output(by_row.index_select(0, places_));
  }

 private:
  TorchEngine& engine_;
  std::int64_t longest_self_, longest_cross_;
  PackedLayout self_keys_, cross_keys_;
  torch::Tensor rows_, positions_, places_;  // [R]
};

TorchEngine::TorchEngine(Transformer model, std::vector<TokenId> never_emitted)
    : model_(std::move(model)),
      options_(model_->output_weight().options().requires_grad(false)),
      never_emitted_(never_emitted.begin(), never_emitted.end()) {
  const c10::InferenceMode inference;
  const ModelConfig& config = model_->config;
  for (std::int64_t i = 0; i < config.decoder_layers; ++i) {
    const auto empty = torch::zeros({0, config.heads, 0, config.d_k()}, options_);
    layers_.push_back({empty, empty, empty, empty});
  }
}

std::int64_t TorchEngine::max_positions() const {
  return model_->config.positions == Positions::Learned ? model_->config.max_positions
                                                        : std::numeric_limits<std::int32_t>::max();
}

std::int64_t TorchEngine::preferred_rows() const { return options_.device().is_cpu() ? 128 : 512; }

torch::Tensor TorchEngine::indices(std::span<const std::int64_t> values) const {
  return torch::tensor(at::ArrayRef<std::int64_t>(values.data(), values.size()), torch::kInt64)
      .to(options_.device());
}

std::vector<std::int64_t> TorchEngine::row_numbers() const {
  std::vector<std::int64_t> numbers(row_slots_.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
  return numbers;
}

void TorchEngine::reserve_slots(std::int64_t count, std::int64_t length) {
  const auto& cache = layers_.front().cross_keys;
  if (cache.size(0) >= count && cache.size(2) >= length) return;
  const std::int64_t slots = std::max(count, cache.size(0));
  const std::int64_t places = std::max(round_up(length), cache.size(2));
  for (LayerCache& layer : layers_) {
    grow(layer.cross_keys, slots, places);
    grow(layer.cross_values, slots, places);
  }
  slot_lengths_.resize(static_cast<std::size_t>(slots), 0);
}

std::vector<std::int32_t> TorchEngine::admit(std::span<const std::vector<TokenId>> sentences) {
  const c10::InferenceMode inference;
  std::vector<TokenId> tokens;
  std::vector<std::int32_t> starts{0}, slots;
  std::int64_t longest = 0;
  for (const auto& sentence : sentences) {
    tokens.insert(tokens.end(), sentence.begin(), sentence.end());
    starts.push_back(static_cast<std::int32_t>(tokens.size()));
    longest = std::max(longest, static_cast<std::int64_t>(sentence.size()));
  }
  std::int32_t next = 0;
  for (std::size_t i = 0; i < sentences.size(); ++i, ++next) {
    while (next < static_cast<std::int32_t>(slot_lengths_.size()) && slot_lengths_[next] > 0)
      ++next;
    slots.push_back(next);
  }
  reserve_slots(next, longest);
  for (std::size_t i = 0; i < slots.size(); ++i)
    slot_lengths_[slots[i]] = static_cast<std::int32_t>(sentences[i].size());

  const ModelConfig& config = model_->config;
  const auto source = packed_tokens(tokens, starts, config.heads, options_.device());
  const auto memory = model_->encode(source);  // [N, D]
  const auto where = indices(std::vector<std::int64_t>(slots.begin(), slots.end()));
  const auto keep = [&](torch::Tensor& cache, const torch::Tensor& projected) {
    const auto heads = pad_heads(projected, source.layout)  // [B*H, S, K]
                           .view({-1, config.heads, longest, config.d_k()});
    cache.narrow(2, 0, longest).index_copy_(0, where, heads);
  };
  for (std::int64_t i = 0; i < config.decoder_layers; ++i) {
    auto& attention = (*model_->decoder->layers)[i]->as<DecoderLayerImpl>()->cross_attention;
    keep(layers_[i].cross_keys, attention->key(memory));
    keep(layers_[i].cross_values, attention->value(memory));
  }
  return slots;
}

void TorchEngine::release(std::span<const std::int32_t> slots) {
  const c10::InferenceMode inference;
  for (const std::int32_t slot : slots) slot_lengths_[slot] = 0;
  // Slots at the end that are free cost each step their share of cross-attention.
  std::size_t used = slot_lengths_.size();
  while (used > 0 && slot_lengths_[used - 1] == 0) --used;
  if (2 * used > slot_lengths_.size()) return;
  slot_lengths_.resize(used);
  for (LayerCache& layer : layers_)
    for (torch::Tensor* cache : {&layer.cross_keys, &layer.cross_values})
      *cache = cache->narrow(0, 0, static_cast<std::int64_t>(used)).clone();
}

void TorchEngine::select(std::span<const RowOrigin> rows) {
  const c10::InferenceMode inference;
  std::vector<std::int64_t> parents, lengths;
  std::vector<std::int32_t> slots;
  bool same = rows.size() == row_slots_.size();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const bool fresh = rows[r].parent < 0;
    same = same && rows[r].parent == static_cast<std::int32_t>(r);
    parents.push_back(fresh ? 0 : rows[r].parent);
    lengths.push_back(fresh ? 0 : row_lengths_[rows[r].parent]);
    slots.push_back(fresh ? rows[r].slot : row_slots_[rows[r].parent]);
  }
  if (same) return;
  const auto& cache = layers_.front().self_keys;
  const auto count = static_cast<std::int64_t>(rows.size());
  if (cache.size(0) == 0) {
    for (LayerCache& layer : layers_)
      for (torch::Tensor* self : {&layer.self_keys, &layer.self_values})
        grow(*self, count, std::max(kBlock, self->size(2)));
  } else {
    const auto order = indices(parents);
    for (LayerCache& layer : layers_)
      for (torch::Tensor* self : {&layer.self_keys, &layer.self_values})
        *self = self->index_select(0, order);
  }
  row_lengths_ = std::move(lengths);
  row_slots_ = std::move(slots);
  place_rows();
}

void TorchEngine::place_rows() {
  std::vector<std::int64_t> taken(slot_lengths_.size(), 0), within(row_slots_.size());
  for (std::size_t r = 0; r < row_slots_.size(); ++r) within[r] = taken[row_slots_[r]]++;
  rows_per_slot_ =
      taken.empty() ? 1 : std::max<std::int64_t>(1, *std::max_element(taken.begin(), taken.end()));
  row_places_.resize(row_slots_.size());
  for (std::size_t r = 0; r < row_slots_.size(); ++r)
    row_places_[r] = row_slots_[r] * rows_per_slot_ + within[r];
}

void TorchEngine::reserve_positions(std::int64_t count) {
  const auto& cache = layers_.front().self_keys;
  if (cache.size(2) >= count) return;
  for (LayerCache& layer : layers_)
    for (torch::Tensor* self : {&layer.self_keys, &layer.self_values})
      grow(*self, self->size(0), round_up(count));
}

void TorchEngine::step(std::span<const TokenId> previous, std::span<const Exclusion> excluded,
                       std::int64_t best, std::span<Candidate> candidates) {
  if (previous.empty()) return;
  const c10::InferenceMode inference;
  std::vector<std::int64_t> tokens(previous.begin(), previous.end());
  for (std::size_t r = 0; r < tokens.size(); ++r)
    if (row_lengths_[r] == 0) tokens[r] = -1;  // the zero vector
  reserve_positions(*std::max_element(row_lengths_.begin(), row_lengths_.end()) + 1);
  CachedAttention attention(*this);
  const auto hidden = model_->decode(indices(tokens), attention.positions(), attention, {});
  best_candidates(model_->logits(hidden), never_emitted_, excluded, best, candidates);
  for (std::int64_t& length : row_lengths_) ++length;
}

}  // namespace dragoman
