#include "inference/torch/source_cache.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "model/ops/to_device.h"

namespace dragoman {

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
  for (Layer& layer : layers_) {
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
  const Layer& cache = layers_[static_cast<std::size_t>(layer)];
  const std::int64_t sentences = cache.keys.size(0);
  const auto attended =
      at::scaled_dot_product_attention(by_sentence(q), cache.keys, cache.values, mask_);
  return attended.transpose(1, 2)
      .reshape({sentences * rows_per_sentence_, heads_ * d_k_})
      .index_select(0, cell_of_row_);  // [A, H, J, K] -> [R, D]
}

std::vector<float> SourceCache::weights(std::int64_t layer, const torch::Tensor& q,
                                        std::int64_t head) const {
  const Layer& cache = layers_[static_cast<std::size_t>(layer)];
  const std::int64_t longest = cache.keys.size(2);
  const auto scores = by_sentence(q).matmul(cache.keys.transpose(2, 3)) / std::sqrt(double(d_k_));
  auto softmax =
      scores.masked_fill(~mask_, -INFINITY).softmax(-1, torch::kFloat32);  // [A, H, J, S]
  softmax = head == 0 ? softmax.mean(1) : softmax.select(1, head - 1);     // [A, J, S]
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
