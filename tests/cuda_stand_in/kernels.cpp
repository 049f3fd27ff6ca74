// Our own kernels on the device, and the functions of CUDA's runtime that load and launch them.
#include "tests/kernels/cuda_on_cpu.h"
// Their sources:
#include "kernels/cuda/adam.cu"
#include "kernels/cuda/add_norm.cu"
#include "kernels/cuda/best_tokens.cu"
#include "kernels/cuda/column_sums.cu"
#include "kernels/cuda/decision.cu"
#include "kernels/cuda/dropout.cu"
#include "kernels/cuda/embedding.cu"
#include "kernels/cuda/loss.cu"
#include "kernels/cuda/search_step.cu"
#include "kernels/cuda/step_attention.cu"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "tests/cuda_stand_in/stand_in.h"

namespace dragoman::cuda_stand_in {

namespace {

/// The memory that a launch uses.
class Memory {
 public:
  explicit Memory(std::string kernel) : kernel_(std::move(kernel)) {}

  /// `address` becomes the one that kernels take.
  template <class T>
  void reads(const T*& address, double bytes) {
    use(address, bytes, read_);
  }
  template <class T>
  void writes(T*& address, double bytes) {
    use(address, bytes, written_);
  }
  /// What a kernel reads again soon comes from the GPU's cache.
  template <class T>
  void reads_and_writes(T*& address, double bytes) {
    writes(address, bytes);
    if (address != nullptr) read_ += bytes;
  }
  /// Some `bytes` of a longer stretch of memory.
  template <class T>
  void reads_some(const T*& address, double bytes) {
    double first = 0;
    use(address, 1, first);
    read_ += bytes;
  }
  void count() const {
    if (read_ + written_ > 0) count_launch(kernel_, read_, written_);
  }

 private:
  template <class T>
  void use(T*& address, double bytes, double& sum) {
    if (address == nullptr || bytes == 0) return;
    check_use(address, static_cast<std::size_t>(bytes), kernel_);
    TORCH_CHECK(seen_by_kernels(address) != address, kernel_, ": memory of the host");
    address = static_cast<T*>(seen_by_kernels(address));
    sum += bytes;
  }

  std::string kernel_;
  double read_ = 0, written_ = 0;
};

void use(CudaDropoutRule& rule, double rows, Memory& memory) {
  memory.reads(rule.row_keys, sizeof(int) * rows / rule.heads);
}

template <class T>
void use(CudaDropout& a, Memory& memory) {
  const double bytes = static_cast<double>(a.rows) * a.columns * sizeof(T);
  memory.reads(a.x, bytes);
  memory.reads(a.residual, bytes);
  use(a.rule, a.rows, memory);
  memory.writes(a.y, bytes);
  memory.writes(a.kept, a.rows * std::ceil(static_cast<double>(a.columns) / kCudaColumns));
}

template <class T>
void use(CudaColumnSums& a, Memory& memory) {
  const double elements = static_cast<double>(a.rows) * a.columns;
  const double stretches = std::ceil(static_cast<double>(a.rows) / a.rows_per_sum);
  for (unsigned part = 0; part < a.part_count; ++part)
    memory.reads(a.parts[part], elements * sizeof(T));
  memory.reads(a.kept, a.rows * std::ceil(static_cast<double>(a.columns) / kCudaColumns));
  memory.writes(a.joined, elements * a.part_count * sizeof(T));
  memory.writes(a.sums, stretches * a.columns * a.part_count * sizeof(float));
}

template <class T>
void use(CudaAddNorm& a, Memory& memory) {
  const double of_row = a.columns * sizeof(T), bytes = a.rows * of_row;
  memory.reads(a.x, bytes);
  memory.reads(a.residual, bytes);
  memory.reads(a.gain, of_row);
  memory.reads(a.bias, of_row);
  use(a.rule, a.rows, memory);
  memory.writes(a.sum, bytes);
  memory.writes(a.y, bytes);
  memory.writes(a.means, sizeof(float) * a.rows);
  memory.writes(a.inverse_deviations, sizeof(float) * a.rows);
}

template <class T>
void use(CudaAddNormGradient& a, Memory& memory) {
  const double of_row = a.columns * sizeof(T), bytes = a.rows * of_row;
  const double sums = std::ceil(static_cast<double>(a.rows) / a.rows_per_sum) * a.columns;
  memory.reads(a.dy, bytes);
  memory.reads(a.dy_again, bytes);
  memory.reads(a.d_sum_elsewhere, bytes);
  memory.reads(a.sum, bytes);
  memory.reads(a.gain, of_row);
  memory.reads(a.means, sizeof(float) * a.rows);
  memory.reads(a.inverse_deviations, sizeof(float) * a.rows);
  use(a.rule, a.rows, memory);
  memory.writes(a.d_sum, bytes);
  memory.writes(a.d_x, bytes);
  memory.writes(a.d_gain, sizeof(float) * sums);
  memory.writes(a.d_bias, sizeof(float) * sums);
  memory.writes(a.x_sums, sizeof(float) * sums);
}

template <class T>
void use(CudaStretchSums& a, Memory& memory) {
  memory.reads(a.stretches, static_cast<double>(sizeof(float)) * a.columns_in_all * a.count);
  memory.writes(a.sums, sizeof(T) * a.columns_in_all);
}

template <class T>
void use(CudaEmbedding& a, Memory& memory) {
  const double bytes = static_cast<double>(a.rows) * a.columns * sizeof(T);
  memory.reads(a.tokens, sizeof(long long) * a.rows);
  memory.reads(a.positions, sizeof(long long) * a.rows);
  // A row of the table for each of y; nobody says how long the tables are.
  memory.reads_some(a.weight, bytes);
  memory.reads_some(a.encodings, bytes);
  use(a.rule, a.rows, memory);
  memory.writes(a.y, bytes);
}

template <class T>
void use(CudaEmbeddingGradient& a, Memory& memory) {
  memory.reads(a.dy, static_cast<double>(a.rows) * a.columns * sizeof(T));
  memory.reads(a.tokens, sizeof(long long) * a.rows);
  memory.reads(a.order, sizeof(long long) * a.rows);
  use(a.rule, a.rows, memory);
  memory.writes(a.d_weight, static_cast<double>(a.vocabulary) * a.columns * sizeof(T));
}

template <class T>
void use(CudaLoss& a, Memory& memory) {
  const double bytes = static_cast<double>(a.rows) * a.columns * sizeof(T);
  memory.reads_and_writes(a.logits, bytes);
  memory.reads(a.targets, sizeof(long long) * a.rows);
  memory.writes(a.losses, sizeof(float) * a.rows);
  memory.writes(a.negative_log_likelihoods, sizeof(float) * a.rows);
}

template <class T>
void use(CudaBestTokens& a, Memory& memory) {
  const double best = static_cast<double>(a.rows) * a.count;
  memory.reads(a.values, static_cast<double>(a.rows) * a.columns * sizeof(float));
  memory.reads(a.never, std::ceil(a.columns / 8.0));
  memory.writes(a.tokens, best * sizeof(long long));
  memory.writes(a.best, best * sizeof(float));
  memory.writes(a.log_sums, sizeof(float) * a.rows);
}

/// Counts all columns that the cache has room for.
template <class T>
void use(CudaStepAttention& a, Memory& memory) {
  const double size = static_cast<double>(a.heads) * a.d_k * sizeof(T);
  const double of_inputs = (a.rows - 1.0) * a.stride * sizeof(T) + size;
  const double sequences = a.rows / a.rows_of_sequence;
  memory.reads(a.queries, of_inputs);
  memory.reads(a.new_keys, of_inputs);
  memory.reads(a.new_values, of_inputs);
  memory.reads_and_writes(a.keys, sequences * a.columns * size);
  memory.reads_and_writes(a.values, sequences * a.columns * size);
  memory.writes(a.attended, a.rows * size);
  memory.reads(a.ancestors, static_cast<double>(sizeof(int)) * a.rows * a.ancestor_columns);
  memory.reads(a.positions, sizeof(long long) * a.rows);
  memory.reads(a.lengths, sizeof(long long) * sequences);
}

template <class T>
void use(DeviceSearchStep& a, Memory& memory) {
  const double groups = a.count, rows = groups * a.width, of_columns = rows * a.columns;
  const double of_source = rows * a.source_columns * sizeof(float);
  memory.reads(a.divisors, sizeof(double));
  memory.reads(a.prefixes, groups * a.prefix_columns * sizeof(int));
  memory.reads_and_writes(a.steps, groups * sizeof(int));
  memory.reads(a.phrases, groups * a.phrase_columns * sizeof(SearchPhrase));
  memory.reads(a.spellings, groups * a.spelling_columns * sizeof(SearchSpelling));
  memory.reads(a.phrase_tokens, groups * a.phrase_token_columns * sizeof(int));
  memory.reads(a.edges, a.vocabulary);
  memory.reads_and_writes(a.pool, groups * a.pool_columns * sizeof(SearchExtension));
  memory.reads(a.tokens, rows * a.candidates * sizeof(long long));
  memory.reads(a.log_probabilities, rows * a.candidates * sizeof(float));
  memory.reads(a.logits, rows * sizeof(float));
  memory.reads(a.log_sums, rows * sizeof(float));
  memory.reads(a.attention, rows * a.attention_columns * sizeof(float));
  memory.reads_and_writes(a.groups, groups * sizeof(SearchGroup));
  memory.reads_and_writes(a.rows, rows * sizeof(SearchRow));
  memory.writes(a.new_rows, rows * sizeof(SearchRow));
  memory.reads_and_writes(a.ends, groups * a.most_ended * sizeof(SearchEnd));
  memory.writes(a.nodes, rows * sizeof(HypothesisNode));
  memory.writes(a.attention_of_nodes, of_source);
  memory.reads_and_writes(a.coverage, of_source);
  memory.writes(a.coverage_after, of_source);
  memory.writes(a.previous, rows * sizeof(long long));
  memory.writes(a.positions, rows * sizeof(long long));
  memory.reads_and_writes(a.ancestors, of_columns * sizeof(int));
  memory.writes(a.ancestors_after, of_columns * sizeof(int));
  memory.reads_and_writes(a.history, of_columns * sizeof(long long));
  memory.writes(a.history_after, of_columns * sizeof(long long));
  memory.writes(a.must_begin_word, rows);
}

template <class T>
void use(CudaDecision& a, Memory& memory) {
  memory.reads(a.numbers, 3 * sizeof(double));
  memory.reads(a.gradient_norm, sizeof(float));
  memory.reads(a.losses, sizeof(double) * a.loss_count);
  memory.reads_and_writes(a.means, 3 * sizeof(double));
  memory.reads_and_writes(a.steps, sizeof(float));
  memory.writes(a.step, sizeof(CudaStepNumbers));
  memory.writes(a.result, sizeof(double) * (a.all_losses + 2));
}

template <class T>
void use(CudaAdam& a, Memory& memory) {
  const double bytes = static_cast<double>(sizeof(T)) * static_cast<double>(a.count);
  memory.reads(a.numbers, sizeof(CudaStepNumbers));
  memory.reads(a.gradient, bytes);
  for (float** address : {&a.weights, &a.first_moment, &a.second_moment, &a.average})
    memory.reads_and_writes(*address, bytes);
  memory.writes(a.bfloat16_weights, bytes / 2);
}

struct Dimensions {
  unsigned x, y, z;
};

struct Kernel {
  std::string name;
  /// The work of a launch. It keeps a copy of the arguments.
  std::function<std::function<void()>(const void* arguments, unsigned blocks, unsigned threads)>
      launch;
};

template <class T, class Arguments>
std::pair<const std::string, Kernel> kernel(const std::string& name, void (*function)(Arguments)) {
  return {name, {name, [name, function](const void* given, unsigned blocks, unsigned threads) {
                   return [name, function, kept = *static_cast<const Arguments*>(given), blocks,
                           threads] {
                     catch_up();
                     Memory memory(name);
                     Arguments arguments = kept;
                     use<T>(arguments, memory);
                     cuda_on_cpu::run(blocks, threads, [&] { function(arguments); });
                     memory.count();
                   };
                 }}};
}

std::map<std::string, Kernel>& kernels() {
  namespace of = cuda_kernels;
  static auto& kernels = *new std::map<std::string, Kernel>{
      kernel<float>("adam_float32", &of::adam_float32),
      kernel<float>("add_norm_float32", &of::add_norm_float32),
      kernel<std::uint16_t>("add_norm_bfloat16", &of::add_norm_bfloat16),
      kernel<float>("add_norm_gradient_float32", &of::add_norm_gradient_float32),
      kernel<std::uint16_t>("add_norm_gradient_bfloat16", &of::add_norm_gradient_bfloat16),
      kernel<float>("column_sums_float32", &of::column_sums_float32),
      kernel<std::uint16_t>("column_sums_bfloat16", &of::column_sums_bfloat16),
      kernel<float>("stretch_sums_float32", &of::stretch_sums_float32),
      kernel<std::uint16_t>("stretch_sums_bfloat16", &of::stretch_sums_bfloat16),
      kernel<float>("decide_float32", &of::decide_float32),
      kernel<float>("dropout_float32", &of::dropout_float32),
      kernel<std::uint16_t>("dropout_bfloat16", &of::dropout_bfloat16),
      kernel<float>("best_tokens_float32", &of::best_tokens_float32),
      kernel<float>("embedding_float32", &of::embedding_float32),
      kernel<std::uint16_t>("embedding_bfloat16", &of::embedding_bfloat16),
      kernel<float>("embedding_gradient_float32", &of::embedding_gradient_float32),
      kernel<std::uint16_t>("embedding_gradient_bfloat16", &of::embedding_gradient_bfloat16),
      kernel<float>("loss_float32", &of::loss_float32),
      kernel<std::uint16_t>("loss_bfloat16", &of::loss_bfloat16),
      kernel<float>("search_step_float32", &of::search_step_float32),
      kernel<float>("step_attention_float32", &of::step_attention_float32),
      kernel<std::uint16_t>("step_attention_bfloat16", &of::step_attention_bfloat16)};
  return kernels;
}

constexpr int kInvalidValue = 1, kSymbolNotFound = 500;  // of cudaError

}  // namespace

// As cuda_runtime_api.h declares them.
extern "C" {

int cudaLibraryLoadData(void** library, const void* image, void*, void**, unsigned, void*, void**,
                        unsigned) {
  *library = const_cast<void*>(image);
  return 0;
}

int cudaLibraryGetKernel(void** kernel, void*, const char* name) {
  const auto found = kernels().find(name);
  if (found == kernels().end()) return kSymbolNotFound;
  *kernel = &found->second;
  return 0;
}

int cudaLaunchKernel(const void* kernel, Dimensions grid, Dimensions block, void** arguments,
                     std::size_t shared_memory, void* stream) {
  if (grid.y * grid.z * block.y * block.z != 1 || block.x > 1024 || shared_memory != 0 ||
      stream != reinterpret_cast<void*>(current_stream()))
    return kInvalidValue;
  perform(static_cast<const Kernel*>(kernel)->launch(arguments[0], grid.x, block.x));
  return 0;
}

int cudaGetLastError() { return 0; }

}  // extern "C"

}  // namespace dragoman::cuda_stand_in
