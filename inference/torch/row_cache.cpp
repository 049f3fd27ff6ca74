#include "inference/torch/row_cache.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

#include "model/ops/to_device.h"

namespace dragoman {

namespace {

constexpr std::int64_t kNewColumns = 32;

}  // namespace

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
  if (columns_ + 1 > column_capacity_) column_capacity_ = columns_ + kNewColumns;
  const torch::Tensor index = to_device(parents, options_.device());
  for (Layer& layer : layers_) {
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
  const Layer& cache = layers_[static_cast<std::size_t>(layer)];
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

}  // namespace dragoman
