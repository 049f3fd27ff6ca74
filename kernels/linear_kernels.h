// Kernels of inference on weights that stay: linear layers y = x W^T + b whose weights are packed
// once for the instruction set, attention of single rows to what a cache holds, and the best tokens
// of a row of logits. Each row is computed in the same order of operations whatever rows stand
// beside it: bit for bit the same for any batch. Activations are fp32; products of int8 are exact.
#pragma once

#include <cstdint>
#include <string_view>

namespace dragoman {

/// y = x W^T + bias, where `relu` then max(0, y). Outputs are computed in panels of
/// LinearKernels::panel; arrays marked [P] have padded_outputs() elements.
struct LinearArguments {
  const void* x;                ///< fp32 [rows, inputs], or as `quantize` wrote it
  const float* x_scales;        ///< [rows], of int8
  const void* weights;          ///< packed
  const float* weight_scales;   ///< [P], of int8
  const std::int32_t* offsets;  ///< [P], of int8, as pack_int8 wrote them
  const float* bias;            ///< [P]
  float* y;                     ///< [rows, outputs], rows y_stride apart
  std::int64_t inputs, outputs, y_stride;
  bool relu;
};

/// softmax(scale * q K^T) V of each head of one row. Key and value of place j stand at
/// cache + record_j * record_stride and value_offset behind that, [heads * d_k] each; record_j is
/// records[j], or j where records is null.
struct RowAttentionArguments {
  const float* q;  ///< [heads * d_k]
  const float* cache;
  const std::int32_t* records;
  std::int64_t record_stride, value_offset;
  std::int64_t places, heads, d_k;
  float scale;
  float* weights;  ///< scratch [heads * places]
  float* output;   ///< [heads * d_k]
};

/// The largest values of a row and their indices, larger first, of equal ones the smaller index
/// first; those below `count` that are minus infinity come last. `log_sum` is the logarithm of the
/// sum of exp(values).
struct BestArguments {
  const float* values;
  std::int64_t count, best;
  std::int32_t* indices;  ///< [best]
  float* best_values;     ///< [best]
};

struct LinearKernels {
  std::string_view name;
  std::int64_t panel;  ///< outputs side by side

  std::int64_t padded_outputs(std::int64_t outputs) const {
    return (outputs + panel - 1) / panel * panel;
  }
  /// Inputs of int8 come in fours.
  static std::int64_t padded_inputs(std::int64_t inputs) { return (inputs + 3) / 4 * 4; }

  /// weights [outputs, inputs] -> packed [padded_outputs * inputs].
  void (*pack_float)(const float* weights, std::int64_t outputs, std::int64_t inputs,
                     float* packed);
  /// weights [outputs, inputs] -> packed [padded_outputs * padded_inputs], offsets [P].
  void (*pack_int8)(const std::int8_t* weights, std::int64_t outputs, std::int64_t inputs,
                    std::int8_t* packed, std::int32_t* offsets);
  /// Rows of x to whole numbers in [-127, 127] times a scale of the row; `quantized` has room for
  /// 2 * padded_inputs bytes a row. A row that is not finite gets a scale that is not a number.
  void (*quantize)(const float* x, std::int64_t rows, std::int64_t inputs, void* quantized,
                   float* scales);
  /// Rows [0, rows), panels [begin, end).
  void (*linear_float)(const LinearArguments&, std::int64_t rows, std::int64_t begin,
                       std::int64_t end);
  void (*linear_int8)(const LinearArguments&, std::int64_t rows, std::int64_t begin,
                      std::int64_t end);
  void (*row_attention)(const RowAttentionArguments&);
  /// Returns the logarithm of the sum of exp(values).
  float (*log_sum)(const float* values, std::int64_t count);
  void (*best)(const BestArguments&);
};

namespace portable {
extern const LinearKernels kLinearKernels;
}
namespace avx2 {
extern const LinearKernels kLinearKernels;
}
namespace avx512 {
extern const LinearKernels kLinearKernels;
}
namespace avx512_vnni {
extern const LinearKernels kLinearKernels;
}

/// The best table for this processor within what DRAGOMAN_ISA allows (see kernels()).
const LinearKernels& linear_kernels();

}  // namespace dragoman
