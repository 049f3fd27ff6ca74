// Shared by the files that implement functions.h. No other file includes it.
#pragma once

#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/kernels.h"
#include "model/functions.h"

namespace dragoman {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

inline constexpr std::int64_t kRowsPerTask = 64;

inline bool has_kernel(const torch::Tensor& x) {
  return x.device().is_cpu() &&
         (x.scalar_type() == torch::kFloat32 || x.scalar_type() == torch::kBFloat16);
}

inline ElementType element_type(const torch::Tensor& x) {
  return x.scalar_type() == torch::kBFloat16 ? ElementType::BFloat16 : ElementType::Float32;
}

using OptionalTensor = std::optional<torch::Tensor>;  // undefined ones may not enter a Function

inline OptionalTensor optional(const torch::Tensor& x) {
  return x.defined() ? OptionalTensor(x) : std::nullopt;
}

inline torch::Tensor value_of(const OptionalTensor& x) { return x.value_or(torch::Tensor()); }

inline const std::int32_t* keys_of(const torch::Tensor& row_keys) {
  return row_keys.defined() ? row_keys.const_data_ptr<std::int32_t>() : nullptr;
}

/// The numbers of a dropout, as an autograd context stores them.
struct SiteNumbers {
  std::int64_t site, threshold, heads, queries;

  DropoutSite with(const torch::Tensor& row_keys) const {
    return {.row_keys = keys_of(row_keys),
            .site = static_cast<std::uint32_t>(site),
            .threshold = static_cast<std::uint32_t>(threshold),
            .heads = heads,
            .queries = queries};
  }
  void save(AutogradContext* context) const {
    context->saved_data["site"] = std::vector<std::int64_t>{site, threshold, heads, queries};
  }
  static SiteNumbers load(AutogradContext* context) {
    const auto numbers = context->saved_data["site"].toIntVector();
    return {numbers[0], numbers[1], numbers[2], numbers[3]};
  }
};

inline SiteNumbers plain_rows(const Dropout& dropout, std::int64_t rows) {
  return {dropout.site, dropout.threshold(), 1, rows};
}

inline bool drops(const Dropout& dropout, const torch::Tensor& row_keys) {
  return row_keys.defined() && dropout.threshold() > 0;
}

/// dropout(x) by plain tensor operations. x [N, C].
inline torch::Tensor plainly_dropped(const Dropout& dropout, const torch::Tensor& x,
                                     const torch::Tensor& row_keys) {
  if (!drops(dropout, row_keys)) return x;
  return x * dropout_factors(dropout, row_keys, 1, x.size(0), x.size(1)).to(x.scalar_type());
}

}  // namespace dragoman
