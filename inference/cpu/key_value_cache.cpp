#include "inference/cpu/key_value_cache.h"

#include <algorithm>

namespace dragoman {

KeyValueCache::KeyValueCache(std::int64_t layers, std::int64_t record_bytes)
    : record_bytes_(record_bytes), layers_(static_cast<std::size_t>(layers)) {}

std::int32_t KeyValueCache::new_strip() {
  if (free_.empty()) {
    // Twice as many at once, so that rows come and go without a copy of the cache.
    const std::int32_t more = std::max(8, strips_);
    for (std::int32_t i = more; i-- > 0;) free_.push_back(strips_ + i);
    strips_ += more;
    for (auto& layer : layers_)
      layer.resize(static_cast<std::size_t>(strips_ * capacity_ * record_bytes_));
  }
  const std::int32_t strip = free_.back();
  free_.pop_back();
  return strip;
}

void KeyValueCache::select(std::span<const RowOrigin> rows) {
  next_rows_.clear();
  next_history_.resize(rows.size() * static_cast<std::size_t>(capacity_));
  std::size_t of_slot = 0;  // rows of one slot stand side by side
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RowOrigin& origin = rows[i];
    of_slot = i > 0 && rows[i - 1].slot == origin.slot ? of_slot + 1 : 0;
    const auto slot = static_cast<std::size_t>(origin.slot);
    if (slot_strips_.size() <= slot) slot_strips_.resize(slot + 1);
    auto& strips = slot_strips_[slot];
    if (strips.size() <= of_slot) strips.push_back(new_strip());
    Row row{origin.slot, strips[of_slot], 0};
    if (origin.parent >= 0) {
      row.places = at(origin.parent).places;
      std::copy_n(records(origin.parent), row.places,
                  next_history_.begin() + static_cast<std::ptrdiff_t>(i) * capacity_);
    }
    next_rows_.push_back(row);
  }
  rows_.swap(next_rows_);
  history_.swap(next_history_);
}

void KeyValueCache::release(std::int32_t slot) {
  if (static_cast<std::size_t>(slot) >= slot_strips_.size()) return;
  auto& strips = slot_strips_[static_cast<std::size_t>(slot)];
  free_.insert(free_.end(), strips.rbegin(), strips.rend());
  strips.clear();
}

void KeyValueCache::widen(std::int64_t capacity) {
  for (auto& layer : layers_) {
    std::vector<std::uint8_t> moved(static_cast<std::size_t>(strips_ * capacity * record_bytes_));
    for (std::int64_t strip = 0; strip < strips_; ++strip)
      std::copy_n(layer.begin() + strip * capacity_ * record_bytes_, capacity_ * record_bytes_,
                  moved.begin() + strip * capacity * record_bytes_);
    layer = std::move(moved);
  }
  next_history_.assign(rows_.size() * static_cast<std::size_t>(capacity), 0);
  for (std::int64_t row = 0; row < rows(); ++row)
    for (std::int64_t j = 0; j < places(row); ++j) {
      const std::int64_t record = records(row)[j];
      next_history_[static_cast<std::size_t>(row * capacity + j)] =
          static_cast<std::int32_t>(record / capacity_ * capacity + record % capacity_);
    }
  history_.swap(next_history_);
  capacity_ = capacity;
}

void KeyValueCache::begin_step() {
  std::int64_t longest = 0;
  for (const Row& row : rows_) longest = std::max<std::int64_t>(longest, row.places + 1);
  if (longest > capacity_) widen(std::max(longest, 2 * capacity_));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row& row = rows_[i];
    history_[i * static_cast<std::size_t>(capacity_) + static_cast<std::size_t>(row.places)] =
        static_cast<std::int32_t>(row.strip * capacity_ + row.places);
    ++row.places;
  }
}

}  // namespace dragoman
