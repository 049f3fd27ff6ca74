#include "extras/formats/pytorch_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/extras/formats/checkpoint_bytes.h"
#include "tests/extras/formats/damage.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using testing::ThrowsMessage;

constexpr std::size_t kLimit = 1'000'000;

std::string floats(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) bytes += bytes_of(value);
  return bytes;
}

const std::string kSix = floats({1, 2, 3, 4, 5, 6});

void expect_refused(const std::string& bytes, const std::string& what) {
  EXPECT_THAT([&] { PyTorchCheckpoint("model.pt", bytes, kLimit); },
              ThrowsMessage<Error>(AllOf(StartsWith("model.pt: "), Names(what))));
}

/// The elements of the one tensor that the opcodes make, in both formats of a checkpoint.
std::vector<float> elements(const std::string& opcodes, const std::string& storage,
                            std::size_t element = 4) {
  const std::string zip = checkpoint_of(pickle_of(opcodes), {storage});
  const PyTorchCheckpoint checkpoint("model.pt", zip, kLimit);
  const auto values = contiguous_floats(*checkpoint.root().tensor());
  const std::string old = legacy_of(pickle_of(opcodes), {storage}, element);
  const PyTorchCheckpoint legacy("model.pt", old, kLimit);
  EXPECT_EQ(contiguous_floats(*legacy.root().tensor()), values);
  return values;
}

TEST(PyTorchCheckpoint, TensorsOfAnyStridesAreRead) {
  EXPECT_THAT(elements(TensorOp{}.opcodes(), kSix), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(elements(TensorOp{.shape = {3, 2}, .strides = {1, 3}}.opcodes(), kSix),
              ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(elements(TensorOp{.offset = 1, .shape = {2}, .strides = {3}}.opcodes(), kSix),
              ElementsAre(2, 5));
  EXPECT_THAT(elements(TensorOp{.offset = 5, .shape = {}, .strides = {}}.opcodes(), kSix),
              ElementsAre(6));
  EXPECT_THAT(elements(TensorOp{.offset = 6, .shape = {0}, .strides = {1}}.opcodes(), kSix),
              IsEmpty());
}

TEST(PyTorchCheckpoint, EveryTypeOfNumberIsRead) {
  const auto one = [](const std::string& type, const std::string& bytes) {
    const TensorOp tensor{.storage = {.elements = 1, .type = type}, .shape = {}, .strides = {}};
    return elements(tensor.opcodes(), bytes, bytes.size()).at(0);
  };
  EXPECT_EQ(one("FloatStorage", bytes_of(1.5f)), 1.5f);
  EXPECT_EQ(one("DoubleStorage", bytes_of(1.5)), 1.5f);
  EXPECT_EQ(one("HalfStorage", bytes_of<std::uint16_t>(0x3E00)), 1.5f);
  EXPECT_EQ(one("BFloat16Storage", bytes_of<std::uint16_t>(0x3FC0)), 1.5f);
  EXPECT_EQ(one("LongStorage", bytes_of<std::int64_t>(-7)), -7);
  EXPECT_EQ(one("IntStorage", bytes_of<std::int32_t>(-7)), -7);
  EXPECT_EQ(one("ShortStorage", bytes_of<std::int16_t>(-7)), -7);
  EXPECT_EQ(one("CharStorage", bytes_of<std::int8_t>(-7)), -7);
  EXPECT_EQ(one("ByteStorage", bytes_of<std::uint8_t>(200)), 200);
  EXPECT_EQ(one("BoolStorage", bytes_of<std::uint8_t>(1)), 1);
}

TEST(PyTorchCheckpoint, AParameterIsItsTensor) {
  const std::string opcodes = global_op("torch._utils", "_rebuild_parameter") + "(" +
                              TensorOp{}.opcodes() + "\x88" +
                              global_op("collections", "OrderedDict") + ")RtR";
  EXPECT_THAT(elements(opcodes, kSix), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(PyTorchCheckpoint, ATensorOfUntypedMemoryHasItsOwnType) {
  const StorageOp bytes{.elements = 4, .type = "UntypedStorage", .module = "torch.storage"};
  const std::string opcodes = global_op("torch._utils", "_rebuild_tensor_v3") + "(" +
                              bytes.opcodes() + number_op(1) + tuple_op({1}) + tuple_op({1}) +
                              "\x89N" + global_op("torch", "uint16") + "tR";
  EXPECT_THAT(elements(opcodes, bytes_of<std::uint32_t>(0xFFFE0001), 1), ElementsAre(65534));
}

TEST(PyTorchCheckpoint, TensorsMayShareMemory) {
  const std::string pickle = pickle_of(dict_op(
      {text_op("encoder"),
       dict_op({text_op("weight"), TensorOp{}.opcodes(), text_op("updates"), "K\7"}),
       text_op("row"), TensorOp{.offset = 3, .shape = {3}, .strides = {1}}.opcodes(), "K\1", "N"}));
  const std::string bytes = checkpoint_of(pickle, {kSix});
  const PyTorchCheckpoint checkpoint("model.pt", bytes, kLimit);
  const auto tensors = tensors_of(checkpoint.root());
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_THAT(contiguous_floats(*tensors.at("row")), ElementsAre(4, 5, 6));
  EXPECT_EQ(tensors.at("row")->bytes.data(), tensors.at("encoder.weight")->bytes.data() + 12);
  EXPECT_EQ(tensors.at("encoder.weight")->bytes.data(), bytes.data() + bytes.find(kSix));
}

TEST(PyTorchCheckpoint, TheOlderFormatMayHaveViewsOfMemory) {
  const StorageOp view{.view = std::string("(") + text_op("v") + "K\2K\3t"};
  const std::string bytes = legacy_of(
      pickle_of(TensorOp{.storage = view, .offset = 1, .shape = {2}, .strides = {1}}.opcodes()),
      {kSix});
  const PyTorchCheckpoint checkpoint("model.pt", bytes, kLimit);
  EXPECT_THAT(contiguous_floats(*checkpoint.root().tensor()), ElementsAre(4, 5));
}

TEST(PyTorchCheckpoint, ATensorThatRepeatsItsElementsIsNotMadeLarger) {
  const std::string bytes = checkpoint_of(
      pickle_of(TensorOp{.shape = {1 << 30, 1 << 30}, .strides = {0, 0}}.opcodes()), {kSix});
  const PyTorchCheckpoint checkpoint("model.pt", bytes, kLimit);
  EXPECT_THAT([&] { contiguous_floats(*checkpoint.root().tensor()); },
              ThrowsMessage<Error>(HasSubstr("repeats its elements")));
  EXPECT_THROW(contiguous_bytes(*checkpoint.root().tensor()), Error);
}

TEST(PyTorchCheckpoint, OtherFilesAreRefused) {
  expect_refused("", "empty");
  expect_refused("text", "PyTorch");
  expect_refused(std::string(257, '\0') + "ustar" + std::string(300, '\0'), "a tar file");
  expect_refused(pickle_of("N"), "magic number");
  expect_refused(zip_of({{.name = "a/b", .bytes = ""}}), "without a/data.pkl");
  expect_refused(zip_of({{.name = "a/data.pkl", .bytes = pickle_of("N")},
                         {.name = "a/constants.pkl", .bytes = ""}}),
                 "TorchScript");
  expect_refused(zip_of({{.name = "a/data.pkl", .bytes = pickle_of("N")},
                         {.name = "a/byteorder", .bytes = "big"}}),
                 "big endian");
  expect_refused(checkpoint_of(pickle_of("N") + "x", {}), "archive/data.pkl ... 1 bytes");
  expect_refused(checkpoint_of("", {}), "archive/data.pkl ... pickle");
}

TEST(PyTorchCheckpoint, APickleOfManyMegabytesIsRefused) {
  const std::string zeros(std::size_t{65} << 20, '\0');
  const std::string bomb =
      zip_of({{.name = "archive/data.pkl", .bytes = zeros, .is_deflated = true}});
  EXPECT_THAT([&] { PyTorchCheckpoint("model.pt", bomb, std::size_t(-1)); },
              ThrowsMessage<Error>(Names("archive/data.pkl ... 68157440 ... 67108864")));
}

TEST(PyTorchCheckpoint, TensorsThatDoNotFitAreRefused) {
  const auto refused = [](const TensorOp& tensor, const std::string& what,
                          const std::string& storage = kSix) {
    expect_refused(checkpoint_of(pickle_of(tensor.opcodes()), {storage}), what);
    expect_refused(legacy_of(pickle_of(tensor.opcodes()), {storage}), what);
  };
  refused({.offset = 1}, "storage 0 ... 24 bytes ... 20");
  refused({.offset = 7}, "byte 28 ... 24");
  refused({.offset = -1}, "offset ... natural number");
  refused({.shape = {-2, 3}}, "size of a tensor ... natural number");
  refused({.strides = {3, -1}}, "stride ... natural number");
  refused({.strides = {3}}, "2 sizes ... 1 strides");
  refused({.strides = {4, 1}}, "28 bytes ... 24");
  refused({.shape = {2147483647, 2147483647}, .strides = {2147483647, 2147483647}}, "too large");
  refused({.shape = std::vector<int>(17, 1), .strides = std::vector<int>(17, 1)}, "at most 16");
  refused({.storage = {.elements = 7}}, "storage 0 has ");
  refused({.storage = {.elements = -1}}, "size of a storage ... natural number");
}

TEST(PyTorchCheckpoint, DamagedStoragesAreRefused) {
  const std::string one = pickle_of(TensorOp{}.opcodes());
  expect_refused(checkpoint_of(one, {}), "archive/data/0");
  expect_refused(checkpoint_of(one, {kSix + "x"}), "storage 0 ... 25 bytes");
  expect_refused(legacy_of(one, {}), "storage 0 ... missing");
  expect_refused(legacy_of(one, {kSix, kSix}), "list of storages");
  expect_refused(legacy_of(one, {kSix}) + "x", "1 bytes follow");
  expect_refused(legacy_start() + one + pickle_of(std::string("](") + text_op("0") + "e") +
                     bytes_of<std::uint64_t>(6) + "1234",
                 "ends within ... storage 0");
  const std::string two =
      TensorOp{}.opcodes() + TensorOp{.storage = {.type = "IntStorage"}}.opcodes() + "\x86";
  expect_refused(checkpoint_of(pickle_of(two), {kSix}), "storage 0 ... two types");
}

TEST(PyTorchCheckpoint, DamagedStartsOfTheOlderFormatAreRefused) {
  const std::string magic = pickle_of("\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19");
  expect_refused(magic + pickle_of("K\1"), "version ... 1001");
  expect_refused(magic + pickle_of("M\xe9\x03") + pickle_of("N"), "facts ... system");
  expect_refused(
      magic + pickle_of("M\xe9\x03") + pickle_of(dict_op({text_op("little_endian"), "\x89"})),
      "big endian");
  expect_refused(magic, "version ... pickle");
}

TEST(PyTorchCheckpoint, TensorsOfUnknownTypesAreObjects) {
  const std::string bytes =
      checkpoint_of(pickle_of(TensorOp{.storage = {.type = "ComplexFloatStorage"}}.opcodes()), {});
  const PyTorchCheckpoint checkpoint("model.pt", bytes, kLimit);
  EXPECT_EQ(checkpoint.root().tensor(), nullptr);
  EXPECT_NE(checkpoint.root().object(), nullptr);
}

std::string sound_pickle() {
  return pickle_of(dict_op({text_op("model"),
                            dict_op({text_op("w"), TensorOp{}.opcodes(), text_op("t"),
                                     TensorOp{.shape = {3, 2}, .strides = {1, 3}}.opcodes()}),
                            text_op("args"), global_op("argparse", "Namespace") + ")\x81}b"}));
}

TEST(PyTorchCheckpoint, DamageIsRefusedOrHarmless) {
  const std::string zip = checkpoint_of(sound_pickle(), {kSix});
  const std::string legacy = legacy_of(sound_pickle(), {kSix});
  EXPECT_THAT(accepted_beginnings(zip, exercise_pytorch), IsEmpty());
  EXPECT_THAT(accepted_beginnings(legacy, exercise_pytorch), IsEmpty());
  EXPECT_GT(refused_flips(zip, exercise_pytorch), 10'000);
  EXPECT_GT(refused_flips(legacy, exercise_pytorch), 5'000);
  // Only the pickle is damaged, and its checksum is right.
  const int refused = refused_flips(sound_pickle(), exercise_pytorch, [](const std::string& bytes) {
    return checkpoint_of(bytes, {kSix});
  });
  EXPECT_GT(refused, 5'000);
}

}  // namespace
}  // namespace dragoman
