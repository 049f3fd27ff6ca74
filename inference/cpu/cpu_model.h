// A model's weights for the CPU engine. Linear layers are packed; layers with the same input become
// one. Made from a model file, or from the weights of a training.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "inference/cpu/packed_linear.h"
#include "kernels/inference_kernels.h"
#include "model/file/parameters.h"
#include "model/file/quantized_rows.h"

namespace dragoman {

struct CpuNorm {
  std::vector<float> gain, bias;  ///< [D]
};

/// In the decoder queries, keys and values are in HeadOrder: W floats instead of D.
struct CpuSelfAttention {
  PackedLinear query_key_value;  ///< D -> 3 D; in the decoder D -> 3 W
  PackedLinear output;           ///< D -> D; in the decoder W -> D
  CpuNorm norm;
  /// With norm = before-queries keys and values have another input than queries, and the first
  /// layer gives queries alone; else empty.
  PackedLinear key_value = {};  ///< D -> 2 D; in the decoder D -> 2 W
};

struct CpuCrossAttention {
  PackedLinear query, key_value;  ///< D -> W of the target, D -> 2 W of the memory
  PackedLinear output;            ///< W -> D
  CpuNorm norm;
};

struct CpuFeedForward {
  PackedLinear inner;  ///< D -> F; gated: D -> 2 F, the gate behind the rest
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
  std::vector<float> source_positions, target_positions;  ///< learned ones; else empty
  std::vector<CpuEncoderLayer> encoder;
  std::vector<CpuDecoderLayer> decoder;
  std::optional<CpuNorm> source_embedding_norm, target_embedding_norm;  ///< with embedding_norm
  std::optional<CpuNorm> encoder_norm, decoder_norm;                    ///< unless norm = after
  std::shared_ptr<const PackedLinear> output;                           ///< D -> V
};

}  // namespace dragoman
