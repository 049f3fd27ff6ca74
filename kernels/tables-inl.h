// The tables of one instruction set.
#pragma once

#include "kernels/add_norm-inl.h"
#include "kernels/attention-inl.h"
#include "kernels/dropout-inl.h"
#include "kernels/embedding-inl.h"
#include "kernels/inference_kernels.h"
#include "kernels/instruction_sets.h"
#include "kernels/kernels.h"
#include "kernels/linear-inl.h"
#include "kernels/loss-inl.h"
#include "kernels/operand_layout-inl.h"
#include "kernels/row_attention-inl.h"
#include "kernels/token_choice-inl.h"
#ifdef DRAGOMAN_BF16_PRODUCTS
#include "kernels/bf16_products-inl.h"
#endif

#ifndef DRAGOMAN_ISA_OPTIONS
#define DRAGOMAN_ISA_OPTIONS ""
#endif
#define DRAGOMAN_QUOTED(text) #text
#define DRAGOMAN_NAME(isa) DRAGOMAN_QUOTED(isa)

namespace dragoman::DRAGOMAN_ISA {

extern const InstructionSet kInstructionSet;

const BatchKernels kBatchKernels = {
    .name = DRAGOMAN_NAME(DRAGOMAN_ISA),
    .dropout = {dropout<Float>, dropout<BFloat>},
    .relu_dropout = {relu_dropout<Float>, relu_dropout<BFloat>},
    .relu_dropout_gradient = {relu_dropout_gradient<Float>, relu_dropout_gradient<BFloat>},
    .attention_weights = {attention_weights<Float>, attention_weights<BFloat>},
    .attention_weights_gradient = {attention_weights_gradient<Float>,
                                   attention_weights_gradient<BFloat>},
    .packed_attention = {packed_attention<Float>, packed_attention<BFloat>},
    .packed_attention_gradient = {packed_attention_gradient<Float>,
                                  packed_attention_gradient<BFloat>},
    .add_norm = {add_norm<Float>, add_norm<BFloat>},
    .add_norm_gradient = {add_norm_gradient<Float>, add_norm_gradient<BFloat>},
    .column_sums = {column_sums<Float>, column_sums<BFloat>},
    .loss = {loss<Float>, loss<BFloat>},
    .embedding = {embedding<Float>, embedding<BFloat>},
    .embedding_gradient = {embedding_gradient<Float>, embedding_gradient<BFloat>},
#ifdef DRAGOMAN_BF16_PRODUCTS
    .pack_weights = {nullptr, pack_weights},
    .product = {nullptr, product},
    .relu_product = {nullptr, relu_product},
    .relu_gradient_product = {nullptr, relu_gradient_product},
    .scaled_product = {nullptr, scaled_product},
    .projected_loss = {nullptr, projected_loss},
    .weight_gradient = {nullptr, weight_gradient},
#endif
};

const InferenceKernels kInferenceKernels = {
    .name = DRAGOMAN_NAME(DRAGOMAN_ISA),
    .panel = kPanel,
    .pack_float = pack_float,
    .pack_bf16 = pack_bf16,
    .pack_int8 = pack_int8,
    .round_bf16 = round_bf16,
    .quantize = quantize,
    .linear = {linear<NumberType::Float32>, linear<NumberType::BFloat16>, linear<NumberType::Int8>},
    .gelu = gelu,
    .swish = swish,
    .add_weights = {add_weights_float, add_weights_bf16, add_weights_int8},
    .store_record = {store_record_float, store_record_bf16, store_record_int8},
    .row_attention = {row_attention<NumberType::Float32>, row_attention<NumberType::BFloat16>,
                      row_attention<NumberType::Int8>},
    .largest = largest,
    .exponential_sum = exponential_sum,
    .best = best};

const InstructionSet kInstructionSet = {
    .name = DRAGOMAN_NAME(DRAGOMAN_ISA),
    .instructions = DRAGOMAN_ISA_OPTIONS,
    .kernels = Isa::kInferenceAlone ? nullptr : &kBatchKernels,
    .inference = &kInferenceKernels,
    .only_if_named = Isa::kOnlyIfNamed,
};

}  // namespace dragoman::DRAGOMAN_ISA
