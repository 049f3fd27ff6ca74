// Kernels of inference on weights that stay: linear layers y = x W^T + b whose weights are packed
// once for the instruction set, attention of single rows to what a cache holds, and the best tokens
// of a row of logits. Each row is computed in the same order of operations whatever rows stand
// beside it: bit for bit the same for any batch. Activations are fp32; products of int8 are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dragoman {

/// The type of a product's factors. BFloat16: both are rounded to bf16, sums are fp32. Int8: both
/// are rounded to 8 bits with a scale for each row, sums are exact.
enum class NumberType { Float32, BFloat16, Int8 };
inline constexpr std::size_t kNumberTypes = 3;

/// y = x W^T + bias, then max(0, y) if `relu`. Outputs are computed in panels of
/// InferenceKernels::panel; arrays marked [P] have padded_outputs() elements.
struct LinearArguments {
  const void* x;                ///< fp32 [rows, inputs], or as `round_bf16` or `quantize` wrote it
  const float* x_scales;        ///< [rows], of int8
  const void* weights;          ///< packed
  const float* weight_scales;   ///< [P], of int8
  const std::int32_t* offsets;  ///< [P], of int8, as pack_int8 wrote them
  const float* bias;            ///< [P]
  float* y;                     ///< [rows, outputs], rows y_stride apart
  std::int64_t inputs, outputs, y_stride;
  bool relu;
};

/// y = f(x), or f(gate) * x if it is gated (Shazeer 2020).
struct ActivationArguments {
  const float* x;     ///< [rows, columns], rows x_stride apart
  const float* gate;  ///< the same; null: none
  float* y;           ///< [rows, columns]
  std::int64_t rows, columns, x_stride;
};

/// Where the elements of heads stand in queries, keys and values of the cache: element c of head h
/// at c * lanes + h, so that a vector holds many heads and no sum crosses its lanes. What is padded
/// is zero.
struct HeadOrder {
  std::int64_t heads, d_k;
  std::int64_t lanes;  ///< heads, padded to a power of two
  std::int64_t width;  ///< floats of a row: lanes * d_k, padded to a multiple of 64

  constexpr HeadOrder(std::int64_t number_of_heads, std::int64_t size_of_head)
      : heads(number_of_heads), d_k(size_of_head), lanes(1), width(0) {
    while (lanes < heads) lanes *= 2;
    const std::int64_t step = lanes < 16 ? 64 / lanes : 4;
    width = (d_k + step - 1) / step * step * lanes;
  }
  constexpr std::int64_t index(std::int64_t head, std::int64_t c) const { return c * lanes + head; }
  /// Scales of heads in bytes: the heads repeat if a vector holds more than there are.
  constexpr std::int64_t scales_stride() const { return lanes < 16 ? 16 : lanes; }
  /// Numbers of [length, lanes], with room for whole vectors after them.
  constexpr std::int64_t per_head(std::int64_t length) const { return length * lanes + 16; }
  /// Floats of a row's scratch memory: the softmax and, of bytes, the weights of the values
  /// [length, lanes] each, scales and excess of the query [scales_stride()] each, and its bytes
  /// [width].
  constexpr std::int64_t scratch(std::int64_t length) const {
    return 2 * per_head(length) + 2 * scales_stride() + width;
  }
  /// Bytes of a record of the cache: key and value of a position; of bytes with scales of their
  /// heads, scales_stride() each.
  constexpr std::int64_t record_bytes(NumberType type) const {
    if (type == NumberType::Int8) return 2 * width + 8 * scales_stride();
    return (type == NumberType::Float32 ? 8 : 4) * width;
  }
};

/// softmax(scale * q K^T) V of each head of one row. The record of position j is number records[j]
/// of the cache, or j if records is null.
struct RowAttentionArguments {
  HeadOrder order;
  const float* q;  ///< [width]
  const std::uint8_t* cache;
  const std::int32_t* records;
  std::int64_t length;
  float scale;
  float* scratch;  ///< [order.scratch(length)]; begins with the softmax: [length, lanes]
  float* output;   ///< [width]
};

/// The `best` largest values of a row and their indices, larger first; among equal ones, also
/// of minus infinity, the smaller index first. The row comes in chunks, one for each call, and
/// each call updates the list. Until `best` values have come, the list is shorter.
struct BestArguments {
  const float* values;  ///< the row's next chunk
  std::int64_t count;   ///< of this chunk
  std::int64_t first;   ///< index of its first value: how many were met before
  std::int64_t best;
  std::int32_t* indices;  ///< [best]
  float* best_values;     ///< [best]
};

struct InferenceKernels {
  std::string_view name;
  std::int64_t panel;  ///< outputs side by side

  std::int64_t padded_outputs(std::int64_t outputs) const {
    return (outputs + panel - 1) / panel * panel;
  }
  /// In bf16 and int8, packed weights and rows have a multiple of eight inputs. Those added are 0.
  static std::int64_t padded_inputs(std::int64_t inputs) { return (inputs + 7) / 8 * 8; }

  /// weights [outputs, inputs] -> packed [padded_outputs * inputs].
  void (*pack_float)(const float* weights, std::int64_t outputs, std::int64_t inputs,
                     float* packed);
  /// weights [outputs, inputs] -> packed [padded_outputs * padded_inputs].
  void (*pack_bf16)(const float* weights, std::int64_t outputs, std::int64_t inputs,
                    std::uint16_t* packed);
  /// weights [outputs, inputs] -> packed [padded_outputs * padded_inputs], offsets [P].
  void (*pack_int8)(const std::int8_t* weights, std::int64_t outputs, std::int64_t inputs,
                    std::int8_t* packed, std::int32_t* offsets);
  /// Rows of x to bf16; `rounded` has room for 4 * padded_inputs bytes a row.
  void (*round_bf16)(const float* x, std::int64_t rows, std::int64_t inputs, void* rounded);
  /// Rows of x to whole numbers in [-127, 127] times a scale of the row; `quantized` has room for
  /// 2 * padded_inputs bytes a row. A row that is not finite gets a scale that is not a number.
  void (*quantize)(const float* x, std::int64_t rows, std::int64_t inputs, void* quantized,
                   float* scales);
  /// Rows [0, rows), panels [begin, end).
  void (*linear[kNumberTypes])(const LinearArguments&, std::int64_t rows, std::int64_t begin,
                               std::int64_t end);
  /// x times the probability that a standard normal number is below x.
  void (*gelu)(const ActivationArguments&);
  /// x / (1 + exp(-x)).
  void (*swish)(const ActivationArguments&);
  /// y [inputs] += factor * the packed weights of one output (int8: the integers, without scale).
  void (*add_weights[kNumberTypes])(const void* packed, std::int64_t inputs, std::int64_t output,
                                    float factor, float* y);
  /// Key and value [width] to a record of the cache.
  void (*store_record[kNumberTypes])(const HeadOrder&, const float* key, const float* value,
                                     void* record);
  void (*row_attention[kNumberTypes])(const RowAttentionArguments&);
  /// Returns the largest value; minus infinity of none.
  float (*largest)(const float* values, std::int64_t count);
  /// Returns the sum of exp(value - reference); not a number or infinite if a value is much
  /// larger.
  float (*exponential_sum)(const float* values, std::int64_t count, float reference);
  void (*best)(const BestArguments&);
};

/// The best table for this processor within what DRAGOMAN_ISA allows (see batch_kernels()).
const InferenceKernels& inference_kernels();

}  // namespace dragoman
