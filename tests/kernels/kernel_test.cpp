#include "tests/kernels/kernel_test.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/instruction_sets.h"

namespace dragoman {

namespace {

constexpr unsigned char kGuardByte = 0xA5;

std::uint16_t to_bf16(float x) {
  if (std::isnan(x)) return 0x7FC0;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t low = bits & 0xFFFF, high = bits >> 16;
  const bool up = low > 0x8000 || (low == 0x8000 && high % 2 == 1);
  return static_cast<std::uint16_t>(high + (up ? 1 : 0));
}

std::size_t element_size(ElementType type) { return type == ElementType::Float32 ? 4 : 2; }

}  // namespace

std::vector<const BatchKernels*> available_tables() {
  std::vector<const BatchKernels*> tables;
  for (const InstructionSet* set : offered_instruction_sets())
    if (set->kernels != nullptr) tables.push_back(set->kernels);
  return tables;
}

std::vector<const InferenceKernels*> available_inference_tables() {
  std::vector<const InferenceKernels*> tables;
  for (const InstructionSet* set : offered_instruction_sets()) tables.push_back(set->inference);
  tables.push_back(&emulated_amx_kernels());
  return tables;
}

std::vector<std::tuple<const BatchKernels*, ElementType>> tables_with_products() {
  std::vector<std::tuple<const BatchKernels*, ElementType>> list;
  for (const BatchKernels* table : available_tables())
    for (const auto type : {ElementType::Float32, ElementType::BFloat16})
      if (table->product[static_cast<int>(type)] != nullptr) list.emplace_back(table, type);
  return list;
}

Elements ProductTest::quarters(std::int64_t count, double range) {
  auto values = uniform_values(random_, count, range);
  for (double& value : values) value = std::round(4 * value) / 4;
  return {type(), values};
}

Elements::Elements(ElementType type, const std::vector<double>& values)
    : type_(type),
      size_(static_cast<std::int64_t>(values.size())),
      bytes_(2 * kGuard + values.size() * element_size(type), kGuardByte) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto rounded = static_cast<float>(values[i]);
    const std::uint16_t half = to_bf16(rounded);
    const void* bits = type == ElementType::Float32 ? static_cast<const void*>(&rounded) : &half;
    std::memcpy(bytes_.data() + kGuard + i * element_size(type), bits, element_size(type));
  }
}

double Elements::operator[](std::int64_t i) const {
  const unsigned char* at =
      bytes_.data() + kGuard + static_cast<std::size_t>(i) * element_size(type_);
  if (type_ == ElementType::Float32) {
    float x;
    std::memcpy(&x, at, sizeof x);
    return x;
  }
  std::uint16_t high;
  std::memcpy(&high, at, sizeof high);
  return std::bit_cast<float>(static_cast<std::uint32_t>(high) << 16);
}

reference::Numbers Elements::values() const {
  reference::Numbers all;
  for (std::int64_t i = 0; i < size_; ++i) all.push_back((*this)[i]);
  return all;
}

bool Elements::guards_stand() const {
  const auto intact = [](unsigned char byte) { return byte == kGuardByte; };
  return std::all_of(bytes_.begin(), bytes_.begin() + kGuard, intact) &&
         std::all_of(bytes_.end() - kGuard, bytes_.end(), intact);
}

std::vector<double> uniform_values(RandomStream& random, std::int64_t count, double range) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = range * (2 * random.uniform() - 1);
  return values;
}

std::vector<std::int32_t> random_keys(RandomStream& random, std::int64_t count) {
  std::vector<std::int32_t> keys(static_cast<std::size_t>(count));
  for (std::int32_t& key : keys) key = static_cast<std::int32_t>(random());
  return keys;
}

void KernelTest::expect_rounded(double actual, double expected, const std::string& where) const {
  const double relative = is_float() ? 2e-6 : 1.0 / 256;
  EXPECT_NEAR(actual, expected, relative * std::max(std::abs(expected), is_float() ? 1.0 : 1e-3))
      << where;
}

}  // namespace dragoman
