// Attention of one row to the records of a cache, for each type of record: scores, softmax and sums
// over the positions. In HeadOrder the lanes of a vector are heads. L = min(order.lanes, kLanes) of
// them differ: lane i belongs to head i % L. With more heads than lanes, the heads are cut into
// slices of kLanes heads, and vector v belongs to slice v % slices.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/inference_kernels.h"
#include "kernels/operand_layout-inl.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

// For every type of record

template <int L>
DRAGOMAN_INLINE std::int64_t slices_of(const HeadOrder& order) {
  return L < kLanes ? 1 : order.lanes / kLanes;
}

DRAGOMAN_INLINE const std::uint8_t* record_of(const RowAttentionArguments& a, std::int64_t position,
                                              std::int64_t bytes) {
  return a.cache + (a.records ? a.records[position] : position) * bytes;
}

// Scores and weights are [length, lanes]: a number for each position and head. A vector holds
// kLanes / L positions, or one slice of one position.

template <int L>
DRAGOMAN_INLINE std::int64_t vectors_of(std::int64_t length) {
  constexpr std::int64_t kPositions = kLanes / L;
  return (length + kPositions - 1) / kPositions;
}

/// `position`, or the last one if it is after the last.
DRAGOMAN_INLINE std::int64_t position_or_last(std::int64_t position, std::int64_t length) {
  return position < length ? position : length - 1;
}

/// Vector number `vector` of a slice of [length, lanes]: the lanes of each of its positions come
/// from read(position), a vector in which the heads repeat.
template <int L, class Read>
DRAGOMAN_INLINE auto from_positions(std::int64_t vector, std::int64_t length, Read&& read) {
  constexpr std::int64_t kPositions = kLanes / L;
  auto x = read(vector * kPositions);
#pragma GCC unroll 16
  for (std::int64_t i = 1; i < kPositions; ++i) {
    const auto next = read(position_or_last(vector * kPositions + i, length));
    x = lane_numbers() < (std::int32_t)(i * L) ? x : next;
  }
  return x;
}

/// How many vectors are computed at once: at least four positions, since the additions to one sum
/// wait for each other.
template <int L>
constexpr int kTogether = kLanes / L < 4 ? 4 * L / kLanes : 1;

/// The query's products with the keys of kTogether<L> vectors of positions. They take those of the
/// `steps` that belong to the slice: add(sum, key, step, numbers) with the query's numbers(step).
template <int L, class Sum, class Numbers, class Add>
DRAGOMAN_INLINE void products_of_positions(const RowAttentionArguments& a, std::int64_t bytes,
                                           std::int64_t vector, std::int64_t slice,
                                           std::int64_t steps, Sum (&products)[kTogether<L>],
                                           Numbers&& numbers, Add&& add) {
  constexpr std::int64_t kPositions = kLanes / L, kKeys = kTogether<L> * kPositions;
  const std::uint8_t* keys[kKeys];
  Sum sums[kKeys];
#pragma GCC unroll 16
  for (std::int64_t i = 0; i < kKeys; ++i) {
    keys[i] = record_of(a, position_or_last(vector * kPositions + i, a.length), bytes);
    sums[i] = Sum{};
  }
  for (std::int64_t step = slice; step < steps; step += slices_of<L>(a.order)) {
    const auto of_query = numbers(step);
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < kKeys; ++i) add(sums[i], keys[i], step, of_query);
  }
#pragma GCC unroll 4
  for (std::int64_t v = 0; v < kTogether<L>; ++v)
    products[v] = from_positions<L>(
        v, kKeys, [&](std::int64_t i) __attribute__((always_inline)) {
          return sum_apart<L>(sums[i]);
        });
}

/// `fill` in the lanes after the last position.
template <int L>
DRAGOMAN_INLINE F32 keep_positions(F32 x, std::int64_t vector, std::int64_t length, float fill) {
  const std::int64_t left = (length - vector * (kLanes / L)) * L;
  return left < kLanes ? keep_first(x, left, fill) : x;
}

/// In every lane the sum of its head's terms, which are zero after the last position. Up to sixteen
/// heads are added in sixteen columns, one position after another, so that all instruction sets add
/// in one order.
template <int L, class Term>
DRAGOMAN_INLINE F32 sum_over_positions(const HeadOrder& order, std::int64_t vectors, Term&& term) {
  const std::int64_t columns =
      order.lanes >= 16 ? 1 : 16 / (order.lanes > kLanes ? order.lanes : kLanes);
  F32 sums[16 / kLanes];
#pragma GCC unroll 4
  for (F32& sum : sums) sum = splat(0);
  for (std::int64_t vector = 0; vector < vectors; ++vector) {
    F32& sum = sums[kLanes == 16 ? 0 : vector % columns];
    sum = sum + term(vector);
  }
  for (std::int64_t half = columns / 2; half > 0; half /= 2)
    for (std::int64_t i = 0; i < half; ++i) sums[i] = sums[i] + sums[i + half];
  return sum_apart<L>(sums[0]);
}

/// Scores of a slice -> their softmax over the positions.
template <int L>
DRAGOMAN_INLINE void softmax_over_positions(const RowAttentionArguments& a, std::int64_t slice) {
  const std::int64_t vectors = vectors_of<L>(a.length), stride = slices_of<L>(a.order) * kLanes;
  float* scores = a.scratch + slice * kLanes;
  F32 largest = splat(-__builtin_inff());
  for (std::int64_t i = 0; i < vectors; ++i) {
    const F32 score = keep_positions<L>(load(scores + i * stride), i, a.length, -__builtin_inff());
    largest = maximum(largest, score);
  }
  largest = max_apart<L>(largest);
  const F32 sum = sum_over_positions<L>(
      a.order, vectors, [&](std::int64_t i) __attribute__((always_inline)) {
        const F32 e = exp_of_negative(load(scores + i * stride) - largest);
        store(scores + i * stride, keep_positions<L>(e, i, a.length, 0));
        return load(scores + i * stride);
      });
  const F32 inverse = 1.0F / sum;
  for (std::int64_t i = 0; i < vectors; ++i)
    store(scores + i * stride, load(scores + i * stride) * inverse);
}

/// The numbers of one position in [length, lanes], repeated to fill the vector.
template <int L>
DRAGOMAN_INLINE F32 of_position(const float* x, const HeadOrder& order, std::int64_t position,
                                std::int64_t slice) {
  const F32 lanes = load(x + position * order.lanes + slice * kLanes);
  return L == kLanes ? lanes : shuffled(lanes, lane_numbers() % L);
}

// Records of fp32 or bf16

/// N vectors of the output from number `first` of a slice on: the values by their weights.
template <int L, int N, class Number>
DRAGOMAN_INLINE void mix_floats(const RowAttentionArguments& a, std::int64_t bytes,
                                std::int64_t slice, std::int64_t slices, std::int64_t first) {
  const std::int64_t at = (slice + first * slices) * kLanes;
  F32 sums[N];
#pragma GCC unroll 16
  for (int n = 0; n < N; ++n) sums[n] = splat(0);
  for (std::int64_t position = 0; position < a.length; ++position) {
    const auto* value = (const Number*)record_of(a, position, bytes) + a.order.width + at;
    const F32 weight = of_position<L>(a.scratch, a.order, position, slice);
#pragma GCC unroll 16
    for (int n = 0; n < N; ++n) sums[n] = fused(weight, load(value + n * slices * kLanes), sums[n]);
  }
#pragma GCC unroll 16
  for (int n = 0; n < N; ++n) store(a.output + at + n * slices * kLanes, sums[n]);
}

template <int L, class Number>
void attend_floats(const RowAttentionArguments& arguments) {
  const RowAttentionArguments a = arguments;  // a copy: the compiler sees that no store changes it
  constexpr NumberType kType = sizeof(Number) == 2 ? NumberType::BFloat16 : NumberType::Float32;
  const std::int64_t bytes = a.order.record_bytes(kType), slices = slices_of<L>(a.order);
  const std::int64_t vectors = a.order.width / kLanes / slices;
  for (std::int64_t slice = 0; slice < slices; ++slice) {
    for (std::int64_t i = 0; i < vectors_of<L>(a.length); i += kTogether<L>) {
      F32 products[kTogether<L>];
      products_of_positions<L>(
          a, bytes, i, slice, a.order.width / kLanes, products,
          [&](std::int64_t c) __attribute__((always_inline)) { return load(a.q + c * kLanes); },
          [](F32 & sum, const std::uint8_t* key, std::int64_t c, F32 q) __attribute__((
              always_inline)) { sum = sum + q * load((const Number*)key + c * kLanes); });
      for (std::int64_t v = 0; v < kTogether<L> && i + v < vectors_of<L>(a.length); ++v)
        store(a.scratch + ((i + v) * slices + slice) * kLanes, a.scale * products[v]);
    }
    softmax_over_positions<L>(a, slice);
    constexpr int kMost = Isa::kRegisters == 32 ? 16 : 8;  // sums in registers
    std::int64_t first = 0;
    for (; first + kMost <= vectors; first += kMost)
      mix_floats<L, kMost, Number>(a, bytes, slice, slices, first);
    for (; first < vectors; first += 4) mix_floats<L, 4, Number>(a, bytes, slice, slices, first);
  }
}

// Records of bytes: the key, the value, the scales of the key's heads and those of the value's, as
// many as lanes read

/// Bytes of a head's key side by side that one instruction multiplies.
constexpr std::int64_t kGroup = Isa::kDotsBytes ? 4 : 2;

/// Interleaves 16-bit numbers of `one` and `other`: the four from `first` on of each eight.
DRAGOMAN_INLINE I16x2 interleave_words(I16x2 one, I16x2 other, int first) {
  I16x2 from;
  for (int i = 0; i < 2 * kLanes; ++i)
    from[i] = (std::int16_t)(i / 8 * 8 + first + i % 8 / 2 + i % 2 * 2 * kLanes);
  return shuffled(one, other, from);
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
  scales = fused(most, splat(1.0F / 127.0F), most - most);  // NaN if one is not finite
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

/// A query's numbers side by side in each lane, ready to be multiplied.
DRAGOMAN_INLINE I32 word_of(const I32 (&numbers)[kGroup]) {
  if constexpr (Isa::kDotsBytes)
    return (numbers[0] & 255) | (numbers[1] & 255) << 8 | (numbers[2] & 255) << 16 |
           numbers[3] << 24;
  else
    return (numbers[0] & 65535) | numbers[1] << 16;
}

/// Stores the bytes of two vectors as interleave_words() takes them apart: four of one, then four
/// of the other.
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
    const I32 odd = L < kLanes        ? shuffled(even, lane_numbers() + L)
                    : i + 1 < vectors ? whole(i + 1)
                                      : I32{};
    const I32 pairs = even | odd << 16;
    __builtin_memcpy(products + i * stride, &pairs, sizeof pairs);
  }
  return sum * (1.0F / 32767.0F);
}

/// N pairs of vectors of the output from number `first` of a slice on. Takes two positions at
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
  // HeadOrder::scratch() has the order in memory.
  auto* numbers = (std::int32_t*)a.scratch + a.order.per_head(a.length);
  float* scales = (float*)numbers + a.order.per_head(a.length);
  const QueryBytes query = {(std::uint8_t*)(scales + 2 * a.order.scales_stride()), scales,
                            (std::int32_t*)(scales + a.order.scales_stride())};
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

// The functions of InferenceKernels

/// Calls call<L>(), where L is the number of heads that differ in a vector.
template <class Call>
DRAGOMAN_INLINE void for_lanes(const HeadOrder& order, Call&& call) {
  switch (order.lanes < kLanes ? order.lanes : kLanes) {
    case 1:
      return call.template operator()<1>();
    case 2:
      return call.template operator()<2>();
    case 4:
      return call.template operator()<4>();
    case 8:
      return call.template operator() < kLanes < 8 ? kLanes : 8 > ();
    default:
      return call.template operator()<kLanes>();
  }
}

void store_record_float(const HeadOrder& order, const float* key, const float* value,
                        void* record) {
  __builtin_memcpy(record, key, 4 * order.width);
  __builtin_memcpy((float*)record + order.width, value, 4 * order.width);
}

void store_record_bf16(const HeadOrder& order, const float* key, const float* value, void* record) {
  for (std::int64_t c = 0; c < order.width; c += kLanes) {
    store((std::uint16_t*)record + c, load(key + c));
    store((std::uint16_t*)record + order.width + c, load(value + c));
  }
}

void store_record_int8(const HeadOrder& order, const float* key, const float* value, void* record) {
  for_lanes(
      order, [&]<int L>() __attribute__((always_inline)) {
        store_record<L>(order, key, value, (std::uint8_t*)record);
      });
}

template <NumberType kType>
void row_attention(const RowAttentionArguments& a) {
  for_lanes(
      a.order, [&]<int L>() __attribute__((always_inline)) {
        if constexpr (kType == NumberType::Int8)
          attend_bytes<L>(a);
        else
          attend_floats<L, std::conditional_t<kType == NumberType::Float32, float, std::uint16_t>>(
              a);
      });
}

DRAGOMAN_END_KERNELS
