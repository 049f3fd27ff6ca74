#include "extras/formats/ctranslate2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "base/files.h"
#include "extras/formats/import_model.h"
#include "extras/formats/vocabulary_file.h"
#include "tests/extras/formats/checkpoint_bytes.h"
#include "tests/extras/formats/damage.h"
#include "tests/extras/formats/random_model.h"
#include "tests/model/file/small_model.h"
#include "tests/names.h"
#include "tests/tokenizer/sample_text.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

using testing::AllOf;
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
              ThrowsMessage<Error>(AllOf(StartsWith("model.bin: "), Names(what))));
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
                 "variable a ... 12 bytes");
  expect_refused(File{.variables = {variable("a", {1}, 0, "12345678")}}.bytes(),
                 "variable a ... 4 bytes ... 8");
  expect_refused(File{.variables = {variable("a", {1}, 6, "1")}}.bytes(), "unknown number 6");
  expect_refused(File{.variables = {variable("a", {}, 1, "1"), variable("a", {}, 1, "1")}}.bytes(),
                 "variable a ... twice");
  expect_refused(
      File{.variables = {variable("a", std::vector<std::uint32_t>(3, 0xFFFFFFFFu), 0, "1")}}
          .bytes(),
      "too large");
  expect_refused(File{.variables = {variable(std::string("a\0b", 3), {}, 1, "1")}}.bytes(),
                 "not a text");
  expect_refused(File{.aliases = {text("b") + text("c")}}.bytes(), "variable c");
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

/// The switch's name, its rank and type, and its size; one byte follows.
const std::string kStartFromZero("decoder/start_from_zero_embedding\0\0\1\1\0\0\0", 40);

/// A folder that write_ctranslate2() has made of a random model of ours.
class ReadCtranslate2 : public testing::Test {
 protected:
  void write(const ForeignModel& model, ExportType type = ExportType::Float32) {
    fs::remove_all(folder());
    ours_ = to_imported(model);
    write_imported(ours_, scratch_.path() / "model.safetensors", "test");
    write_ctranslate2(ModelFileReader(scratch_.path() / "model.safetensors"), folder(), type);
  }
  fs::path folder() const { return scratch_.path() / "ct2"; }

  std::string error() const { return import_error(folder()); }
  /// Replaces `from`, which occurs once in a file.
  void replace(const char* name, const std::string& from, const std::string& to) {
    std::string bytes = read_file(folder() / name);
    const std::size_t at = bytes.find(from);
    ASSERT_NE(at, bytes.npos);
    write_file(folder() / name, bytes.replace(at, from.size(), to));
  }

  ScratchFolder scratch_{fs::temp_directory_path() / "dragoman-ct2"};
  ImportedModel ours_;
};

TEST_F(ReadCtranslate2, AWrittenModelIsReadBack) {
  constexpr std::array kActivations = {Activation::Relu, Activation::Gelu, Activation::GatedSwish};
  std::size_t kind = 0;
  for (const Tying tying : {Tying::ThreeWay, Tying::TwoWay, Tying::None})
    for (const NormPosition norm : {NormPosition::After, NormPosition::Before}) {
      const Activation activation = kActivations.at(kind++ % 3);
      ForeignModel model = random_model(tying, activation, norm);
      model.config.positions = kind % 2 == 0 ? Positions::Marian : Positions::Sinusoidal;
      write(model);
      const ImportedModel again = to_imported(import_model(folder()));
      EXPECT_EQ(again.parameters, ours_.parameters);
      EXPECT_EQ(again.config.tying, tying);
      EXPECT_EQ(again.config.norm, norm);
      EXPECT_EQ(again.config.activation, activation);
      EXPECT_EQ(again.config.positions, model.config.positions);
      EXPECT_EQ(again.config.norm_epsilon, ours_.config.norm_epsilon);
    }
}

/// In the file the sides' numbers of heads are 16-bit scalars: rank 0, type 2, size 2. A scalar of
/// float32 has type 0 and size 4.
TEST_F(ReadCtranslate2, AnImpossibleNumberOfHeadsIsRefused) {
  using std::string_literals::operator""s;
  for (const std::string& number :
       {"\0\0\xC0\x7F"s, "\0\0\x80\x7F"s, "\0\0\0\x40"s, "\0\0\x20\x40"s, "\0\0\x80\xBF"s,
        "\0\0\0\0"s, "\xFF\xFF\x7F\x7F"s}) {
    write(random_model());
    for (const std::string side : {"encoder", "decoder"})
      replace("model.bin", side + "/num_heads\0\0\2\2\0\0\0\2\0"s,
              side + "/num_heads\0\0\0\4\0\0\0"s + number);
    if (number == "\0\0\0\x40"s)
      EXPECT_EQ(error(), "no error") << "2.0";
    else
      EXPECT_THAT(error(), HasSubstr("coder/num_heads: is not"));
  }
}

TEST_F(ReadCtranslate2, LearnedPositionsStayLearned) {
  ForeignModel model = random_model();
  model.config.positions = Positions::Learned;
  model.config.max_positions = 30;
  fill(model);
  write(model);
  const ImportedModel again = to_imported(import_model(folder()));
  EXPECT_EQ(again.config.positions, Positions::Learned);
  EXPECT_EQ(again.config.max_positions, 30);
  EXPECT_EQ(again.parameters, ours_.parameters);
}

TEST_F(ReadCtranslate2, SourcesWithoutAnEndStaySo) {
  ForeignModel model = random_model();
  model.config.source_eos = false;
  write(model);
  EXPECT_THAT(read_file(folder() / "config.json"), HasSubstr("\"add_source_eos\": false"));
  EXPECT_FALSE(import_model(folder()).config.source_eos);
  EXPECT_EQ(to_imported(import_model(folder())).parameters, ours_.parameters);
  write(random_model());
  replace("config.json", "\"add_source_eos\": true", "\"add_source_eos\": false");
  EXPECT_TRUE(import_model(folder()).config.source_eos) << "callers add it to Marian's models";
  replace("model.bin", kStartFromZero + '\1', kStartFromZero + std::string(1, '\0'));
  EXPECT_FALSE(import_model(folder()).config.source_eos) << "as converted from OpenNMT-py";
}

TEST_F(ReadCtranslate2, NormalisedEmbeddingsStaySo) {
  write(model_of_normalized_embeddings());
  const ForeignModel read = import_model(folder());
  EXPECT_TRUE(read.config.embedding_norm);
  EXPECT_EQ(to_imported(read).parameters, ours_.parameters);
}

TEST_F(ReadCtranslate2, RoundedWeightsAreNear) {
  for (const ExportType type : {ExportType::Float16, ExportType::Int8}) {
    write(random_model(), type);
    const ImportedModel again = to_imported(import_model(folder()));
    EXPECT_EQ(again.config.positions, Positions::Sinusoidal);
    const auto &found = again.parameters.at("encoder.layers.0.self_attention.key.weight"),
               &expected = ours_.parameters.at("encoder.layers.0.self_attention.key.weight");
    EXPECT_NE(found, expected);
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 0.002);
  }
}

TEST_F(ReadCtranslate2, AFirstPieceOfTheDecoderIsReadAsItsStart) {
  write(random_model());
  replace("model.bin", kStartFromZero + '\1', kStartFromZero + std::string(1, '\0'));
  const ForeignModel model = import_model(folder());
  const auto& embedding = model.parameters.at("embedding.weight");
  const auto eos = static_cast<std::ptrdiff_t>(model.config.eos_id);
  EXPECT_EQ(model.start,
            std::vector<float>(embedding.begin() + 16 * eos, embedding.begin() + 16 * (eos + 1)));
  EXPECT_EQ(to_imported(model).config.positions, Positions::Learned);
}

TEST_F(ReadCtranslate2, BothSidesMayHaveOneSentencePieceModel) {
  for (const fs::path& file :
       {folder() / "sentencepiece.model", folder() / "sentencepiece.bpe.model",
        folder() / "spm.model", folder().parent_path() / "sentencepiece.model"}) {
    write(random_model());
    fs::remove(folder() / "target.spm");
    fs::rename(folder() / "source.spm", file);
    const ForeignModel model = read_ctranslate2(folder());
    EXPECT_EQ(model.source.file, file.string());
    EXPECT_EQ(model.target.file, file.string());
    fs::remove(file);
  }
}

TEST_F(ReadCtranslate2, DamageAndUnknownChoicesAreNamed) {
  write(random_model());
  replace("model.bin", "encoder/layer_1/ffn/linear_0/bias", "encoder/layer_1/ffn/linear_0/what");
  EXPECT_THAT(error(), HasSubstr("encoder/layer_1/ffn/linear_0/what"));
  write(random_model());
  replace("model.bin", "decoder/layer_0/attention/linear_2/weight",
          "decoder/layer_0/attention/linear_3/weight");
  EXPECT_THAT(error(), Names("no variable ... decoder/layer_0/attention/linear_2/weight"));
  write(random_model());
  replace("model.bin", "TransformerSpec", "TransformerSpek");
  EXPECT_THAT(error(), Names("TransformerSpek"));
  write(random_model());
  replace("config.json", "\"add_source_bos\": false", "\"add_source_bos\": true ");
  EXPECT_THAT(error(), HasSubstr("\"add_source_bos\""));
  write(random_model());
  // A switch that is off counts as the factor 0.
  replace("model.bin", std::string("\x14\0decoder/scale_alibi", 21),
          std::string("\x16\0decoder/scale_outputs", 23));
  EXPECT_THAT(error(), HasSubstr("decoder/scale_outputs"));
  write(random_model());
  fs::remove(folder() / "target.spm");
  EXPECT_THAT(error(), Names("SentencePiece model ... target"));
  write(random_model());
  const std::string sound = read_file(folder() / "model.bin");
  for (const double part : {0.0, 0.2, 0.6, 0.999}) {
    write_file(folder() / "model.bin",
               sound.substr(0, static_cast<std::size_t>(part * static_cast<double>(sound.size()))));
    EXPECT_THAT(error(), HasSubstr("model.bin"));
  }
  write(random_model());
  write_file(folder() / "shared_vocabulary.json", "[\"<unk>\", \"</s>\"]");
  EXPECT_THAT(error(), Names("shape"));
}

}  // namespace

}  // namespace dragoman
