// Dropout on NVIDIA GPUs, with the bits of the CPU's kernels (kernels/dropout-inl.h): alone, with a
// residual connection, and after ReLU. Each element is read and written once, 16 bytes at a time
// if rows allow that; masks stand in registers alone. In CUDA C++ without the standard library;
// tests run it on the CPU, too (tests/kernels/cuda_on_cpu.h).
#include "kernels/cuda/dropout.h"

namespace dragoman::cuda_kernels {

namespace {

struct BFloat16 {
  unsigned short bits;
};

/// Consecutive elements in fp32.
struct Elements {
  float at[kCudaColumns];
};

/// What is loaded or stored at once, whatever the type of the elements.
struct __attribute__((may_alias, aligned(16))) Words {
  unsigned word[4];
};

/// bf16 -> fp32
__device__ float widen(unsigned bits) { return __uint_as_float(bits << 16); }

/// Two numbers as bf16, `low` in the low half; to nearest, ties to even.
__device__ unsigned rounded_pair(float low, float high) {
#ifdef __CUDACC__
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
#else
  return cuda_on_cpu::rounded_pair(low, high);
#endif
}

__device__ Elements load(const float* from) {
  Elements elements;
  for (unsigned half = 0; half < 2; ++half) {
    const Words words = reinterpret_cast<const Words*>(from)[half];
    for (unsigned i = 0; i < 4; ++i) elements.at[half * 4 + i] = __uint_as_float(words.word[i]);
  }
  return elements;
}
__device__ Elements load(const BFloat16* from) {
  const Words words = *reinterpret_cast<const Words*>(from);
  Elements elements;
  for (unsigned i = 0; i < 4; ++i) {
    elements.at[i * 2] = widen(words.word[i]);
    elements.at[i * 2 + 1] = __uint_as_float(words.word[i] & 0xFFFF0000);
  }
  return elements;
}

__device__ void store(float* to, const Elements& elements) {
  for (unsigned half = 0; half < 2; ++half) {
    Words words;
    for (unsigned i = 0; i < 4; ++i) words.word[i] = __float_as_uint(elements.at[half * 4 + i]);
    reinterpret_cast<Words*>(to)[half] = words;
  }
}
__device__ void store(BFloat16* to, const Elements& elements) {
  Words words;
  for (unsigned i = 0; i < 4; ++i)
    words.word[i] = rounded_pair(elements.at[i * 2], elements.at[i * 2 + 1]);
  *reinterpret_cast<Words*>(to) = words;
}

__device__ float element(float x) { return x; }
__device__ float element(BFloat16 x) { return widen(x.bits); }
__device__ void set(float& to, float x) { to = x; }
__device__ void set(BFloat16& to, float x) {
  to.bits = static_cast<unsigned short>(rounded_pair(x, 0));
}

/// The first `count` elements, one by one unless all of them may be loaded as words.
template <class T>
__device__ Elements load(const T* from, unsigned count, bool as_words) {
  if (as_words) return load(from);
  Elements elements;
  for (unsigned i = 0; i < kCudaColumns; ++i) elements.at[i] = i < count ? element(from[i]) : 0.0F;
  return elements;
}
template <class T>
__device__ void store(T* to, const Elements& elements, unsigned count, bool as_words) {
  if (as_words) return store(to, elements);
  for (unsigned i = 0; i < kCudaColumns; ++i)
    if (i < count) set(to[i], elements.at[i]);
}

__device__ bool is_aligned(const void* address) {
  return reinterpret_cast<unsigned long long>(address) % sizeof(Words) == 0;
}

// The constants of dropout_hash (kernels/kernels.h), whose header CUDA's compilers cannot read.
constexpr unsigned kFirstFactor = 0x7FEB352D, kSecondFactor = 0x846CA68B;
constexpr unsigned kOfSite = 0x85EBCA6B, kOfHead = 0xC2B2AE35, kOfColumns = 0x9E3779B9;

/// hash32() of kernels/kernels.h
__device__ unsigned hash_of(unsigned x) {
  x = (x ^ (x >> 16)) * kFirstFactor;
  x = (x ^ (x >> 15)) * kSecondFactor;
  return x ^ (x >> 16);
}

__device__ unsigned row_key(const CudaDropout& a, unsigned row) {
  unsigned token = row, head = 0;
  if (a.heads > 1) {
    const unsigned of_heads = row / a.queries;
    token = of_heads / a.heads * a.queries + row % a.queries;
    head = of_heads % a.heads;
  }
  return hash_of(static_cast<unsigned>(a.row_keys[token]) ^ a.site * kOfSite) + head * kOfHead;
}

/// 0 or scale for each of the columns from `first_column` on, a multiple of 4.
__device__ Elements factors(const CudaDropout& a, unsigned key, unsigned first_column) {
  Elements result;
  for (unsigned four = 0; four < kCudaColumns / 4; ++four) {
    const unsigned bits = hash_of(key + (first_column / 4 + four) * kOfColumns);
    for (unsigned i = 0; i < 4; ++i)
      result.at[four * 4 + i] = (bits >> (8 * i) & 0xFF) < a.threshold ? 0.0F : a.scale;
  }
  return result;
}

template <class T>
__device__ void dropout(const CudaDropout& a) {
  const unsigned threads_of_row = (a.columns + kCudaColumns - 1) / kCudaColumns;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = thread / threads_of_row, first = thread % threads_of_row * kCudaColumns;
  if (row >= a.rows) return;
  const unsigned count = a.columns - first;
  const bool as_words =
      a.columns % kCudaColumns == 0 && is_aligned(a.x) && is_aligned(a.residual) && is_aligned(a.y);
  const unsigned long long at = static_cast<unsigned long long>(row) * a.columns + first;
  const Elements x = load(static_cast<const T*>(a.x) + at, count, as_words);
  Elements y;  // at first the residual, or -0, which changes nothing that it is added to
  for (float& value : y.at) value = -0.0F;
  if (a.residual != nullptr) y = load(static_cast<const T*>(a.residual) + at, count, as_words);
  const Elements factor = factors(a, row_key(a, row), first);
  for (unsigned i = 0; i < kCudaColumns; ++i) {
    const bool is_cut = a.relu && x.at[i] < 0.0F;  // NaN stays NaN
    y.at[i] = fmaf(is_cut ? 0.0F : x.at[i], factor.at[i], y.at[i]);
  }
  store(static_cast<T*>(a.y) + at, y, count, as_words);
}

template <class T>
__device__ void relu_dropout_gradient(const CudaReluDropoutGradient& a) {
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long first = thread * kCudaColumns;
  if (first >= a.count) return;
  const long long left = a.count - first;
  const unsigned count = left < kCudaColumns ? static_cast<unsigned>(left) : kCudaColumns;
  const bool as_words =
      count == kCudaColumns && is_aligned(a.y) && is_aligned(a.dy) && is_aligned(a.dx);
  const Elements y = load(static_cast<const T*>(a.y) + first, count, as_words);
  Elements dx = load(static_cast<const T*>(a.dy) + first, count, as_words);
  for (unsigned i = 0; i < kCudaColumns; ++i) dx.at[i] = y.at[i] > 0.0F ? dx.at[i] * a.scale : 0.0F;
  store(static_cast<T*>(a.dx) + first, dx, count, as_words);
}

}  // namespace

extern "C" {  // so that they are found by their names

__global__ void dropout_float32(CudaDropout a) { dropout<float>(a); }
__global__ void dropout_bfloat16(CudaDropout a) { dropout<BFloat16>(a); }
__global__ void relu_dropout_gradient_float32(CudaReluDropoutGradient a) {
  relu_dropout_gradient<float>(a);
}
__global__ void relu_dropout_gradient_bfloat16(CudaReluDropoutGradient a) {
  relu_dropout_gradient<BFloat16>(a);
}

}  // extern "C"

}  // namespace dragoman::cuda_kernels
