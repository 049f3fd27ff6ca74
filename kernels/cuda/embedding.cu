// The input of the first layer on NVIDIA GPUs: embeddings (section 3.4) and positions (section
// 3.5), with dropout, in one pass; and the gradient of the embeddings, a sum in one order.
#include "kernels/cuda/embedding.h"

#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/masks.cuh"

namespace dragoman::cuda_kernels {

static_assert(kColumnsOfThread == kCudaColumns);

template <class T>
__device__ void embedding(const CudaEmbedding& a) {
  const PartOfRow part = part_of_row(a.columns);
  const unsigned row = part.row, first = part.first, count = part.count;
  if (row >= a.rows) return;
  const bool as_words = a.columns % kColumnsOfThread == 0 && is_aligned(a.weight) &&
                        is_aligned(a.encodings) && is_aligned(a.y);
  const auto at = [&](long long of) {
    return static_cast<unsigned long long>(of) * a.columns + first;
  };
  Elements y = load(static_cast<const T*>(a.encodings) + at(a.positions[row]), count, as_words);
  const long long token = a.tokens[row];
  if (token >= 0) {
    const Elements x = load(static_cast<const T*>(a.weight) + at(token), count, as_words);
    for (unsigned i = 0; i < kColumnsOfThread; ++i) y.at[i] = fmaf(x.at[i], a.scale, y.at[i]);
  }
  if (a.rule.row_keys != nullptr) {
    const Elements factor = factors(a.rule, row_key(a.rule, row), first);
    for (unsigned i = 0; i < kColumnsOfThread; ++i) y.at[i] *= factor.at[i];
  }
  store(static_cast<T*>(a.y) + at(row), y, count, as_words);
}

/// A block for each place in the sorted tokens. The block of a token's first place adds up the
/// token's rows, and writes zeros for the tokens that are missing before it.
template <class T>
__device__ void embedding_gradient(const CudaEmbeddingGradient& a) {
  __shared__ float of_groups[kCudaEmbeddingThreads][kColumnsOfThread];
  const unsigned threads_of_row = (a.columns + kColumnsOfThread - 1) / kColumnsOfThread;
  const unsigned groups = blockDim.x / threads_of_row, group = threadIdx.x / threads_of_row;
  const unsigned first = threadIdx.x % threads_of_row * kColumnsOfThread;
  const unsigned count = columns_from(first, a.columns);
  const bool as_words =
      a.columns % kColumnsOfThread == 0 && is_aligned(a.dy) && is_aligned(a.d_weight);
  T* const to = static_cast<T*>(a.d_weight) + first;

  const unsigned place = blockIdx.x;
  const long long token = a.tokens[place];
  long long last = place == 0 ? -1 : a.tokens[place - 1];  // token before this one
  const bool is_first = place == 0 || last != token, is_end = place + 1 == a.rows;
  if (last < -1) last = -1;
  if (!is_first && !is_end) return;  // the whole block

  Elements sums;
  for (float& sum : sums.at) sum = 0;
  if (is_first && token >= 0) {
    for (long long missing = last + 1 + group; missing < token; missing += groups)
      store(to + missing * a.columns, sums, count, as_words);
    for (unsigned i = place + group; i < a.rows && a.tokens[i] == token; i += groups) {
      const auto row = static_cast<unsigned>(a.order[i]);
      const Elements dy = load(
          static_cast<const T*>(a.dy) + static_cast<unsigned long long>(row) * a.columns + first,
          count, as_words);
      if (a.rule.row_keys != nullptr) {
        const Elements factor = factors(a.rule, row_key(a.rule, row), first);
        for (unsigned c = 0; c < kColumnsOfThread; ++c)
          sums.at[c] = fmaf(dy.at[c], factor.at[c], sums.at[c]);
      } else {
        for (unsigned c = 0; c < kColumnsOfThread; ++c) sums.at[c] += dy.at[c];
      }
    }
    for (unsigned c = 0; c < kColumnsOfThread; ++c) of_groups[threadIdx.x][c] = sums.at[c];
    __syncthreads();
    if (group == 0) {
      for (unsigned g = 1; g < groups; ++g)
        for (unsigned c = 0; c < kColumnsOfThread; ++c)
          sums.at[c] += of_groups[g * threads_of_row + threadIdx.x][c];
      for (float& sum : sums.at) sum *= a.scale;
      store(to + token * a.columns, sums, count, as_words);
    }
  }
  if (!is_end) return;
  for (float& sum : sums.at) sum = 0;
  for (long long missing = (token < 0 ? -1 : token) + 1 + group; missing < a.vocabulary;
       missing += groups)
    store(to + missing * a.columns, sums, count, as_words);
}

extern "C" {

__global__ void embedding_float32(CudaEmbedding a) { embedding<float>(a); }
__global__ void embedding_bfloat16(CudaEmbedding a) { embedding<BFloat16>(a); }
__global__ void __launch_bounds__(kCudaEmbeddingThreads)
    embedding_gradient_float32(CudaEmbeddingGradient a) {
  embedding_gradient<float>(a);
}
__global__ void __launch_bounds__(kCudaEmbeddingThreads)
    embedding_gradient_bfloat16(CudaEmbeddingGradient a) {
  embedding_gradient<BFloat16>(a);
}

}  // extern "C"

}  // namespace dragoman::cuda_kernels
