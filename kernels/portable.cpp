// The kernels for any x86-64 processor (and the yardstick of the others).
#include <cstdint>

#include "kernels/kernels.h"

namespace dragoman::portable {

namespace {
#define DRAGOMAN_LANES 4
#include "kernels/training_kernels.inc"
}  // namespace

const KernelTable kTable = {
    .name = "portable",
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

}  // namespace dragoman::portable
