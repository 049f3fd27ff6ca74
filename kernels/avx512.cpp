// The kernels for AVX-512 (F, BW, DQ, VL).
#include <cstdint>

#include "kernels/kernels.h"

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2")

namespace dragoman::avx512 {

namespace {
#define DRAGOMAN_LANES 16
#include "kernels/training_kernels.inc"
}  // namespace

const KernelTable kTable = {
    .name = "avx512",
    .dropout = {dropout<Float>, dropout<BFloat>},
    .relu_dropout = {relu_dropout<Float>, relu_dropout<BFloat>},
    .relu_dropout_gradient = {relu_dropout_gradient<Float>, relu_dropout_gradient<BFloat>},
    .attention_weights = {attention_weights<Float>, attention_weights<BFloat>},
    .attention_weights_gradient = {attention_weights_gradient<Float>,
                                   attention_weights_gradient<BFloat>},
    .packed_attention = {packed_attention<Float>, packed_attention<BFloat>},
    .packed_attention_gradient = {packed_attention_gradient<Float>,
                                  packed_attention_gradient<BFloat>},
    .loss = {loss<Float>, loss<BFloat>},
    .embedding_gradient = {embedding_gradient<Float>, embedding_gradient<BFloat>},
};

}  // namespace dragoman::avx512

#pragma GCC pop_options
