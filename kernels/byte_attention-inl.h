// Attention of one row to records of bytes. A record of bytes is the key, the value, the scales of
// the key's heads and those of the value's, as many as lanes read.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cached_attention-inl.h"
#include "kernels/inference_kernels.h"
#include "kernels/operand_layout-inl.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

/// Interleaves 16-bit numbers of `one` and `other`: of each eight, the four from `first` on.
DRAGOMAN_INLINE I16x2 interleave_words(I16x2 one, I16x2 other, int first) {
  I16x2 from;
  for (int i = 0; i < 2 * kLanes; ++i)
    from[i] = (std::int16_t)(i / 8 * 8 + first + i % 8 / 2 + i % 2 * 2 * kLanes);
  return __builtin_shuffle(one, other, from);
}

/// The scales of a slice's heads, and their inverses: each head's largest number becomes 127. A
/// head that is not finite gets a scale that is not a number.
template <int L>
DRAGOMAN_INLINE void scale_heads(const float* x, const HeadOrder& order, std::int64_t slice,
                                 F32& scales, F32& inverses) {
  I32 largest = {};
  for (std::int64_t c = slice * kLanes; c < order.width; c += slices_of<L>(order) * kLanes)
    largest = maximum(bits_of_absolute(load(x + c)), largest);
  const F32 most = (F32)max_apart<L>(largest);
  scales = fused(most, splat(1.0F / 127.0F), most - most);  // NaN where one is not finite
  inverses = most > 0.0F ? 127.0F / most : splat(0);
}

/// Vector number `group` of slice `slice`: lane by lane kGroup neighbours of a head.
DRAGOMAN_INLINE void group_of(const float* x, std::int64_t slice, std::int64_t slices,
                              std::int64_t group, F32 inverses, I32 (&numbers)[kGroup]) {
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < kGroup; ++i)
    numbers[i] =
        whole_numbers(load(x + (slice + (group * kGroup + i) * slices) * kLanes), inverses);
}

/// A query's numbers side by side in each lane, as they are multiplied.
DRAGOMAN_INLINE I32 word_of(const I32 (&numbers)[kGroup]) {
  if constexpr (Isa::kDotsBytes)
    return (numbers[0] & 255) | (numbers[1] & 255) << 8 | (numbers[2] & 255) << 16 |
           numbers[3] << 24;
  else
    return (numbers[0] & 65535) | numbers[1] << 16;
}

/// The bytes of two vectors as interleave_words() takes them apart: four of one, four of the other.
DRAGOMAN_INLINE void store_side_by_side(std::uint8_t* p, I32 front, I32 back) {
  std::uint8_t bytes[2][kLanes];
  store_bytes(bytes[0], front);
  store_bytes(bytes[1], back);
  for (std::int64_t i = 0; i < kLanes; i += 4, p += 8) {
    __builtin_memcpy(p, bytes[0] + i, 4);
    __builtin_memcpy(p + 4, bytes[1] + i, 4);
  }
}

template <int L>
DRAGOMAN_INLINE void store_record(const HeadOrder& order, const float* key, const float* value,
                                  std::uint8_t* record) {
  const std::int64_t slices = slices_of<L>(order), groups = order.width / kLanes / slices / kGroup;
  float* scales = (float*)(record + 2 * order.width);
  for (std::int64_t slice = 0; slice < slices; ++slice) {
    F32 key_scales, value_scales, inverses;
    scale_heads<L>(key, order, slice, key_scales, inverses);
    for (std::int64_t group = 0; group < groups; ++group) {
      I32 numbers[kGroup];
      group_of(key, slice, slices, group, inverses, numbers);
      std::uint8_t* at = record + (group * slices + slice) * kGroup * kLanes;
      if constexpr (Isa::kDotsBytes) {
        // An excess of 128 turns a byte's highest bit over.
        const I32 bytes = word_of(numbers) ^ (std::int32_t)(Isa::kByteExcess * 0x01010101U);
        __builtin_memcpy(at, &bytes, sizeof bytes);
      } else {
        const U16 bytes =
            __builtin_convertvector((U32)((numbers[0] & 255) | (numbers[1] & 255) << 8), U16);
        __builtin_memcpy(at, &bytes, sizeof bytes);
      }
    }
    scale_heads<L>(value, order, slice, value_scales, inverses);
    for (std::int64_t c = 0; c < order.width; c += 2 * slices * kLanes) {
      const float *front = value + c + slice * kLanes, *back = front + slices * kLanes;
      store_side_by_side(record + order.width + c + slice * 2 * kLanes,
                         whole_numbers(load(front), inverses), whole_numbers(load(back), inverses));
    }
    store(scales + slice * kLanes, key_scales);
    store(scales + order.scales_stride() + slice * kLanes, value_scales);
  }
}

/// A query's numbers as the keys' bytes meet them [width], the scales of its products with them,
/// and what the excess of the keys' bytes adds, scales_stride() each.
struct QueryBytes {
  std::uint8_t* bytes;
  float* scales;
  std::int32_t* excess;
};

template <int L>
DRAGOMAN_INLINE void round_query(const RowAttentionArguments& a, const QueryBytes& query) {
  const std::int64_t slices = slices_of<L>(a.order),
                     groups = a.order.width / kLanes / slices / kGroup;
  for (std::int64_t slice = 0; slice < slices; ++slice) {
    F32 scales, inverses;
    scale_heads<L>(a.q, a.order, slice, scales, inverses);
    store(query.scales + slice * kLanes, scales * a.scale);
    I32 sum = {};
    for (std::int64_t group = 0; group < groups; ++group) {
      I32 numbers[kGroup];
      group_of(a.q, slice, slices, group, inverses, numbers);
      if constexpr (Isa::kDotsBytes) sum = sum + numbers[0] + numbers[1] + numbers[2] + numbers[3];
      const I32 bytes = word_of(numbers);
      __builtin_memcpy(query.bytes + (group * slices + slice) * sizeof bytes, &bytes, sizeof bytes);
    }
    sum = sum_apart<L>(sum) * Isa::kByteExcess;
    __builtin_memcpy(query.excess + slice * kLanes, &sum, sizeof sum);
  }
}

/// A query's numbers of a group, as the set multiplies them.
typedef std::conditional_t<Isa::kDotsBytes, I32, I16x2> QueryGroup;

/// Adds the products of a group of a key's bytes with the query's numbers.
DRAGOMAN_INLINE void add_key(I32& sum, const std::uint8_t* bytes, QueryGroup numbers) {
  if constexpr (Isa::kDotsBytes) {
    I32 key;
    __builtin_memcpy(&key, bytes, sizeof key);
    Isa::add_bytes(sum, key, (I32)numbers);
  } else {
    I8x2 key;
    __builtin_memcpy(&key, bytes, sizeof key);
    Isa::add_pairs(sum, (I16x2)numbers, Isa::widen_bytes(key));
  }
}

/// Computes the factors of the values' bytes: attention weight times scale of the value, as
/// integers that add up to about 32,767 for each head. The factors of positions 2 i and 2 i + 1
/// stand side by side in the lanes of position 2 i of [length, lanes]. Returns for each head the
/// number that a factor of 1 stands for.
template <int L>
DRAGOMAN_INLINE F32 round_weights(const RowAttentionArguments& a, std::int64_t bytes,
                                  std::int64_t slice, std::int32_t* numbers) {
  const std::int64_t vectors = vectors_of<L>(a.length), stride = slices_of<L>(a.order) * kLanes;
  const std::int64_t scales_at = 2 * a.order.width + 4 * (a.order.scales_stride() + slice * kLanes);
  float* products = (float*)numbers + slice * kLanes;
  const F32 sum = sum_over_positions<L>(
      a.order, vectors, [&](std::int64_t i) __attribute__((always_inline)) {
        const auto scales = [&](std::int64_t position) __attribute__((always_inline)) {
          return load((const float*)(record_of(a, position, bytes) + scales_at));
        };
        const F32 product =
            load(a.scratch + slice * kLanes + i * stride) * from_positions<L>(i, a.length, scales);
        store(products + i * stride, product);
        return product;
      });
  const F32 inverse = sum > 0.0F ? 32767.0F / sum : splat(0);
  const auto whole = [&](std::int64_t i) __attribute__((always_inline)) {
    return whole_numbers(load(products + i * stride), inverse);
  };
  for (std::int64_t i = 0; i < vectors; i += L < kLanes ? 1 : 2) {
    const I32 even = whole(i);
    const I32 odd = L < kLanes        ? __builtin_shuffle(even, lane_numbers() + L)
                    : i + 1 < vectors ? whole(i + 1)
                                      : I32{};
    const I32 pairs = even | odd << 16;
    __builtin_memcpy(products + i * stride, &pairs, sizeof pairs);
  }
  return sum * (1.0F / 32767.0F);
}

/// N pairs of vectors of the output from number `first` of a slice on. Two positions are met at
/// once.
template <int L, int N>
DRAGOMAN_INLINE void mix_bytes(const RowAttentionArguments& a, std::int64_t bytes,
                               const std::int32_t* numbers, F32 scales, std::int64_t slice,
                               std::int64_t slices, std::int64_t first) {
  I32 sums[2 * N] = {};
  for (std::int64_t position = 0; position < a.length; position += 2) {
    const std::uint8_t* value = record_of(a, position, bytes);
    const std::uint8_t* next = position + 1 < a.length ? record_of(a, position + 1, bytes) : value;
    const auto both = (I16x2)of_position<L>((const float*)numbers, a.order, position, slice);
#pragma GCC unroll 8
    for (std::int64_t n = 0; n < N; ++n) {
      const std::int64_t at = a.order.width + ((first + n) * slices + slice) * 2 * kLanes;
      I8x2 upper, lower;
      __builtin_memcpy(&upper, value + at, sizeof upper);
      __builtin_memcpy(&lower, next + at, sizeof lower);
      const I16x2 one = Isa::widen_bytes(upper), other = Isa::widen_bytes(lower);
      Isa::add_pairs(sums[2 * n], both, interleave_words(one, other, 0));
      Isa::add_pairs(sums[2 * n + 1], both, interleave_words(one, other, 4));
    }
  }
#pragma GCC unroll 16
  for (std::int64_t n = 0; n < 2 * N; ++n)
    store(a.output + ((2 * first + n) * slices + slice) * kLanes,
          __builtin_convertvector(sums[n], F32) * scales);
}

template <int L>
void attend_bytes(const RowAttentionArguments& arguments) {
  const RowAttentionArguments a = arguments;  // a copy: the compiler sees that no store changes it
  const std::int64_t bytes = a.order.record_bytes(NumberType::Int8), slices = slices_of<L>(a.order);
  const std::int64_t pairs = a.order.width / kLanes / slices / 2;
  // What lies behind what: HeadOrder::scratch.
  auto* numbers = (std::int32_t*)a.scratch + a.order.per_head(a.length);
  float* behind = (float*)numbers + a.order.per_head(a.length);
  const QueryBytes query = {(std::uint8_t*)(behind + 2 * a.order.scales_stride()), behind,
                            (std::int32_t*)(behind + a.order.scales_stride())};
  round_query<L>(a, query);
  for (std::int64_t slice = 0; slice < slices; ++slice) {
    const auto scales_of_key = [&](std::int64_t position) __attribute__((always_inline)) {
      return load((const float*)(record_of(a, position, bytes) + 2 * a.order.width) +
                  slice * kLanes);
    };
    I32 excess;
    __builtin_memcpy(&excess, query.excess + slice * kLanes, sizeof excess);
    const F32 query_scales = load(query.scales + slice * kLanes);
    for (std::int64_t i = 0; i < vectors_of<L>(a.length); i += kTogether<L>) {
      I32 products[kTogether<L>];
      products_of_positions<L>(
          a, bytes, i, slice, a.order.width / kGroup / kLanes, products,
          [&](std::int64_t group) __attribute__((always_inline)) {
            QueryGroup numbers;
            __builtin_memcpy(&numbers, query.bytes + group * sizeof numbers, sizeof numbers);
            return numbers;
          },
          [](I32 & sum, const std::uint8_t* key, std::int64_t group, QueryGroup numbers)
              __attribute__((always_inline)) {
                add_key(sum, key + group * kGroup * kLanes, numbers);
              });
      for (std::int64_t v = 0; v < kTogether<L> && i + v < vectors_of<L>(a.length); ++v)
        store(a.scratch + ((i + v) * slices + slice) * kLanes,
              __builtin_convertvector(products[v] - excess, F32) * query_scales *
                  from_positions<L>(i + v, a.length, scales_of_key));
    }
    softmax_over_positions<L>(a, slice);
    const F32 scales = round_weights<L>(a, bytes, slice, numbers);
    constexpr int kMost = Isa::kRegisters == 32 ? 8 : 4;  // pairs of sums in registers
    std::int64_t first = 0;
    for (; first + kMost <= pairs; first += kMost)
      mix_bytes<L, kMost>(a, bytes, numbers, scales, slice, slices, first);
    for (; first < pairs; first += 2)
      mix_bytes<L, 2>(a, bytes, numbers, scales, slice, slices, first);
  }
}

DRAGOMAN_END_KERNELS
