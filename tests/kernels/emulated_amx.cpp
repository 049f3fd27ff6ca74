// Linear layers with AMX's tile registers, on an emulation of those registers in plain C++, so that
// the tests run them on every processor. The set packs and rounds as AVX-512 with BF16 does.
#include <cstdint>
#include <cstring>

#define DRAGOMAN_ISA emulated_amx
#define DRAGOMAN_ISA_STRUCT EmulatedAmx

#include "kernels/isa.h"

DRAGOMAN_BEGIN_KERNELS

/// The registers as Intel's manual defines them: loads and products read as many rows as the shape
/// has, and products in bf16 have the order of TDPBF16PS.
class EmulatedTiles {
 public:
  explicit EmulatedTiles(std::int64_t rows) : rows_(rows) {}

  template <int tile>
  void load(const void* p, std::int64_t stride) {
    std::memset(words_[tile], 0, sizeof words_[tile]);
    for (std::int64_t r = 0; r < rows_of(tile); ++r)
      std::memcpy(words_[tile][r], (const char*)p + r * stride, 64);
  }
  template <int tile>
  void store(void* p, std::int64_t stride) const {
    for (std::int64_t r = 0; r < rows_of(tile); ++r)
      std::memcpy((char*)p + r * stride, words_[tile][r], 64);
  }
  template <int sums, int rows, int outputs>
  void add_bytes() {
    for (std::int64_t m = 0; m < rows_of(sums); ++m)
      for (int n = 0; n < 16; ++n)
        for (int k = 0; k < 16; ++k)
          for (int i = 0; i < 32; i += 8)
            words_[sums][m][n] += (std::uint32_t)((std::uint8_t)(words_[rows][m][k] >> i) *
                                                  (std::int8_t)(words_[outputs][k][n] >> i));
  }
  template <int sums, int rows, int outputs>
  void add_bf16() {
    for (std::int64_t m = 0; m < rows_of(sums); ++m)
      for (int n = 0; n < 16; ++n) {
        float even = 0, odd = 0;
        for (int k = 0; k < 16; ++k) {
          const std::uint32_t x = words_[rows][m][k], w = words_[outputs][k][n];
          even = flushed(__builtin_fmaf(number(x << 16), number(w << 16), even));
          odd = flushed(__builtin_fmaf(number(x & 0xFFFF0000), number(w & 0xFFFF0000), odd));
        }
        const float sum = flushed(number(words_[sums][m][n]) + flushed(even + odd));
        std::memcpy(&words_[sums][m][n], &sum, sizeof sum);
      }
  }

 private:
  /// A number below 2^-126 is zero.
  static float flushed(float x) {
    return __builtin_fabsf(x) < 0x1p-126F ? __builtin_copysignf(0, x) : x;
  }
  static float number(std::uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return flushed(x);
  }
  std::int64_t rows_of(int tile) const { return tile < 5 ? rows_ : 16; }

  std::int64_t rows_;
  std::uint32_t words_[8][16][16] = {};
};

struct EmulatedAmx : AnyIsa<16> {
  static constexpr int kRegisters = 32;
  typedef EmulatedTiles Tiles;

  // Vectors of this length are not contracted by every compiler.
  DRAGOMAN_INLINE F32 fused(F32 a, F32 b, F32 c) { return fused_in_double(a, b, c); }
  DRAGOMAN_INLINE float fused(float a, float b, float c) { return fused_in_double(a, b, c); }
  DRAGOMAN_INLINE I16x2 widen_bytes(I8x2 bytes) { return __builtin_convertvector(bytes, I16x2); }
  DRAGOMAN_INLINE void add_pairs(I32& sum, I16x2 a, I16x2 b) {
    const I32 even = ((I32)a << 16 >> 16) * ((I32)b << 16 >> 16);
    sum = sum + even + ((I32)a >> 16) * ((I32)b >> 16);
  }

  static constexpr bool kDotsBytes = true;
  static constexpr std::int32_t kByteExcess = 128;
  DRAGOMAN_INLINE void add_bytes(I32& sum, I32 a, I32 b) {
    for (int i = 0; i < 32; i += 8) sum = sum + ((a >> i) & 255) * (b << (24 - i) >> 24);
  }
  static constexpr bool kDotsBf16 = true;
  DRAGOMAN_INLINE void add_bf16(F32& sum, I32 a, I32 b) {
    sum = fused((F32)(a & (std::int32_t)0xFFFF0000), (F32)(b & (std::int32_t)0xFFFF0000), sum);
    sum = fused((F32)(a << 16), (F32)(b << 16), sum);
  }
};

DRAGOMAN_END_KERNELS

#include "kernels/inference_kernels.h"
#include "kernels/instruction_sets.h"
#include "kernels/linear-inl.h"
#include "kernels/operand_layout-inl.h"
#include "tests/kernels/kernel_test.h"

namespace dragoman {

const InferenceKernels& emulated_amx_kernels() {
  using namespace emulated_amx;
  static const InferenceKernels table = [] {
    InferenceKernels kernels = *built_instruction_sets().back()->inference;
    kernels.name = "emulated_amx";
    kernels.panel = kPanel;
    kernels.pack_float = pack_float;
    kernels.pack_bf16 = pack_bf16;
    kernels.pack_int8 = pack_int8;
    kernels.round_bf16 = round_bf16;
    kernels.quantize = quantize;
    kernels.linear[0] = linear<NumberType::Float32>;
    kernels.linear[1] = linear<NumberType::BFloat16>;
    kernels.linear[2] = linear<NumberType::Int8>;
    kernels.gelu = gelu;
    kernels.swish = swish;
    kernels.add_weights[0] = add_weights_float;
    kernels.add_weights[1] = add_weights_bf16;
    kernels.add_weights[2] = add_weights_int8;
    return kernels;
  }();
  return table;
}

}  // namespace dragoman
