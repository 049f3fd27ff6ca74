// What the kernels of this folder share: elements in registers, 16 bytes loaded or stored at a
// time, and sums over the threads of a block. In CUDA C++ without the standard library.
#pragma once

namespace dragoman::cuda_kernels {

/// A thread takes this many neighbouring elements at a time.
constexpr unsigned kColumnsOfThread = 8;
constexpr unsigned kLanes = 32;  // threads of a warp

struct BFloat16 {
  unsigned short bits;
};

/// Consecutive elements in fp32.
struct Elements {
  float at[kColumnsOfThread];
};

/// What is loaded or stored at once, whatever the type of the elements.
struct __attribute__((may_alias, aligned(16))) Words {
  unsigned word[4];
};

/// bf16 -> fp32
__device__ inline float widen(unsigned bits) { return __uint_as_float(bits << 16); }

/// Two numbers as bf16, `low` in the low half; to nearest, ties to even.
__device__ inline unsigned rounded_pair(float low, float high) {
#ifdef __CUDACC__
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
#else
  return cuda_on_cpu::rounded_pair(low, high);
#endif
}

/// x as it is after it has been stored and loaded.
__device__ inline float as_stored(const float*, float x) { return x; }
__device__ inline float as_stored(const BFloat16*, float x) { return widen(rounded_pair(x, 0)); }

__device__ inline Elements load(const float* from) {
  Elements elements;
  for (unsigned half = 0; half < 2; ++half) {
    const Words words = reinterpret_cast<const Words*>(from)[half];
    for (unsigned i = 0; i < 4; ++i) elements.at[half * 4 + i] = __uint_as_float(words.word[i]);
  }
  return elements;
}
__device__ inline Elements load(const BFloat16* from) {
  const Words words = *reinterpret_cast<const Words*>(from);
  Elements elements;
  for (unsigned i = 0; i < 4; ++i) {
    elements.at[i * 2] = widen(words.word[i]);
    elements.at[i * 2 + 1] = __uint_as_float(words.word[i] & 0xFFFF0000);
  }
  return elements;
}

__device__ inline void store(float* to, const Elements& elements) {
  for (unsigned half = 0; half < 2; ++half) {
    Words words;
    for (unsigned i = 0; i < 4; ++i) words.word[i] = __float_as_uint(elements.at[half * 4 + i]);
    reinterpret_cast<Words*>(to)[half] = words;
  }
}
__device__ inline void store(BFloat16* to, const Elements& elements) {
  Words words;
  for (unsigned i = 0; i < 4; ++i)
    words.word[i] = rounded_pair(elements.at[i * 2], elements.at[i * 2 + 1]);
  *reinterpret_cast<Words*>(to) = words;
}

__device__ inline float element(float x) { return x; }
__device__ inline float element(BFloat16 x) { return widen(x.bits); }
__device__ inline void set(float& to, float x) { to = x; }
__device__ inline void set(BFloat16& to, float x) {
  to.bits = static_cast<unsigned short>(rounded_pair(x, 0));
}

/// The first `count` elements, one by one unless all of them may be loaded as words; zeros for the
/// others.
template <class T>
__device__ Elements load(const T* from, unsigned count, bool as_words) {
  if (as_words) return load(from);
  Elements elements;
  for (unsigned i = 0; i < kColumnsOfThread; ++i)
    elements.at[i] = i < count ? element(from[i]) : 0.0F;
  return elements;
}
template <class T>
__device__ void store(T* to, const Elements& elements, unsigned count, bool as_words) {
  if (as_words) return store(to, elements);
  for (unsigned i = 0; i < kColumnsOfThread; ++i)
    if (i < count) set(to[i], elements.at[i]);
}

/// The elements of a row that a thread takes from column `first` on: at most kColumnsOfThread.
__device__ inline unsigned columns_from(unsigned first, unsigned columns) {
  if (first >= columns) return 0;
  return columns - first < kColumnsOfThread ? columns - first : kColumnsOfThread;
}

/// The elements of a matrix that a thread of a grid takes.
struct PartOfRow {
  unsigned thread, row, first, count;
};

/// Each row is cut into parts of kColumnsOfThread columns. `columns` is that of all rows.
__device__ inline PartOfRow part_of_row(unsigned columns) {
  const unsigned parts = (columns + kColumnsOfThread - 1) / kColumnsOfThread;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = thread % parts * kColumnsOfThread;
  return {thread, thread / parts, first, columns_from(first, columns)};
}

__device__ inline bool is_aligned(const void* address) {
  return reinterpret_cast<unsigned long long>(address) % sizeof(Words) == 0;
}

struct Sum {
  __device__ float operator()(float x, float y) const { return x + y; }
};
struct Largest {
  __device__ float operator()(float x, float y) const { return fmaxf(x, y); }
};

/// Each of `numbers` becomes its sum, or its largest value, over the threads of the block, in one
/// order; all threads get it. All threads of the block must call this, whole warps of them.
template <class Operation, unsigned kCount>
__device__ void over_block(float (&numbers)[kCount], Operation operation) {
  __shared__ float of_warps[kLanes][kCount];
  for (float& number : numbers)
    for (unsigned distance = kLanes / 2; distance > 0; distance /= 2)
      number = operation(number, __shfl_xor_sync(0xFFFFFFFF, number, static_cast<int>(distance)));
  if (blockDim.x == kLanes) return;
  const unsigned warp = threadIdx.x / kLanes;
  if (threadIdx.x % kLanes == 0)
    for (unsigned i = 0; i < kCount; ++i) of_warps[warp][i] = numbers[i];
  __syncthreads();
  for (unsigned i = 0; i < kCount; ++i) {
    numbers[i] = of_warps[0][i];
    for (unsigned w = 1; w < blockDim.x / kLanes; ++w)
      numbers[i] = operation(numbers[i], of_warps[w][i]);
  }
  __syncthreads();  // the next call writes here
}

/// The largest of some numbers, and the sum of their exponentials below it: softmax in one read
/// (Milakov and Gimelshein, 2018).
struct ExponentialSum {
  float top = -3.0e38F, sum = 0;  // of exp(x - top)

  /// The first `count` elements come, too.
  __device__ void add(const Elements& x, unsigned count) {
    float largest = top;
    for (unsigned i = 0; i < kColumnsOfThread; ++i)
      if (i < count) largest = fmaxf(largest, x.at[i]);
    sum *= expf(top - largest);
    top = largest;
    for (unsigned i = 0; i < kColumnsOfThread; ++i)
      if (i < count) sum += expf(x.at[i] - largest);
  }
  /// `top` becomes that of the block. All of its threads must call this.
  __device__ void take_top_of_block() {
    float tops[1] = {top};
    over_block(tops, Largest());
    sum *= expf(top - tops[0]);
    top = tops[0];
  }
};

}  // namespace dragoman::cuda_kernels
