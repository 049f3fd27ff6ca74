// Keys and values of the decoder's self-attention. Each row writes its own records. A row that
// continues another row copies that row's list of record numbers. So a beam is reordered without
// moving keys or values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/search/engine.h"

namespace dragoman {

/// A record holds the key and value of one position in one layer (HeadOrder::record_bytes). All
/// rows of a slot have the same length. Each row of a slot has a block of records for every kBlock
/// positions, and writes into it at the position of the step. So a record is written only once, and
/// all rows of the slot may refer to it until the slot is released.
class KeyValueCache {
 public:
  KeyValueCache(std::int64_t layers, std::int64_t record_bytes);

  /// Replaces all rows, as StepRequest::rows says.
  void select(std::span<const RowOrigin> rows);
  /// Frees the blocks of a slot, whose rows are gone.
  void release(std::int32_t slot);

  /// Adds a position to each row. Its records are to be written for each layer.
  void begin_step();

  std::int64_t rows() const { return static_cast<std::int64_t>(rows_.size()); }
  std::int32_t slot(std::int64_t row) const { return at(row).slot; }
  /// The length of the row, the current step's included.
  std::int64_t length(std::int64_t row) const { return at(row).length; }
  /// Numbers of the row's records [length], in the order of their positions.
  const std::int32_t* records(std::int64_t row) const { return history_.data() + row * capacity_; }

  const std::uint8_t* layer(std::int64_t layer) const {
    return layers_[static_cast<std::size_t>(layer)].data();
  }
  /// The row's record of the current step.
  std::uint8_t* current(std::int64_t layer, std::int64_t row) {
    return layers_[static_cast<std::size_t>(layer)].data() +
           records(row)[length(row) - 1] * record_bytes_;
  }

 private:
  static constexpr std::int32_t kBlock = 64;

  struct Row {
    std::int32_t slot, block;  // block: of the current position
    std::int32_t length;
  };
  struct Slot {
    std::vector<std::int32_t> blocks;
    std::size_t first = 0;  // blocks[first + n] has the current position of the n-th row
  };

  const Row& at(std::int64_t row) const { return rows_[static_cast<std::size_t>(row)]; }
  std::int32_t new_block();
  void widen(std::int64_t capacity);

  std::int64_t record_bytes_;
  std::vector<std::vector<std::uint8_t>> layers_;  // records [blocks * kBlock]
  std::int32_t blocks_ = 0;
  std::vector<std::int32_t> free_;  // blocks
  std::vector<Slot> slots_;
  std::int64_t capacity_ = kBlock;  // of the longest row
  std::vector<Row> rows_, next_rows_;
  std::vector<std::int32_t> history_, next_history_;  // [rows, capacity]
};

}  // namespace dragoman
