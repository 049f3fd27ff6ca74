// Attention of one row to the records of a cache: what InferenceKernels calls, for each type of
// record.
#pragma once

#include <cstdint>

#include "kernels/byte_attention-inl.h"
#include "kernels/float_attention-inl.h"
#include "kernels/inference_kernels.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

/// The function for the heads that lanes of a vector differ in.
#define DRAGOMAN_FOR_LANES(order, call)                      \
  switch ((order).lanes < kLanes ? (order).lanes : kLanes) { \
    case 1:                                                  \
      call(1);                                               \
      break;                                                 \
    case 2:                                                  \
      call(2);                                               \
      break;                                                 \
    case 4:                                                  \
      call(4);                                               \
      break;                                                 \
    case 8:                                                  \
      call(kLanes < 8 ? kLanes : 8);                         \
      break;                                                 \
    default:                                                 \
      call(kLanes);                                          \
      break;                                                 \
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
#define DRAGOMAN_CALL(L) store_record<L>(order, key, value, (std::uint8_t*)record)
  DRAGOMAN_FOR_LANES(order, DRAGOMAN_CALL)
#undef DRAGOMAN_CALL
}

void row_attention_float(const RowAttentionArguments& a) {
#define DRAGOMAN_CALL(L) attend_floats<L, float>(a)
  DRAGOMAN_FOR_LANES(a.order, DRAGOMAN_CALL)
#undef DRAGOMAN_CALL
}

void row_attention_bf16(const RowAttentionArguments& a) {
#define DRAGOMAN_CALL(L) attend_floats<L, std::uint16_t>(a)
  DRAGOMAN_FOR_LANES(a.order, DRAGOMAN_CALL)
#undef DRAGOMAN_CALL
}

void row_attention_int8(const RowAttentionArguments& a){
#define DRAGOMAN_CALL(L) attend_bytes<L>(a)
    DRAGOMAN_FOR_LANES(a.order, DRAGOMAN_CALL)
#undef DRAGOMAN_CALL
}
#undef DRAGOMAN_FOR_LANES

DRAGOMAN_END_KERNELS
