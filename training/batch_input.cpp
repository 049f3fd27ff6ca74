#include "training/batch_input.h"

#include <algorithm>
#include <cstring>

#include "base/threads.h"
#include "model/ops/packed_layout.h"

namespace dragoman {

namespace {

/// Words of 8 bytes for numbers of 4.
std::int64_t words(std::int64_t numbers) { return divide_up<std::int64_t>(numbers, 2); }

/// The words of a side, from `tokens` on.
struct SidePlaces {
  SidePlaces(std::int64_t begin, const SideView& side, bool has_keys)
      : rows(side.size()),
        sentences(std::ssize(side.starts) - 1),
        tokens(begin),
        positions(tokens + rows),
        starts(positions + rows),
        lengths(starts + words(sentences + 1)),
        keys(lengths + words(sentences)),
        end(keys + (has_keys ? words(rows) : 0)) {}

  std::int64_t rows, sentences;
  std::int64_t tokens, positions, starts, lengths, keys, end;
};

void write_side(const SidePlaces& places, const SideView& side,
                const std::vector<std::int32_t>& keys, std::int64_t* buffer) {
  std::copy(side.tokens.begin(), side.tokens.end(), buffer + places.tokens);
  std::vector<std::int32_t> starts, lengths;
  for (std::int64_t b = 0; b < places.sentences; ++b) {
    const auto at = static_cast<std::size_t>(b);
    starts.push_back(side.starts[at] - side.starts[0]);
    lengths.push_back(side.starts[at + 1] - side.starts[at]);
    for (std::int32_t t = 0; t < lengths.back(); ++t)
      buffer[places.positions + starts.back() + t] = t;
  }
  starts.push_back(static_cast<std::int32_t>(places.rows));
  const auto write = [buffer](const std::vector<std::int32_t>& numbers, std::int64_t place) {
    std::memcpy(buffer + place, numbers.data(), numbers.size() * sizeof(std::int32_t));
  };
  write(starts, places.starts);
  write(lengths, places.lengths);
  write(keys, places.keys);
}

PackedTokens side_in(const torch::Tensor& buffer, const SidePlaces& places, std::int64_t longest,
                     std::int64_t heads) {
  const auto longs = [&](std::int64_t place) { return buffer.narrow(0, place, places.rows); };
  const auto ints = [&](std::int64_t place, std::int64_t count) {
    return buffer.narrow(0, place, words(count)).view(torch::kInt32).narrow(0, 0, count);
  };
  PackedTokens side{.tokens = longs(places.tokens),
                    .layout = {.sentences = places.sentences,
                               .tokens = places.rows,
                               .rows = places.rows,
                               .longest = longest,
                               .heads = heads,
                               .starts = ints(places.starts, places.sentences + 1),
                               .lengths = ints(places.lengths, places.sentences),
                               .positions = longs(places.positions),
                               .row_keys = {}}};
  if (places.end > places.keys) side.layout.row_keys = ints(places.keys, places.rows);
  return side;
}

/// The part of the copied buffer that `part` is of its own.
torch::Tensor same_part(const torch::Tensor& part, const torch::Tensor& copied) {
  return copied.view(part.scalar_type()).narrow(0, part.storage_offset(), part.numel());
}

PackedTokens same_side(const PackedTokens& side, const torch::Tensor& copied) {
  PackedTokens same = side;
  same.layout.padded_layout.reset();
  for (torch::Tensor* part : {&same.tokens, &same.layout.starts, &same.layout.lengths,
                              &same.layout.positions, &same.layout.row_keys})
    if (part->defined()) *part = same_part(*part, copied);
  return same;
}

}  // namespace

BatchInput copy_of(const BatchInput& input) {
  const auto copied = input.numbers.clone();
  return {copied, same_side(input.source, copied), same_side(input.target, copied)};
}

BatchInput input_on_gpu(const BatchView& batch, const BatchShape& shape, const RowKeys& keys,
                        std::int64_t heads, torch::Device gpu) {
  const SidePlaces source(0, batch.source, !keys.source.empty());
  const SidePlaces target(source.end, batch.target, !keys.target.empty());
  const auto here =
      torch::empty({target.end}, torch::TensorOptions(torch::kInt64).pinned_memory(true));
  write_side(source, batch.source, keys.source, here.mutable_data_ptr<std::int64_t>());
  write_side(target, batch.target, keys.target, here.mutable_data_ptr<std::int64_t>());
  const auto there = copied_to_gpu(here, gpu);
  return {there, side_in(there, source, shape.source.longest, heads),
          side_in(there, target, shape.target.longest, heads)};
}

}  // namespace dragoman
