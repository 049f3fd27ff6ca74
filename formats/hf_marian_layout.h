// Which tensor of Hugging Face's MarianMTModel is which of our parameters, for both directions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/model_config.h"

namespace dragoman {

/// A parameter under both names. Both have the same elements, but for the order of d_model
/// (ColumnOrder::Halves) and for padding, which ours lack.
struct MarianTensor {
  std::string ours, theirs;
  std::vector<std::int64_t> shape;  ///< ours
  /// Their last row (of the bias the last element) is that of <pad>, the piece behind ours.
  bool has_padding = false;

  /// With padding; their bias of the output is a matrix of one row.
  std::vector<std::int64_t> their_shape() const;
  /// The elements of padding.
  std::size_t padding() const;
};

/// The activation functions that MarianMTModel has, by its names.
std::string marian_name(Activation activation);  ///< throws Error for a gated one
std::optional<Activation> marian_activation(std::string_view name);

/// All tensors of a model. Throws Error for a configuration that MarianMTModel does not have,
/// naming our flag: normalisation before the sub-layers, learned positions, gated networks, another
/// epsilon.
std::vector<MarianTensor> marian_tensors(const ModelConfig& config);

}  // namespace dragoman
