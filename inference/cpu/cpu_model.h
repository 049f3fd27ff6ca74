// A model's weights for the CPU engine, made from a model file or from the weights of a training.
// Linear layers are packed for this processor when the model is loaded (PackedLinear), and layers
// with the same input become one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/threads.h"
#include "inference/search/engine.h"
#include "kernels/inference_kernels.h"
#include "model/file/model_file.h"

namespace dragoman {

/// The type that the weights get if the file has them in fp32.
constexpr NumberType number_type(ComputeType type) {
  return type == ComputeType::Int8       ? NumberType::Int8
         : type == ComputeType::BFloat16 ? NumberType::BFloat16
                                         : NumberType::Float32;
}

/// Makes a buffer at least `size` long. It never shrinks.
template <class Number>
void grow(std::vector<Number>& buffer, std::int64_t size) {
  if (static_cast<std::int64_t>(buffer.size()) < size)
    buffer.resize(static_cast<std::size_t>(size));
}

/// The memory and the helpers of a linear layer at work.
struct LinearScratch {
  std::vector<std::uint8_t> rounded;
  std::vector<float> scales;
  HelperTeam* helpers = nullptr;  ///< threads that compute some outputs; null: none
};

/// The rows that a linear layer is applied to.
struct LinearRows {
  const float* x;  ///< [count, inputs]
  std::int64_t count;
  float* y;  ///< [count, outputs of the layer or of a part of it]
};

/// A linear layer with weights in fp32, bf16, or whole numbers of 8 bits with a scale for each
/// output.
class PackedLinear {
 public:
  PackedLinear() = default;
  /// weights [outputs, inputs]; bias [outputs], or none for zeros.
  PackedLinear(std::span<const float> weights, std::span<const float> bias, std::int64_t inputs,
               ComputeType type);
  /// Takes weights that are rounded already: whole numbers [outputs, inputs], scales [outputs].
  PackedLinear(std::span<const std::int8_t> whole, std::span<const float> scales,
               std::span<const float> bias, std::int64_t inputs);

  std::int64_t inputs() const { return inputs_; }
  std::int64_t outputs() const { return outputs_; }
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(4 * floats_.size() + 2 * halves_.size() + bytes_.size());
  }

  /// y [inputs] += factor * W[output].
  void add_weights(std::int64_t output, float factor, float* y) const;

  /// y [rows, outputs] = x [rows, inputs] W^T + bias; with `relu` then max(0, y).
  void run(const float* x, std::int64_t rows, float* y, LinearScratch& scratch,
           bool relu = false) const;
  static constexpr std::int64_t kChunkStep = 64;  ///< a multiple of every panel
  /// Computes `step` outputs at a time and calls visit(begin, end, y) with y [rows, end - begin],
  /// so that the outputs stay in the caches. `step` is a multiple of kChunkStep.
  template <class Visit>
  void run_in_chunks(const LinearRows& rows, std::int64_t step, LinearScratch& scratch,
                     Visit&& visit) const {
    round(rows.x, rows.count, scratch);
    for (std::int64_t begin = 0; begin < outputs_; begin += step) {
      const std::int64_t end = std::min(begin + step, outputs_);
      multiply(rows, begin, end, scratch, false);
      visit(begin, end, rows.y);
    }
  }

 private:
  const void* packed(std::int64_t first_output) const;
  void round(const float* x, std::int64_t rows, LinearScratch& scratch) const;
  /// Computes outputs [begin, end) of x, which is rounded already. `begin` is a multiple of
  /// kChunkStep.
  void multiply(const LinearRows& rows, std::int64_t begin, std::int64_t end,
                const LinearScratch& scratch, bool relu) const;

  std::int64_t inputs_ = 0, outputs_ = 0;
  NumberType type_ = NumberType::Float32;
  std::vector<float> floats_;  ///< packed, as the next two
  std::vector<std::uint16_t> halves_;
  std::vector<std::int8_t> bytes_;
  std::vector<float> weight_scales_;  ///< padded, as the next two
  std::vector<std::int32_t> offsets_;
  std::vector<float> bias_;
};

struct CpuNorm {
  std::vector<float> gain, bias;  ///< [D]
};

/// In the decoder queries, keys and values are in HeadOrder: W floats instead of D.
struct CpuSelfAttention {
  PackedLinear query_key_value;  ///< D -> 3 D; in the decoder D -> 3 W
  PackedLinear output;           ///< D -> D; in the decoder W -> D
  CpuNorm norm;
  /// With norm = before-queries, keys and values have another input than queries, and the first
  /// layer computes queries alone; otherwise empty.
  PackedLinear key_value = {};  ///< D -> 2 D; in the decoder D -> 2 W
};

struct CpuCrossAttention {
  PackedLinear query, key_value;  ///< D -> W of the target, D -> 2 W of the memory
  PackedLinear output;            ///< W -> D
  CpuNorm norm;
};

struct CpuFeedForward {
  PackedLinear inner;  ///< D -> F; gated: D -> 2 F, the gate last
  PackedLinear outer;  ///< F -> D
  CpuNorm norm;
};

struct CpuEncoderLayer {
  CpuSelfAttention self_attention;
  CpuFeedForward feed_forward;
};

struct CpuDecoderLayer {
  CpuSelfAttention self_attention;
  CpuCrossAttention cross_attention;
  CpuFeedForward feed_forward;
};

/// Vectors of the pieces: the rows of a matrix of their own, as the model file has it, or those of
/// the projection to the vocabulary.
struct CpuEmbedding {
  std::vector<float> floats;                       ///< [V, D], or
  QuantizedRows rounded;                           ///< [V, D], or
  std::shared_ptr<const PackedLinear> projection;  ///< D -> V

  /// y [D] += scale * E[token].
  void add(std::int32_t token, float scale, std::span<float> y) const;
};

struct CpuModel {
  CpuModel(const ParameterReader& parameters, ComputeType type);

  /// The bytes of the weights that a step reads.
  std::int64_t step_bytes() const;

  ModelConfig config;
  HeadOrder order;        ///< of the decoder's attention
  NumberType cache_type;  ///< of keys and values
  CpuEmbedding source_embedding, target_embedding;
  std::vector<float> source_positions, target_positions;  ///< the learned ones, if there are any
  std::vector<CpuEncoderLayer> encoder;
  std::vector<CpuDecoderLayer> decoder;
  std::optional<CpuNorm> source_embedding_norm, target_embedding_norm;  ///< with embedding_norm
  std::optional<CpuNorm> encoder_norm, decoder_norm;                    ///< unless norm = after
  std::shared_ptr<const PackedLinear> output;                           ///< D -> V
};

}  // namespace dragoman
