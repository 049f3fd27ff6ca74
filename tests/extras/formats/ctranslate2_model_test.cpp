#include "extras/formats/ctranslate2_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "extras/formats/ctranslate2.h"
#include "extras/formats/vocabulary_file.h"
#include "tests/extras/formats/damage.h"
#include "tests/extras/formats/zip_bytes.h"
#include "tests/model/file/small_model.h"
#include "tests/tokenizer/sample_text.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pointwise;
using testing::StartsWith;
using testing::ThrowsMessage;

std::string text(const std::string& value) {
  return bytes_of(static_cast<std::uint16_t>(value.size() + 1)) + value + '\0';
}

std::string variable(const std::string& name, const std::vector<std::uint32_t>& shape, int type,
                     const std::string& data) {
  std::string bytes = text(name) + static_cast<char>(shape.size());
  for (const std::uint32_t size : shape) bytes += bytes_of(size);
  return bytes + static_cast<char>(type) + bytes_of(static_cast<std::uint32_t>(data.size())) + data;
}

/// A file of two variables and one alias, or of others.
struct File {
  std::uint32_t version = 6;
  std::vector<std::string> variables = {variable("a", {2}, 0, "12345678"),
                                        variable("n", {}, 2, "12")};
  std::vector<std::string> aliases = {text("b") + text("a")};

  std::string bytes() const {
    std::string bytes = bytes_of(version) + text("TransformerSpec") + bytes_of(7u);
    bytes += bytes_of(static_cast<std::uint32_t>(variables.size()));
    for (const std::string& one : variables) bytes += one;
    bytes += bytes_of(static_cast<std::uint32_t>(aliases.size()));
    for (const std::string& one : aliases) bytes += one;
    return bytes;
  }
};

void expect_refused(const std::string& bytes, const std::string& what) {
  EXPECT_THAT([&] { CTranslate2Model("model.bin", bytes); },
              ThrowsMessage<Error>(AllOf(StartsWith("model.bin: "), HasSubstr(what))));
}

TEST(CTranslate2Model, VariablesOfEveryTypeAndAliasesAreRead) {
  File file;
  file.variables = {variable("f32", {1, 2}, 0, "12345678"), variable("i8", {}, 1, "1"),
                    variable("i8_scale", {1}, 0, "1234"),   variable("i16", {}, 2, "12"),
                    variable("i32", {0, 3}, 3, ""),         variable("f16", {2}, 4, "1234"),
                    variable("bf16", {1}, 5, "12")};
  file.aliases = {text("other") + text("i8")};
  const std::string bytes = file.bytes();
  const CTranslate2Model model("model.bin", bytes);
  EXPECT_EQ(model.spec(), "TransformerSpec");
  EXPECT_EQ(model.variables().size(), 7u);
  EXPECT_EQ(model.find("f32")->type, ForeignDtype::F32);
  EXPECT_THAT(model.find("f32")->shape, ElementsAre(1, 2));
  EXPECT_EQ(model.find("f32")->bytes, "12345678");
  EXPECT_EQ(model.find("i8")->type, ForeignDtype::I8);
  EXPECT_EQ(model.find("i16")->type, ForeignDtype::I16);
  EXPECT_EQ(model.find("i32")->type, ForeignDtype::I32);
  EXPECT_EQ(model.find("f16")->type, ForeignDtype::F16);
  EXPECT_EQ(model.find("bf16")->type, ForeignDtype::BF16);
  EXPECT_EQ(model.find("other"), model.find("i8"));
  EXPECT_EQ(model.find("other_scale"), model.find("i8_scale"));
  EXPECT_EQ(model.find("none"), nullptr);
}

TEST(CTranslate2Model, DamagedFilesAreRefused) {
  expect_refused("", "ends within the version");
  expect_refused(File{.version = 5}.bytes(), "binary version 5");
  expect_refused(File{}.bytes() + "x", "1 bytes follow");
  expect_refused(File{.variables = {variable("a", {3}, 0, "12345678")}}.bytes(),
                 "variable a: its shape needs 12 bytes");
  expect_refused(File{.variables = {variable("a", {1}, 0, "12345678")}}.bytes(),
                 "variable a: its shape needs 4 bytes, but it has 8");
  expect_refused(File{.variables = {variable("a", {1}, 6, "1")}}.bytes(), "unknown number 6");
  expect_refused(File{.variables = {variable("a", {}, 1, "1"), variable("a", {}, 1, "1")}}.bytes(),
                 "variable a: occurs twice");
  expect_refused(
      File{.variables = {variable("a", std::vector<std::uint32_t>(3, 0xFFFFFFFFu), 0, "1")}}
          .bytes(),
      "too large");
  expect_refused(File{.variables = {variable(std::string("a\0b", 3), {}, 1, "1")}}.bytes(),
                 "no text");
  expect_refused(File{.aliases = {text("b") + text("c")}}.bytes(), "there is no variable c");
  expect_refused(File{.aliases = {text("a") + text("n")}}.bytes(), "occurs twice");
  expect_refused(File{.aliases = {text("b") + text("n"), text("b") + text("a")}}.bytes(),
                 "occurs twice");
}

TEST(CTranslate2Model, DamageIsRefusedOrHarmless) {
  EXPECT_THAT(accepted_beginnings(File{}.bytes(), exercise_ctranslate2), IsEmpty());
  EXPECT_GT(refused_flips(File{}.bytes(), exercise_ctranslate2), 10'000);
}

/// Our export of a small model, read back.
class Exported {
 public:
  explicit Exported(ExportType type) {
    const auto lines = sample_text(200);
    const auto trained = train_tokenizer(views(lines), {.vocab_size = 300});
    model.contents.tokenizer_source = trained.model_bytes;
    write_model_file(file_.path(), model.contents);
    write_ctranslate2(ModelFileReader(file_.path()), folder(), type);
    bytes_ = read_file(folder() / "model.bin");
    read = std::make_unique<CTranslate2Model>("model.bin", bytes_);
  }
  std::filesystem::path folder() const { return file_.folder() / "export"; }
  std::vector<float> ours(const std::string& name) const {
    return ModelFileReader(file_.path()).floats(name);
  }

  SmallModel model{300};
  std::unique_ptr<CTranslate2Model> read;

 private:
  ScratchFile file_{"model.safetensors"};
  std::string bytes_;
};

TEST(CTranslate2Model, OurExportGivesTheSameTensors) {
  const Exported exported(ExportType::Float32);
  const CTranslate2Model& read = *exported.read;
  EXPECT_EQ(read.spec(), "TransformerSpec");
  EXPECT_EQ(contiguous_floats(*read.find("encoder/embeddings_0/weight")),
            exported.ours("embedding.weight"));
  EXPECT_EQ(read.find("decoder/projection/weight"), read.find("encoder/embeddings_0/weight"));
  EXPECT_EQ(contiguous_floats(*read.find("decoder/layer_0/ffn/linear_0/bias")),
            exported.ours("decoder.layers.0.feed_forward.inner.bias"));
  std::vector<float> stacked;
  for (const char* part : {"query", "key", "value"})
    for (const float value :
         exported.ours(join_text("encoder.layers.0.self_attention.", part, ".weight")))
      stacked.push_back(value);
  EXPECT_EQ(contiguous_floats(*read.find("encoder/layer_0/self_attention/linear_0/weight")),
            stacked);
  EXPECT_THAT(contiguous_floats(*read.find("encoder/num_heads")), ElementsAre(2));
  EXPECT_EQ(read_vocabulary(exported.folder() / "shared_vocabulary.json").size(), 300u);
}

const std::string name = "encoder/embeddings_0/weight";

TEST(CTranslate2Model, OurExportInHalfPrecisionGivesNearlyTheSameTensors) {
  const Exported half(ExportType::Float16);
  EXPECT_EQ(half.read->find(name)->type, ForeignDtype::F16);
  EXPECT_THAT(contiguous_floats(*half.read->find(name)),
              Pointwise(FloatNear(1e-3f), half.ours("embedding.weight")));
}

TEST(CTranslate2Model, OurExportInInt8GivesNearlyTheSameTensors) {
  const Exported bytes(ExportType::Int8);
  EXPECT_EQ(bytes.read->find(name)->type, ForeignDtype::I8);
  const auto scales = contiguous_floats(*bytes.read->find("decoder/projection/weight_scale"));
  auto values = contiguous_floats(*bytes.read->find(name));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] /= scales[i / 4];
  EXPECT_THAT(values, Pointwise(FloatNear(1e-2f), bytes.ours("embedding.weight")));
}

}  // namespace
}  // namespace dragoman
