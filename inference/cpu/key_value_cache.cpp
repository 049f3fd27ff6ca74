#include "inference/cpu/key_value_cache.h"

#include <algorithm>

namespace dragoman {

KeyValueCache::KeyValueCache(std::int64_t layers, std::int64_t record_bytes)
    : record_bytes_(record_bytes), layers_(static_cast<std::size_t>(layers)) {}

std::int32_t KeyValueCache::new_block() {
  if (free_.empty()) {
    // Doubles the blocks, so that rows come and go without a copy of the cache.
    const std::int32_t more = std::max(8, blocks_);
    for (std::int32_t i = more; i-- > 0;) free_.push_back(blocks_ + i);
    blocks_ += more;
    free_.reserve(static_cast<std::size_t>(blocks_));  // release() takes no memory
    for (auto& layer : layers_)
      layer.resize(static_cast<std::size_t>(std::int64_t{blocks_} * kBlock * record_bytes_));
  }
  const std::int32_t block = free_.back();
  free_.pop_back();
  return block;
}

void KeyValueCache::select(std::span<const RowOrigin> rows) {
  next_rows_.clear();
  next_history_.resize(rows.size() * static_cast<std::size_t>(capacity_));
  std::size_t of_slot = 0;  // rows of one slot stand side by side
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RowOrigin& origin = rows[i];
    of_slot = i > 0 && rows[i - 1].slot == origin.slot ? of_slot + 1 : 0;
    const auto number = static_cast<std::size_t>(origin.slot);
    if (slots_.size() <= number) slots_.resize(number + 1);
    Slot& slot = slots_[number];
    Row row{origin.slot, 0, origin.parent < 0 ? 0 : at(origin.parent).length};
    if (of_slot == 0 && row.length % kBlock == 0) slot.first = slot.blocks.size();
    if (slot.blocks.size() <= slot.first + of_slot) slot.blocks.push_back(new_block());
    row.block = slot.blocks[slot.first + of_slot];
    if (origin.parent >= 0) {
      std::copy_n(records(origin.parent), row.length,
                  next_history_.begin() + static_cast<std::ptrdiff_t>(i) * capacity_);
    }
    next_rows_.push_back(row);
  }
  rows_.swap(next_rows_);
  history_.swap(next_history_);
}

void KeyValueCache::release(std::int32_t slot) {
  if (static_cast<std::size_t>(slot) >= slots_.size()) return;
  auto& blocks = slots_[static_cast<std::size_t>(slot)].blocks;
  free_.insert(free_.end(), blocks.rbegin(), blocks.rend());
  blocks.clear();
}

void KeyValueCache::widen(std::int64_t capacity) {
  next_history_.assign(rows_.size() * static_cast<std::size_t>(capacity), 0);
  for (std::int64_t row = 0; row < rows(); ++row)
    std::copy_n(records(row), length(row), next_history_.begin() + row * capacity);
  history_.swap(next_history_);
  capacity_ = capacity;
}

void KeyValueCache::begin_step() {
  std::int64_t longest = 0;
  for (const Row& row : rows_) longest = std::max<std::int64_t>(longest, row.length + 1);
  if (longest > capacity_) widen(std::max(longest, 2 * capacity_));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row& row = rows_[i];
    history_[i * static_cast<std::size_t>(capacity_) + static_cast<std::size_t>(row.length)] =
        row.block * kBlock + row.length % kBlock;
    ++row.length;
  }
}

}  // namespace dragoman
