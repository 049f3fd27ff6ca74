#include "model/file/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/random.h"
#include "tests/model/file/scratch_file.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// A file with the given header and this many bytes of data.
std::string file_of(const std::string& header, std::size_t data) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + std::string(data, 'x');
}

void expect_refused(const std::string& bytes, const std::string& what) {
  const ScratchFile file("refused.safetensors", bytes);
  EXPECT_THAT(
      [&] { SafetensorsFile{file.path()}; },
      ThrowsMessage<Error>(::testing::AllOf(HasSubstr("refused.safetensors: "), Names(what))));
}

TensorData tensor_of(const std::string& name, Dtype dtype, std::vector<std::int64_t> shape,
                     const std::string& bytes) {
  return {name, dtype, std::move(shape), bytes.data()};
}

TEST(Safetensors, WrittenTensorsAreReadBackAndAligned) {
  std::string bytes(4096, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(mix64(i));
  const std::string other_bytes = bytes.substr(1);
  const std::vector<TensorData> tensors = {
      tensor_of("text", Dtype::U8, {7}, bytes),
      tensor_of("pair", Dtype::BF16, {3}, other_bytes),
      tensor_of("scalar", Dtype::F32, {}, bytes),
      tensor_of("matrix", Dtype::F32, {4, 8}, bytes),
      tensor_of("empty", Dtype::I64, {0, 5}, bytes),
      tensor_of("counts", Dtype::U64, {3}, bytes),
      tensor_of("row", Dtype::F16, {32}, bytes),
  };
  const ScratchFile file("round.safetensors");
  const Metadata metadata = {{"a", "\"quoted\"\n"}, {"b", ""}};
  write_safetensors(file.path(), tensors, metadata);
  const SafetensorsFile read(file.path());
  EXPECT_EQ(read.metadata(), metadata);
  EXPECT_EQ(read.tensors().size(), tensors.size());
  for (const TensorData& expected : tensors) {
    const TensorData* found = read.find(expected.name);
    ASSERT_NE(found, nullptr) << expected.name;
    EXPECT_EQ(found->dtype, expected.dtype);
    EXPECT_EQ(found->shape, expected.shape);
    EXPECT_EQ(found->raw(), expected.raw());
    const auto address = reinterpret_cast<std::uintptr_t>(found->data);
    EXPECT_EQ(address % size_of(found->dtype), 0u) << expected.name;
    if (found->bytes() > 0 && found->bytes() % 64 == 0) {
      EXPECT_EQ(address % 64, 0u) << expected.name;
    }
  }
  EXPECT_EQ(read.find("other"), nullptr);
}

TEST(Safetensors, EqualContentsGiveEqualBytes) {
  const std::string bytes(64, 'a');
  const std::vector<TensorData> tensors = {tensor_of("a", Dtype::F32, {16}, bytes)};
  const ScratchFile one("one.safetensors"), two("two.safetensors");
  write_safetensors(one.path(), tensors, {{"k", "v"}});
  write_safetensors(two.path(), tensors, {{"k", "v"}});
  EXPECT_EQ(read_file(one.path()), read_file(two.path()));
}

TEST(Safetensors, TwoTensorsOfOneNameAreNotWritten) {
  const std::string bytes(4, 'a');
  const TensorData tensor = tensor_of("a", Dtype::F32, {1}, bytes);
  const ScratchFile file("twice.safetensors");
  EXPECT_THROW(write_safetensors(file.path(), std::vector{tensor, tensor}, {}), Error);
  const TensorData metadata = tensor_of("__metadata__", Dtype::F32, {1}, bytes);
  EXPECT_THROW(write_safetensors(file.path(), std::vector{metadata}, {}), Error);
  EXPECT_FALSE(std::filesystem::exists(file.path()));
}

TEST(Safetensors, ASmallFileByAnotherWriterIsRead) {
  const ScratchFile file("other.safetensors",
                         file_of(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                                 R"("b":{"dtype":"F32","shape":[1,2],"data_offsets":[3,11]}}  )",
                                 11));
  const SafetensorsFile read(file.path());
  ASSERT_EQ(read.tensors().size(), 2u);
  EXPECT_EQ(read.tensors()[1].name, "b");
  std::vector<float> values(2);
  copy_as_floats(read.tensors()[1], values);  // not aligned
  float expected;
  std::memcpy(&expected, "xxxx", 4);
  EXPECT_EQ(values[0], expected);
}

TEST(Safetensors, OtherFilesAreRefused) {
  expect_refused("", "empty");
  expect_refused("short", "safetensors file");
  expect_refused("PK\x03\x04 some other archive", "safetensors file");
  expect_refused(std::string(100, '\0'), "safetensors file");
  expect_refused(std::string(100, '\xff'), "safetensors file");
  expect_refused(file_of(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", 2),
                 "truncated");
  expect_refused(file_of(R"({"a":{"dtype":"U8","shape":[3000],"data_offsets":[0,3000]}})", 2),
                 "2,998 of its bytes");
  expect_refused(file_of(R"({"a":1})", 0).substr(0, 12), "truncated");
  EXPECT_THROW(SafetensorsFile("/nowhere/at.all"), Error);
  EXPECT_THROW(SafetensorsFile("/"), Error);
}

TEST(Safetensors, BrokenHeadersAreRefused) {
  const auto refused = [](const std::string& tensors, const std::string& what) {
    expect_refused(file_of("{" + tensors + "}", 8), what);
  };
  const auto entry = [](const std::string& dtype, const std::string& shape,
                        const std::string& offsets) {
    return R"("a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets +
           "}";
  };
  refused("", "8 bytes follow");
  refused(R"("a":)", "not JSON");
  refused(R"("a":1)", "expected exactly");
  refused(R"("a":{})", "expected exactly");
  refused(entry("\"F32\"", "[2]", "[0,8],\"x\":1"), "expected exactly");
  refused(entry("1", "[2]", "[0,8]"), "expected exactly");
  refused(entry("\"F64\"", "[1]", "[0,8]"), "F64");
  refused(entry("\"F32\"", "2", "[0,8]"), "expected exactly");
  refused(entry("\"F32\"", "[2]", "[0,8,8]"), "expected exactly");
  refused(entry("\"F32\"", "[-2]", "[0,8]"), "whole numbers");
  refused(entry("\"F32\"", "[2.0]", "[0,8]"), "whole numbers");
  refused(entry("\"F32\"", "[[2]]", "[0,8]"), "nested");
  refused(entry("\"F32\"", "[18446744073709551615]", "[0,8]"), "whole numbers");
  refused(entry("\"F32\"", "[4611686018427387904,4]", "[0,0]"), "too large");
  refused(entry("\"F32\"", "[4294967296,4294967296]", "[0,0]"), "too large");
  refused(entry("\"F32\"", "[2]", "[0,7]"), "do not fit");
  refused(entry("\"F32\"", "[2]", "[8,0]"), "do not fit");
  refused(entry("\"F32\"", "[1]", "[4,8]"), "begin at 4");
  refused(entry("\"F32\"", "[2]", "[0,8]") + "," + entry("\"F32\"", "[2]", "[0,8]"), "twice");
  refused(
      R"("b":{"dtype":"U8","shape":[6],"data_offsets":[0,6]},)" + entry("\"U8\"", "[4]", "[4,8]"),
      "begin at 4");
  refused(R"("__metadata__":{"k":1},)" + entry("\"F32\"", "[2]", "[0,8]"), "not text");
  refused(R"("__metadata__":[],)" + entry("\"F32\"", "[2]", "[0,8]"), "JSON object");
  refused(R"("__metadata__":{"k":"1","k":"2"},)" + entry("\"F32\"", "[2]", "[0,8]"), "twice");
  refused("\"a\":" + std::string(100'000, '['), "nested");
  refused("\"a\xff\":1", "not JSON");
  expect_refused(file_of(std::string("{}\0 ", 4), 0), "not JSON");
}

TEST(Safetensors, RandomBytesNeverCrash) {
  const std::string good = file_of(
      R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})", 8);
  RandomStream random(7);
  for (int round = 0; round < 2'000; ++round) {
    std::string bytes = good;
    if (round % 4 == 0) bytes.resize(random.below(bytes.size()));
    for (std::uint64_t changes = 1 + random.below(6); changes > 0 && !bytes.empty(); --changes) {
      const char* kTokens = "{}[]\":,0123456789-.eE\\u \xff";
      bytes[random.below(bytes.size())] =
          random.chance(0.5) ? kTokens[random.below(25)] : static_cast<char>(random());
    }
    const ScratchFile file("random.safetensors", bytes);
    try {
      const SafetensorsFile read(file.path());
      for (const TensorData& tensor : read.tensors())
        EXPECT_LE(
            static_cast<const char*>(tensor.data) - read.tensors()[0].raw().data() + tensor.bytes(),
            8u);
    } catch (const Error&) {
    }
  }
}

TEST(Safetensors, FloatsOfEveryTypeAreExact) {
  const std::vector<std::uint16_t> half = {0x0000, 0x8000, 0x3c00, 0xc000, 0x7bff,
                                           0x0001, 0x03ff, 0x0400, 0x3555, 0xfc00};
  const std::vector<float> expected = {0.0f,     -0.0f,        1.0f,     -2.0f,       65504.0f,
                                       0x1p-24f, 0x1.ff8p-15f, 0x1p-14f, 0x1.554p-2f, -INFINITY};
  const TensorData tensor{"half", Dtype::F16, {10}, half.data()};
  std::vector<float> values(10);
  copy_as_floats(tensor, values);
  EXPECT_EQ(values, expected);
  EXPECT_TRUE(std::signbit(values[1]));

  const std::vector<std::uint16_t> brain = {0x3f80, 0xc040, 0x7f80};
  std::vector<float> three(3);
  copy_as_floats({"brain", Dtype::BF16, {3}, brain.data()}, three);
  EXPECT_EQ(three, (std::vector<float>{1.0f, -3.0f, INFINITY}));
  EXPECT_THROW(copy_as_floats({"whole", Dtype::I32, {1}, brain.data()}, std::span(three).first(1)),
               Error);
}

}  // namespace
}  // namespace dragoman
