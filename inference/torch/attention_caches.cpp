#include "inference/torch/torch_engine.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "model/ops/packed_layout.h"

namespace dragoman {

// ---- the rows ----------------------------------------------------------------------------------

RowCache::RowCache(const ModelConfig& config, torch::TensorOptions like)
    : heads_(config.heads),
      d_k_(config.d_k()),
      options_(like.requires_grad(false)),
      layers_(static_cast<std::size_t>(config.decoder_layers)) {}

void RowCache::select(std::span<const RowOrigin> rows) {
  const std::size_t old_rows = starts_.size();
  std::vector<std::int64_t> starts, parents;
  bool same = rows.size() == old_rows;
  std::int64_t dropped = columns_;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const bool fresh = rows[r].parent < 0;
    // A fresh row copies some row, and its mask hides that.
    parents.push_back(fresh ? 0 : rows[r].parent);
    starts.push_back(fresh ? columns_ : starts_[static_cast<std::size_t>(rows[r].parent)]);
    dropped = std::min(dropped, starts.back());
    same = same && !fresh && rows[r].parent == static_cast<std::int32_t>(r);
  }
  starts_ = std::move(starts);
  if (same && dropped == 0 && fits()) return;

  for (std::int64_t& start : starts_) start -= dropped;
  columns_ -= dropped;
  const auto count = static_cast<std::int64_t>(rows.size());
  row_capacity_ = std::max(row_capacity_, count);
  constexpr std::int64_t kNewColumns = 32;
  if (columns_ + 1 > column_capacity_) column_capacity_ = columns_ + kNewColumns;
  const torch::Tensor index = to_device(parents, options_.device());
  for (KeysAndValues& layer : layers_) {
    copy_rows(layer.keys, index, dropped);
    copy_rows(layer.values, index, dropped);
  }
}

bool RowCache::fits() const {
  return columns_ + 1 <= column_capacity_ &&
         static_cast<std::int64_t>(starts_.size()) <= row_capacity_;
}

void RowCache::copy_rows(torch::Tensor& cache, const torch::Tensor& parents, std::int64_t dropped) {
  const std::vector<std::int64_t> shape = {row_capacity_, heads_, column_capacity_, d_k_};
  // Zeros, as what a mask hides must still be a number.
  if (!spare_.defined() || spare_.sizes() != shape) spare_ = torch::zeros(shape, options_);
  if (columns_ > 0) {
    auto target = spare_.narrow(0, 0, parents.size(0)).narrow(2, 0, columns_);
    at::index_select_out(target, cache.narrow(2, dropped, columns_), 0, parents);
  }
  std::swap(cache, spare_);
}

void RowCache::begin_step() {
  const bool hidden = std::any_of(starts_.begin(), starts_.end(), [](auto s) { return s > 0; });
  ++columns_;
  mask_.reset();
  if (!hidden) return;
  const auto first = to_device(starts_, options_.device()).unsqueeze(1);  // [R, 1]
  const auto columns = torch::arange(columns_, first.options());          // [T]
  mask_ = columns.ge(first).unsqueeze(1).unsqueeze(1);                    // [R, 1, 1, T]
}

torch::Tensor RowCache::attend(std::int64_t layer, const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v) {
  const std::int64_t rows = q.size(0);
  const KeysAndValues& cache = layers_[static_cast<std::size_t>(layer)];
  const auto with_new = [&](const torch::Tensor& cached, const torch::Tensor& current) {
    const auto of_rows = cached.narrow(0, 0, rows);
    of_rows.select(2, columns_ - 1).copy_(current.view({rows, heads_, d_k_}));
    return of_rows.narrow(2, 0, columns_);  // [R, H, T, K]
  };
  const auto attended = at::scaled_dot_product_attention(
      q.view({rows, heads_, 1, d_k_}), with_new(cache.keys, k), with_new(cache.values, v), mask_);
  return attended.reshape({rows, heads_ * d_k_});  // [R, H, 1, K] -> [R, D]
}

std::vector<std::int64_t> RowCache::positions() const {
  std::vector<std::int64_t> positions;
  for (const std::int64_t start : starts_) positions.push_back(columns_ - 1 - start);
  return positions;
}

// ---- the source sentences ----------------------------------------------------------------------

SourceCache::SourceCache(const ModelConfig& config, torch::TensorOptions like)
    : heads_(config.heads),
      d_k_(config.d_k()),
      options_(like.requires_grad(false)),
      layers_(static_cast<std::size_t>(config.decoder_layers)) {}

std::vector<std::int32_t> SourceCache::admit(Transformer& model, const torch::Tensor& memory,
                                             const PackedLayout& layout) {
  std::vector<std::int64_t> kept;
  std::int64_t longest = layout.longest;
  for (std::size_t sentence = 0; sentence < slots_.size(); ++sentence) {
    if (slots_[sentence] < 0) continue;
    kept.push_back(static_cast<std::int64_t>(sentence));
    longest = std::max(longest, lengths_[sentence]);
  }
  keep_sentences(kept, layout.sentences, longest);

  std::vector<std::int32_t> admitted;
  const auto lengths = layout.lengths.cpu();
  for (std::int64_t b = 0; b < layout.sentences; ++b) {
    if (free_slots_.empty()) {
      free_slots_.push_back(next_slot_++);
      free_slots_.reserve(static_cast<std::size_t>(next_slot_));  // release() takes no memory
    }
    admitted.push_back(free_slots_.back());
    free_slots_.pop_back();
    slots_.push_back(admitted.back());
    lengths_.push_back(lengths.const_data_ptr<std::int32_t>()[b]);
  }
  const auto first = static_cast<std::int64_t>(kept.size());
  const auto write = [&](torch::Tensor& cache, const torch::Tensor& projected) {
    cache.narrow(0, first, layout.sentences)
        .narrow(2, 0, layout.longest)
        .copy_(pad_heads(projected, layout)
                   .view({layout.sentences, heads_, layout.longest, d_k_}));  // [B, H, L, K]
  };
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    auto& attention = model->decoder->layers[i]->as<DecoderLayerImpl>()->cross_attention;
    write(layers_[i].keys, attention->key(memory));
    write(layers_[i].values, attention->value(memory));
  }
  const auto ends = to_device(lengths_, options_.device()).unsqueeze(1);              // [A, 1]
  mask_ = torch::arange(longest, ends.options()).lt(ends).unsqueeze(1).unsqueeze(1);  // [A,1,1,S]
  return admitted;
}

void SourceCache::keep_sentences(const std::vector<std::int64_t>& kept, std::int64_t added,
                                 std::int64_t longest) {
  const auto count = static_cast<std::int64_t>(kept.size());
  const torch::Tensor index = to_device(kept, options_.device());
  const auto keep = [&](torch::Tensor& cache) {
    auto next = torch::zeros({count + added, heads_, longest, d_k_}, options_);
    if (count > 0) {
      const std::int64_t columns = std::min(longest, cache.size(2));
      next.narrow(0, 0, count)
          .narrow(2, 0, columns)
          .copy_(cache.narrow(2, 0, columns).index_select(0, index));
    }
    cache = next;
  };
  for (KeysAndValues& layer : layers_) {
    keep(layer.keys);
    keep(layer.values);
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    slots_[i] = slots_[static_cast<std::size_t>(kept[i])];
    lengths_[i] = lengths_[static_cast<std::size_t>(kept[i])];
  }
  slots_.resize(kept.size());
  lengths_.resize(kept.size());
}

void SourceCache::release(std::span<const std::int32_t> slots) {
  for (const std::int32_t slot : slots) *std::find(slots_.begin(), slots_.end(), slot) = -1;
  free_slots_.insert(free_slots_.end(), slots.begin(), slots.end());
}

void SourceCache::set_rows(std::span<const RowOrigin> rows) {
  std::unordered_map<std::int32_t, std::int64_t> sentence_of;
  for (std::size_t sentence = 0; sentence < slots_.size(); ++sentence)
    sentence_of[slots_[sentence]] = static_cast<std::int64_t>(sentence);

  std::vector<std::int64_t> number(rows.size());  // of each row among its slot's rows
  std::int64_t most = 1;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    number[r] = rows[r].slot == rows[r - 1].slot ? number[r - 1] + 1 : 0;
    most = std::max(most, number[r] + 1);
  }
  rows_per_sentence_ = most;
  std::vector<std::int64_t> row_of_cell(slots_.size() * static_cast<std::size_t>(most), 0);
  std::vector<std::int64_t> cell_of_row(rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    cell_of_row[r] = sentence_of.at(rows[r].slot) * most + number[r];
    row_of_cell[static_cast<std::size_t>(cell_of_row[r])] = static_cast<std::int64_t>(r);
  }
  row_of_cell_ = to_device(row_of_cell, options_.device());
  cell_of_row_ = to_device(cell_of_row, options_.device());
}

torch::Tensor SourceCache::by_sentence(const torch::Tensor& q) const {
  const auto sentences = static_cast<std::int64_t>(slots_.size());
  return q.index_select(0, row_of_cell_)
      .view({sentences, rows_per_sentence_, heads_, d_k_})
      .transpose(1, 2);  // [R, D] -> [A, H, J, K]
}

torch::Tensor SourceCache::attend(std::int64_t layer, const torch::Tensor& q) const {
  const KeysAndValues& cache = layers_[static_cast<std::size_t>(layer)];
  const std::int64_t sentences = cache.keys.size(0);
  const auto attended =
      at::scaled_dot_product_attention(by_sentence(q), cache.keys, cache.values, mask_);
  return attended.transpose(1, 2)
      .reshape({sentences * rows_per_sentence_, heads_ * d_k_})
      .index_select(0, cell_of_row_);  // [A, H, J, K] -> [R, D]
}

std::vector<float> SourceCache::weights(std::int64_t layer, const torch::Tensor& q,
                                        std::int64_t head) const {
  const KeysAndValues& cache = layers_[static_cast<std::size_t>(layer)];
  const std::int64_t longest = cache.keys.size(2);
  const auto scores = by_sentence(q).matmul(cache.keys.transpose(2, 3)) / std::sqrt(double(d_k_));
  auto softmax =
      scores.masked_fill(~mask_, -INFINITY).to(torch::kFloat32).softmax(-1);  // [A, H, J, S]
  softmax = head == 0 ? softmax.mean(1) : softmax.select(1, head - 1);        // [A, J, S]
  const auto rows = softmax.reshape({-1, longest}).index_select(0, cell_of_row_).cpu().contiguous();
  const auto cells = cell_of_row_.cpu();
  std::vector<float> all;
  for (std::int64_t r = 0; r < rows.size(0); ++r) {
    const std::int64_t sentence = cells.const_data_ptr<std::int64_t>()[r] / rows_per_sentence_;
    const float* row = rows.const_data_ptr<float>() + r * longest;
    all.insert(all.end(), row, row + lengths_[static_cast<std::size_t>(sentence)]);
  }
  return all;
}

}  // namespace dragoman
