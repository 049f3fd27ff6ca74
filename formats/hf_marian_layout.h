// Which tensor of Hugging Face's MarianMTModel is which of our parameters, for both directions.
//
// The one difference in the numbers is the order of the columns of d_model: Marian's positional
// encoding has all sines in front and all cosines behind, where the paper's alternates them
// (section 3.5). Everything else in a Transformer treats these columns alike. So a model becomes
// ours, bit for bit, when its matrices have their columns in the paper's order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/model_config.h"

namespace dragoman {

/// A parameter under both names. Both have the same elements, but for the order of d_model and for
/// padding, which ours lack.
struct MarianTensor {
  std::string ours, theirs;
  std::vector<std::int64_t> shape;  ///< ours
  /// The axes of `shape` that are columns of d_model, in their order.
  bool rows_are_columns = false, columns_are_columns = false;
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

/// `theirs` in our order. Padding is left out.
std::vector<float> from_marian(const MarianTensor& tensor, const std::vector<float>& theirs);
/// `ours` in their order. Padding is zero, as our decoder begins with the zero vector.
std::vector<float> to_marian(const MarianTensor& tensor, const std::vector<float>& ours);

}  // namespace dragoman
