// Marian's order of the model's columns. Its positional encoding has all sines in front and all
// cosines behind, where the paper's alternates them (section 3.5). Everything else in a Transformer
// treats the columns of d_model alike. So a model becomes ours, bit for bit, when the columns of
// its matrices are put in the paper's order.
#pragma once

#include <cstdint>
#include <vector>

namespace dragoman {

/// Of each of our columns, Marian's: sine c is its column c, cosine c its column (d_model + 1) / 2
/// + c.
inline std::vector<std::size_t> marian_columns(std::int64_t d_model) {
  std::vector<std::size_t> columns;
  for (std::int64_t c = 0; c < d_model; ++c)
    columns.push_back(static_cast<std::size_t>(c % 2 == 0 ? c / 2 : (d_model + 1) / 2 + c / 2));
  return columns;
}

}  // namespace dragoman
