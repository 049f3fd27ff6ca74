// Attention of one row to the records of a cache. There is one function for each type of record;
// InferenceKernels calls them.
#pragma once

#include <cstdint>

#include "kernels/byte_attention-inl.h"
#include "kernels/float_attention-inl.h"
#include "kernels/inference_kernels.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

/// Calls call<L>() for the L heads that lanes of a vector differ in.
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

void row_attention_float(const RowAttentionArguments& a) {
  for_lanes(
      a.order, [&]<int L>() __attribute__((always_inline)) { attend_floats<L, float>(a); });
}

void row_attention_bf16(const RowAttentionArguments& a) {
  for_lanes(
      a.order, [&]<int L>() __attribute__((always_inline)) { attend_floats<L, std::uint16_t>(a); });
}

void row_attention_int8(const RowAttentionArguments& a) {
  for_lanes(
      a.order, [&]<int L>() __attribute__((always_inline)) { attend_bytes<L>(a); });
}

DRAGOMAN_END_KERNELS
