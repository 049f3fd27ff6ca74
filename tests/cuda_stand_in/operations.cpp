// Operations under the dispatch key CUDA: one function takes all that have no kernel of their own
// here. It gives the CPU's kernel the same memory at the addresses where it may be touched.
#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorShape.h>
#include <ATen/ops/_local_scalar_dense.h>
#include <ATen/ops/as_strided_cpu_dispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/view_cpu_dispatch.h>
#include <torch/library.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tests/cuda_stand_in/stand_in.h"

namespace dragoman::cuda_stand_in {

namespace {

using at::Tensor;

constexpr c10::DispatchKeySet kCuda(c10::DispatchKey::CUDA);

// Tensors and copies.

Tensor empty(c10::IntArrayRef size, std::optional<c10::ScalarType> type, std::optional<c10::Layout>,
             std::optional<c10::Device>, std::optional<bool>,
             std::optional<c10::MemoryFormat> format) {
  return at::detail::empty_generic(size, &device_allocator(), kCuda, c10::dtype_or_default(type),
                                   format);
}

Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride,
                     std::optional<c10::ScalarType> type, std::optional<c10::Layout>,
                     std::optional<c10::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(size, stride, &device_allocator(), kCuda,
                                           c10::dtype_or_default(type));
}

const Tensor& resize_in_place(const Tensor& self, c10::IntArrayRef size,
                              std::optional<c10::MemoryFormat>) {
  c10::TensorImpl& impl = *self.unsafeGetTensorImpl();
  impl.set_sizes_contiguous(size);
  c10::StorageImpl& storage = *impl.unsafe_storage().unsafeGetStorageImpl();
  const auto bytes =
      static_cast<std::size_t>((impl.storage_offset() + impl.numel()) * self.element_size());
  if (bytes <= storage.nbytes()) return self;
  c10::DataPtr larger = device_allocator().allocate(bytes);
  if (storage.nbytes() > 0)
    device_allocator().copy_data(larger.get(), storage.data(), storage.nbytes());
  storage.set_data_ptr_noswap(std::move(larger));
  storage.set_nbytes(bytes);
  return self;
}

/// Does not count repeated elements, like those of an expanded tensor.
double bytes_of(const Tensor& tensor) {
  if (!tensor.defined()) return 0;
  auto bytes = static_cast<double>(tensor.element_size());
  for (std::int64_t d = 0; d < tensor.dim(); ++d)
    if (tensor.stride(d) != 0) bytes *= static_cast<double>(tensor.size(d));
  return bytes;
}

/// The same memory, with the shape that it has now. It does not keep the memory of the device.
Tensor alias_of(const Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  if (!tensor.is_cuda())
    return Tensor(tensor.unsafeGetTensorImpl()->shallow_copy_and_detach(
        c10::VariableVersion(0), /*allow_tensor_metadata_change=*/true));
  const c10::Storage& storage = tensor.storage();
  Tensor alias = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(c10::Storage::use_byte_size_t(), storage.nbytes(),
                   c10::DataPtr(storage.mutable_data(), tensor.device())),
      kCuda, tensor.dtype());
  alias.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides(),
                                                     tensor.storage_offset());
  return alias;
}

Tensor& copy(Tensor& self, const Tensor& source, bool non_blocking) {
  if (self.numel() == 0) return self;
  const Tensor from = source.sizes() == self.sizes() ? source : source.expand_as(self);
  for (const Tensor& tensor : {std::as_const(self), from})
    if (tensor.is_cuda()) check_use(tensor, "aten::copy_");
  if (self.is_cuda() && from.is_cuda()) {
    perform([to = alias_of(self), from = alias_of(from)] {
      catch_up();
      const at::AutoDispatchBelowADInplaceOrView below;
      Tensor seen = seen_by_kernels(to);
      seen.copy_(seen_by_kernels(from));
      count_launch("aten::copy_", bytes_of(from), bytes_of(to));
    });
    return self;
  } else {
    refuse_to_record("a copy between host and device");
    const Tensor& host = self.is_cuda() ? source : self;
    const char* name = self.is_cuda() ? "copy to the device" : "copy to the host";
    if (non_blocking && is_locked(host.const_data_ptr())) {
      count_launch(name, bytes_of(from), bytes_of(self));
      copy_later(self, from);
      return self;
    }
    count_wait(name);
  }
  catch_up();
  const at::AutoDispatchBelowADInplaceOrView below;
  Tensor to = seen_by_kernels(self);
  to.copy_(seen_by_kernels(from));
  return self;
}

at::Scalar read_number(const Tensor& self) {
  check_use(self, "item");
  count_wait("item");
  catch_up();
  return at::_local_scalar_dense(seen_by_kernels(self));
}

void record_stream(Tensor& self, c10::Stream stream) {
  allow_use(self.storage().data(), stream.id());
}

// All other operations.

/// The host must read something of the device before it knows the result's shape or value.
const std::set<std::string> kWaits = {
    "aten::nonzero",    "aten::masked_select",      "aten::_unique", "aten::_unique2",
    "aten::unique_dim", "aten::unique_consecutive", "aten::equal",   "aten::is_nonzero",
    "aten::bincount",   "aten::repeat_interleave",  "aten::histc"};
/// A kernel that reads or writes some elements of its first tensor alone.
const std::set<std::string> kReadsSome = {"aten::index_select", "aten::gather", "aten::index",
                                          "aten::embedding", "aten::take"};
const std::set<std::string> kWritesSome = {
    "aten::index_copy", "aten::index_copy_",     "aten::index_fill_", "aten::index_add_",
    "aten::scatter",    "aten::scatter_",        "aten::scatter_add", "aten::scatter_add_",
    "aten::index_put_", "aten::_index_put_impl_"};
/// Operations that take indices on the CPU.
const std::set<std::string> kTakesHostIndices = {"aten::index", "aten::index_put_",
                                                 "aten::_index_put_impl_"};

/// What an operation is called with, and what it does to each tensor.
class Call {
 public:
  Call(const c10::FunctionSchema& schema, torch::jit::Stack& stack)
      : schema_(schema),
        name_(schema.name() + (schema.overload_name().empty() ? "" : "." + schema.overload_name())),
        first_(stack.size() - schema.arguments().size()),
        given_(stack.begin() + static_cast<std::ptrdiff_t>(first_), stack.end()) {}

  const std::string& name() const { return name_; }

  /// Replaces the device's tensors on the stack by what kernels of the CPU take.
  void give_to_cpu(torch::jit::Stack& stack) {
    for (std::size_t i = 0; i < given_.size(); ++i) {
      c10::IValue& value = stack[first_ + i];
      const auto* alias = schema_.arguments()[i].alias_info();
      const bool writes = alias != nullptr && alias->isWrite();
      if (value.isTensor()) {
        value = on_cpu(value.toTensor(), writes, /*may_grow=*/true);
      } else if (value.isTensorList()) {
        c10::List<Tensor> list;
        for (const Tensor& tensor : value.toTensorVector())
          list.push_back(on_cpu(tensor, writes, /*may_grow=*/false));
        value = std::move(list);
      } else if (value.isOptionalTensorList()) {
        c10::List<std::optional<Tensor>> list;
        for (const auto& tensor : value.toOptionalTensorVector())
          list.push_back(tensor ? std::optional(on_cpu(*tensor, writes, false)) : std::nullopt);
        value = std::move(list);
      } else if (value.isDevice()) {
        value = c10::Device(c10::kCPU);
      }
    }
  }

  /// Replaces results by tensors of the device.
  void take_from_cpu(torch::jit::Stack& stack) {
    for (const auto& [there, here] : grown_) {
      if (here.sizes() == there.sizes()) continue;
      resize_in_place(there, here.sizes(), {});
      if (here.numel() > 0) seen_by_kernels(there).copy_(here);
    }
    const auto& returns = schema_.returns();
    const std::size_t first = stack.size() - returns.size();
    for (std::size_t r = 0; r < returns.size(); ++r) {
      c10::IValue& value = stack[first + r];
      const auto* alias = returns[r].alias_info();
      if (alias != nullptr) {
        TORCH_CHECK(alias->isWrite(), "stand-in for CUDA: ", name_, " is a view that it lacks");
        value = argument_with(*alias);
      } else if (value.isTensor()) {
        value = on_device(value.toTensor());
      } else if (value.isTensorList()) {
        c10::List<Tensor> list;
        for (const Tensor& tensor : value.toTensorVector()) list.push_back(on_device(tensor));
        value = std::move(list);
      }
    }
  }

  /// The same for results that were there before, and for outputs that had no elements then.
  void write_again(const torch::jit::Stack& stack, const torch::jit::Stack& results) {
    const auto write = [this](const Tensor& there, const Tensor& here) {
      if (!there.defined() || there.numel() == 0) return;
      has_elements_ = true;
      fresh_ += bytes_of(there);
      seen_by_kernels(there).copy_(here);
    };
    for (std::size_t r = 0; r < results.size(); ++r) {
      if (schema_.returns()[r].alias_info() != nullptr && !has_grown(stack[r])) continue;
      if (results[r].isTensor()) write(results[r].toTensor(), stack[r].toTensor());
      if (!results[r].isTensorList()) continue;
      const auto there = results[r].toTensorVector(), here = stack[r].toTensorVector();
      for (std::size_t i = 0; i < there.size(); ++i) write(there[i], here[i]);
    }
  }

  void count() const {
    if (kWaits.contains(schema_.name()) || (kTakesHostIndices.contains(schema_.name()) && by_mask_))
      count_wait(schema_.name());
    double read = read_, written = written_ + fresh_;
    if (kReadsSome.contains(schema_.name())) read += fresh_ + out_ - first_read_;
    // The first tensor is read and written in as many places as the others have.
    if (kWritesSome.contains(schema_.name()) && in_place_ > 0) {
      read -= in_place_;
      written = read;
    }
    if (has_elements_) count_launch(name_, read, written);
  }

 private:
  Tensor on_cpu(const Tensor& tensor, bool writes, bool may_grow) {
    if (!tensor.defined()) return tensor;
    if (!tensor.is_cuda()) {
      if (!tensor.unsafeGetTensorImpl()->is_wrapped_number())
        refuse_to_record(name_ + ": a number of the host");
      TORCH_CHECK(tensor.dim() == 0 || kTakesHostIndices.contains(schema_.name()),
                  "stand-in for CUDA: ", name_,
                  ": Expected all tensors to be on the same device, "
                  "but found at least two devices, cuda:0 and cpu!");
      if (tensor.dim() > 0) count_wait("indices of the host");
      return tensor;
    }
    check_use(tensor, name_);
    if (tensor.scalar_type() == at::kBool || tensor.scalar_type() == at::kByte)
      by_mask_ = by_mask_ || number_of_tensors_ > 0;
    ++number_of_tensors_;
    const double bytes = tensor.numel() == 0 ? 0 : bytes_of(tensor);
    has_elements_ = has_elements_ || tensor.numel() > 0;
    const bool is_out = writes && schema_.overload_name().find("out") != std::string::npos;
    if (writes) written_ += bytes;
    if (is_out) out_ += bytes;
    if (number_of_tensors_ == 1) first_address_ = tensor.const_data_ptr();
    const bool is_first_again = is_out && tensor.const_data_ptr() == first_address_;
    if (writes && (!is_out || is_first_again)) in_place_ += bytes;
    if (!is_out && !(writes && writes_all_of_it())) read_ += bytes;
    if (number_of_tensors_ == 1) first_read_ = bytes;
    if (writes && may_grow && tensor.numel() == 0) {
      const Tensor here = at::empty(tensor.sizes(), tensor.options().device(at::kCPU));
      grown_.emplace_back(tensor, here);
      return here;
    }
    return seen_by_kernels(tensor);
  }

  bool writes_all_of_it() const {
    return schema_.name() == "aten::fill_" || schema_.name() == "aten::zero_" ||
           schema_.name() == "aten::_foreach_copy_";
  }

  bool has_grown(const c10::IValue& output) const {
    return output.isTensor() && std::ranges::any_of(grown_, [&](const auto& outputs) {
             return outputs.second.is_same(output.toTensor());
           });
  }

  Tensor on_device(const Tensor& result) {
    if (!result.defined()) return result;
    Tensor there = at::detail::empty_strided_generic(
        result.sizes(), result.strides(), &device_allocator(), kCuda, result.scalar_type());
    if (result.numel() == 0) return there;
    has_elements_ = true;
    fresh_ += bytes_of(there);
    seen_by_kernels(there).copy_(result);
    return there;
  }

  c10::IValue argument_with(const c10::AliasInfo& alias) const {
    for (std::size_t i = 0; i < given_.size(); ++i) {
      const auto* other = schema_.arguments()[i].alias_info();
      if (other != nullptr && *other == alias) return given_[i];
    }
    TORCH_CHECK(false, "stand-in for CUDA: ", name_, " returns what it was not given");
  }

  const c10::FunctionSchema& schema_;
  const std::string name_;
  const std::size_t first_;  // of the arguments on the stack
  const std::vector<c10::IValue> given_;
  std::vector<std::pair<Tensor, Tensor>> grown_;  // outputs that the CPU's kernel gives their size
  bool has_elements_ = false, by_mask_ = false;
  std::int64_t number_of_tensors_ = 0;
  const void* first_address_ = nullptr;             // of the first tensor
  double read_ = 0, written_ = 0, fresh_ = 0;       // bytes
  double out_ = 0, in_place_ = 0, first_read_ = 0;  // of these
};

/// index_add sums by atomics on CUDA, so its rows come in any order.
void shuffle_rows(torch::jit::Stack& stack, std::size_t first) {
  const std::int64_t dim = stack[first + 1].toInt();
  const Tensor index = stack[first + 2].toTensor(), source = stack[first + 3].toTensor();
  if (index.dim() == 0 || source.dim() == 0) return;
  const Tensor order = at::randperm(index.size(0), at::kLong);
  stack[first + 2] = index.index_select(0, order);
  stack[first + 3] = source.index_select(dim, order);
}

c10::IValue alias_of(const c10::IValue& value) {
  if (value.isTensor()) return alias_of(value.toTensor());
  if (!value.isTensorList()) return value;
  c10::List<Tensor> list;
  for (const Tensor& tensor : value.toTensorVector()) list.push_back(alias_of(tensor));
  return list;
}

torch::jit::Stack last_of(const torch::jit::Stack& stack, std::size_t count) {
  torch::jit::Stack last;
  for (std::size_t i = stack.size() - count; i < stack.size(); ++i)
    last.push_back(alias_of(stack[i]));
  return last;
}

const std::set<std::string> kProducts = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm"};

bool is_half(const c10::IValue& value) {
  if (!value.isTensor() || !value.toTensor().defined()) return false;
  const c10::ScalarType type = value.toTensor().scalar_type();
  return type == at::kBFloat16 || type == at::kHalf;
}

/// A product of matrices in half precision is summed up in fp32 and rounded once, as by CUDA. The
/// CPU's kernel does that too, but needs minutes on a processor without instructions for bf16.
void multiply_in_fp32(const c10::OperatorHandle& operation, torch::jit::Stack& stack) {
  const c10::FunctionSchema& schema = operation.schema();
  const std::size_t first = stack.size() - schema.arguments().size();
  c10::ScalarType type = at::kFloat;
  Tensor written;
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    c10::IValue& value = stack[first + i];
    if (!is_half(value)) continue;
    type = value.toTensor().scalar_type();
    const auto* alias = schema.arguments()[i].alias_info();
    if (alias != nullptr && alias->isWrite()) written = value.toTensor();
    value = value.toTensor().to(at::kFloat);
  }
  operation.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
  const Tensor product = stack.back().toTensor();
  stack.back() = written.defined() ? written.copy_(product) : product.to(type);
}

void call_on_cpu(const c10::OperatorHandle& operation, Call& call, torch::jit::Stack& stack) {
  catch_up();
  const c10::FunctionSchema& schema = operation.schema();
  call.give_to_cpu(stack);
  const std::size_t first = stack.size() - schema.arguments().size();
  if (schema.name() == "aten::index_add") shuffle_rows(stack, first);
  if (kProducts.contains(schema.name()) && is_half(stack[first])) {
    multiply_in_fp32(operation, stack);
  } else {
    operation.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
  }
}

void run_on_cpu(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  const c10::FunctionSchema& schema = operation.schema();
  const torch::jit::Stack given =
      is_recording() ? last_of(*stack, schema.arguments().size()) : torch::jit::Stack();
  Call call(schema, *stack);
  const at::AutoDispatchBelowADInplaceOrView below;
  call_on_cpu(operation, call, *stack);
  call.take_from_cpu(*stack);
  call.count();
  if (!is_recording()) return;
  record([operation, given, results = last_of(*stack, schema.returns().size())] {
    torch::jit::Stack again = given;
    Call call(operation.schema(), again);
    const at::AutoDispatchBelowADInplaceOrView below;
    call_on_cpu(operation, call, again);
    call.write_again(again, results);
    call.count();
  });
}

/// mm.dtype, which the CPU lacks: the product of two matrices in half precision, summed up and
/// written in fp32.
Tensor product_in(const Tensor& a, const Tensor& b, c10::ScalarType type) {
  for (const Tensor& x : {a, b}) {
    TORCH_CHECK(x.is_cuda() && (x.scalar_type() == at::kBFloat16 || x.scalar_type() == at::kHalf),
                "mm.dtype: only fp16 and bf16");
    check_use(x, "mm.dtype");
  }
  TORCH_CHECK(type == at::kFloat, "mm.dtype: only to fp32");
  const at::AutoDispatchBelowADInplaceOrView below;
  const Tensor y = at::empty({a.size(0), b.size(1)}, a.options().dtype(type));
  perform([a = alias_of(a), b = alias_of(b), y = alias_of(y)] {
    catch_up();
    const at::AutoDispatchBelowADInplaceOrView below;
    const auto widened = [](const Tensor& x) { return seen_by_kernels(x).to(at::kFloat); };
    seen_by_kernels(y).copy_(at::mm(widened(a), widened(b)));
    const auto bytes = [](const Tensor& x) {
      return static_cast<double>(x.numel() * x.element_size());
    };
    count_launch("aten::mm.dtype", bytes(a) + bytes(b), bytes(y));
  });
  return y;
}

TORCH_LIBRARY_IMPL(_, CUDA, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>());
}

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("resize_", &resize_in_place);
  library.impl("copy_", &copy);
  library.impl("_local_scalar_dense", &read_number);
  library.impl("record_stream", &record_stream);
  library.impl("mm.dtype", &product_in);
  library.impl("as_strided", [](const Tensor& x, c10::IntArrayRef size, c10::IntArrayRef stride,
                                std::optional<std::int64_t> offset) {
    return at::cpu::as_strided(x, size, stride, offset);
  });
  library.impl("view",
               [](const Tensor& x, c10::IntArrayRef size) { return at::cpu::view(x, size); });
  library.impl("_reshape_alias",
               [](const Tensor& x, c10::IntArrayRef size, c10::IntArrayRef stride) {
                 return at::native::_reshape_alias(x, size, stride);
               });
  library.impl("unfold", [](const Tensor& x, std::int64_t dim, std::int64_t size,
                            std::int64_t step) { return at::native::unfold(x, dim, size, step); });
  // One kernel each with CUDA; LibTorch would take them apart.
  for (const char* name : {"native_layer_norm", "masked_fill_.Scalar", "masked_fill_.Tensor",
                           "_log_softmax_backward_data.out", "_foreach_copy_"})
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>());
}

}  // namespace

}  // namespace dragoman::cuda_stand_in
