#include "model/ops/column_sums.h"

#include <c10/util/intrusive_ptr.h>

#include <span>
#include <utility>

#include "base/threads.h"
#include "kernels/cuda/column_sums.h"
#include "model/ops/cuda_kernels.h"
#include "model/ops/kernel_call.h"

namespace dragoman {

torch::Tensor sums_of_stretches(const torch::Tensor& stretches, torch::ScalarType type) {
  const std::int64_t columns = stretches.size(2);
  auto sums = torch::empty({stretches.size(0), columns}, stretches.options().dtype(type));
  const CudaStretchSums arguments{stretches.const_data_ptr<float>(), sums.mutable_data_ptr(),
                                  static_cast<unsigned>(sums.numel()),
                                  static_cast<unsigned>(stretches.size(1)),
                                  static_cast<unsigned>(columns)};
  launch_cuda_kernel("stretch_sums", sums,
                     {divide_up<std::int64_t>(sums.numel(), kCudaColumnsOfSums), kCudaSumThreads},
                     &arguments);
  return sums;
}

namespace {

struct Note {
  c10::weak_intrusive_ptr<at::TensorImpl> of;  // does not keep its memory
  std::uint32_t version;
  torch::Tensor sums;
};

std::optional<Note>& note_of_thread() {
  thread_local std::optional<Note> note;
  return note;
}

/// The parts side by side -> [N, parts * D], whose column sums it notes. `kept` may be undefined.
/// `joined` may be the only part.
void join_columns(std::span<const torch::Tensor> parts, const torch::Tensor& kept, float scale,
                  torch::Tensor& joined) {
  const std::int64_t stretches = divide_up<std::int64_t>(joined.size(0), kCudaRowsOfSum);
  auto sums = torch::empty({1, stretches, joined.size(1)}, joined.options().dtype(torch::kFloat32));
  CudaColumnSums arguments{.parts = {},
                           .kept = kept.defined() ? kept.const_data_ptr<std::uint8_t>() : nullptr,
                           .joined = joined.mutable_data_ptr(),
                           .sums = sums.mutable_data_ptr<float>(),
                           .rows = static_cast<unsigned>(joined.size(0)),
                           .columns = static_cast<unsigned>(parts[0].size(1)),
                           .part_count = static_cast<unsigned>(parts.size()),
                           .rows_per_sum = kCudaRowsOfSum,
                           .scale = scale};
  for (std::size_t i = 0; i < parts.size(); ++i) arguments.parts[i] = parts[i].const_data_ptr();
  const std::int64_t blocks =
      stretches *
      cuda_blocks_of_row(arguments.part_count, arguments.columns, kCudaColumnSumsThreads);
  launch_cuda_kernel("column_sums", joined, {blocks, kCudaColumnSumsThreads}, &arguments);
  note_column_sums(joined, sums_of_stretches(sums, joined.scalar_type())[0]);
}

struct SplitColumnsFunction : torch::autograd::Function<SplitColumnsFunction> {
  static variable_list forward(AutogradContext*, const torch::Tensor& x, std::int64_t parts) {
    RECORD_USER_SCOPE("SplitColumnsFunction");
    variable_list views;
    for (const torch::Tensor& part : x.chunk(parts, 1)) views.push_back(part.variable_data());
    return views;
  }
  static variable_list backward(AutogradContext*, variable_list gradients) {
    for (torch::Tensor& gradient : gradients) gradient = gradient.contiguous();
    const std::int64_t rows = gradients[0].size(0), columns = gradients[0].size(1);
    auto joined = torch::empty({rows, columns * std::ssize(gradients)}, gradients[0].options());
    join_columns(gradients, {}, 1, joined);
    return {joined, {}};
  }
};

}  // namespace

void note_column_sums(const torch::Tensor& dy, torch::Tensor sums) {
  note_of_thread() = Note{c10::weak_intrusive_ptr<at::TensorImpl>(dy.getIntrusivePtr()),
                          static_cast<std::uint32_t>(dy._version()), std::move(sums)};
}

torch::Tensor take_column_sums(const torch::Tensor& dy) {
  const std::optional<Note> note = std::exchange(note_of_thread(), std::nullopt);
  if (!note || note->of.expired() || note->of._unsafe_get_target() != dy.unsafeGetTensorImpl() ||
      note->version != dy._version())
    return {};
  return note->sums;
}

std::vector<torch::Tensor> split_columns(const torch::Tensor& x, std::int64_t parts) {
  if (!has_cuda_kernel_for(x) || parts > kCudaMostParts) return x.chunk(parts, 1);
  return SplitColumnsFunction::apply(x, parts);
}

void relu_dropout_gradient_on_cuda(torch::Tensor& dy, const torch::Tensor& kept, float scale) {
  join_columns({&dy, 1}, kept, scale, dy);
}

}  // namespace dragoman
