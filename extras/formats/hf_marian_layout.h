// Which tensor of Hugging Face's MarianMTModel is which of our parameters, for both directions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/model_config.h"

namespace dragoman {

/// The pieces behind ours in their vocabularies: <pad>, and in front of it unused pieces where the
/// other side has more. MarianMTModel has one id of padding, which is the last of both sides.
struct HfPadding {
  std::int64_t source = 1, target = 1;
};

/// Makes both sides of a model equally large.
HfPadding hf_padding(const ModelConfig& config);

/// The text of an unused piece, which no SentencePiece model has, as it contains spaces; `number`
/// from 0.
std::string unused_piece(std::int64_t number);
bool is_unused_piece(std::string_view piece);

/// A parameter under both names. Both have the same elements, but for the order of d_model
/// (ColumnOrder::Halves) and for padding, which ours lack.
struct HfTensor {
  std::string ours, theirs;
  std::vector<std::int64_t> shape;  ///< ours
  /// Their last rows (of the bias the last elements), which are those of HfPadding.
  std::int64_t padding_rows = 0;

  /// With padding; their bias of the output is a matrix of one row.
  std::vector<std::int64_t> their_shape() const;
  /// The elements of padding.
  std::size_t padding() const;
};

/// The activation functions that MarianMTModel has, by its names.
std::string hf_name(Activation activation);  ///< throws Error for a gated one
std::optional<Activation> hf_activation(std::string_view name);

/// All tensors of a model. Throws Error for a configuration that MarianMTModel does not have,
/// naming our flag: normalisation before the sub-layers, learned positions, gated networks, another
/// epsilon.
std::vector<HfTensor> hf_tensors(const ModelConfig& config, const HfPadding& padding);

}  // namespace dragoman
