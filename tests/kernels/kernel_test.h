// What the kernels' tests share: every table that this processor has, in both element types (of
// inference also one on emulated tile registers), and buffers whose guards show a write out of
// range. The expected values are those of reference.h.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "kernels/inference_kernels.h"
#include "kernels/kernels.h"
#include "tests/kernels/reference.h"

namespace dragoman {

std::vector<const BatchKernels*> available_tables();
std::vector<const InferenceKernels*> available_inference_tables();

/// Those of the portable set, but for linear layers, which run on an emulation of AMX.
const InferenceKernels& emulated_amx_kernels();

/// Elements of one type with guards around them.
class Elements {
 public:
  /// Values are rounded to the type.
  Elements(ElementType type, const std::vector<double>& values);
  Elements(ElementType type, std::int64_t count)
      : Elements(type, std::vector<double>(static_cast<std::size_t>(count), 99)) {}

  void* data() { return bytes_.data() + kGuard; }
  double operator[](std::int64_t i) const;
  reference::Numbers values() const;
  std::int64_t size() const { return size_; }
  bool guards_stand() const;
  /// Bit for bit, guards included.
  bool operator==(const Elements&) const = default;

 private:
  static constexpr std::size_t kGuard = 64;
  ElementType type_;
  std::int64_t size_;
  std::vector<unsigned char> bytes_;
};

/// Uniform in [-range, range).
std::vector<double> uniform_values(RandomStream& random, std::int64_t count, double range);

std::vector<std::int32_t> random_keys(RandomStream& random, std::int64_t count);

/// A test of each (table, element type).
class KernelTest : public testing::TestWithParam<std::tuple<const BatchKernels*, ElementType>> {
 protected:
  const BatchKernels& table() const { return *std::get<0>(GetParam()); }
  ElementType type() const { return std::get<1>(GetParam()); }
  int index() const { return static_cast<int>(type()); }
  bool is_float() const { return type() == ElementType::Float32; }
  Elements random_elements(std::int64_t count, double range = 3) {
    return {type(), uniform_values(random_, count, range)};
  }

  /// Expects what one rounding to the element type (fp32: a few) makes of `expected`.
  void expect_rounded(double actual, double expected, const std::string& where) const;

  /// Expects the same bits from all rows at once, one by one, and over threads in uneven blocks.
  /// `run(begin, end, blocks)` starts from the same input each time.
  template <class Arguments>
  void expect_same_when_split(void (*const (&function)[2])(const Arguments&, std::int64_t,
                                                           std::int64_t),
                              const std::function<Arguments(Elements& result)>& arguments,
                              const Elements& before, std::int64_t rows) const {
    Elements whole = before, single = before, threaded = before;
    function[index()](arguments(whole), 0, rows);
    const Arguments one_by_one = arguments(single);
    for (std::int64_t row = rows; row-- > 0;) function[index()](one_by_one, row, row + 1);
    run_rows(function, type(), arguments(threaded), rows, 3);
    EXPECT_NE(whole, before);
    EXPECT_EQ(whole, single);
    EXPECT_EQ(whole, threaded);
  }

  RandomStream random_{7};
};

#define DRAGOMAN_FOR_EACH_KERNEL_TABLE(Suite)                                             \
  INSTANTIATE_TEST_SUITE_P(                                                               \
      Tables, Suite,                                                                      \
      testing::Combine(testing::ValuesIn(available_tables()),                             \
                       testing::Values(ElementType::Float32, ElementType::BFloat16)),     \
      [](const auto& test) {                                                              \
        const bool is_float = std::get<1>(test.param) == ElementType::Float32;            \
        return std::string(std::get<0>(test.param)->name) + (is_float ? "Fp32" : "Bf16"); \
      })

/// A test of the kernels of products: on each table and type that have them.
class ProductTest : public KernelTest {
 protected:
  /// Quarters: fp32 represents their products and sums exactly.
  Elements quarters(std::int64_t count, double range = 3);
};

std::vector<std::tuple<const BatchKernels*, ElementType>> tables_with_products();

#define DRAGOMAN_FOR_EACH_PRODUCT_TABLE(Suite)                  \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Suite);         \
  INSTANTIATE_TEST_SUITE_P(                                     \
      Tables, Suite, testing::ValuesIn(tables_with_products()), \
      [](const auto& test) { return std::string(std::get<0>(test.param)->name); })

/// A test of each table of inference.
class InferenceKernelsTest : public testing::TestWithParam<const InferenceKernels*> {
 protected:
  const InferenceKernels& table() const { return *GetParam(); }

  std::vector<float> values(std::int64_t count, double range = 2) {
    std::vector<float> list(static_cast<std::size_t>(count));
    for (float& value : list) value = static_cast<float>((random_.uniform() * 2 - 1) * range);
    return list;
  }

  RandomStream random_{1, 2};
};

#define DRAGOMAN_FOR_EACH_INFERENCE_TABLE(Suite)                                           \
  INSTANTIATE_TEST_SUITE_P(Tables, Suite, testing::ValuesIn(available_inference_tables()), \
                           [](const auto& test) { return std::string(test.param->name); })

}  // namespace dragoman
