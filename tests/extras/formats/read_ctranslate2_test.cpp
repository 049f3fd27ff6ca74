#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "base/files.h"
#include "base/scratch_folder.h"
#include "extras/formats/ctranslate2.h"
#include "extras/formats/import_model.h"
#include "tests/extras/formats/import_error.h"
#include "tests/extras/formats/random_model.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

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
  /// Replaces the one place of `from` in a file.
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
TEST_F(ReadCtranslate2, ANumberOfHeadsThatIsNoneIsRefused) {
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
      EXPECT_THAT(error(), HasSubstr("coder/num_heads: is no"));
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
  EXPECT_THAT(error(), HasSubstr("has no variable decoder/layer_0/attention/linear_2/weight"));
  write(random_model());
  replace("model.bin", "TransformerSpec", "TransformerSpek");
  EXPECT_THAT(error(), HasSubstr("of the type TransformerSpek"));
  write(random_model());
  replace("config.json", "\"add_source_bos\": false", "\"add_source_bos\": true ");
  EXPECT_THAT(error(), HasSubstr("\"add_source_bos\""));
  write(random_model());
  // A switch that is off becomes the factor 0.
  replace("model.bin", std::string("\x14\0decoder/scale_alibi", 21),
          std::string("\x16\0decoder/scale_outputs", 23));
  EXPECT_THAT(error(), HasSubstr("decoder/scale_outputs"));
  write(random_model());
  fs::remove(folder() / "target.spm");
  EXPECT_THAT(error(), HasSubstr("has no SentencePiece model of the target"));
  write(random_model());
  const std::string sound = read_file(folder() / "model.bin");
  for (const double part : {0.0, 0.2, 0.6, 0.999}) {
    write_file(folder() / "model.bin",
               sound.substr(0, static_cast<std::size_t>(part * static_cast<double>(sound.size()))));
    EXPECT_THAT(error(), HasSubstr("model.bin"));
  }
  write(random_model());
  write_file(folder() / "shared_vocabulary.json", "[\"<unk>\", \"</s>\"]");
  EXPECT_THAT(error(), HasSubstr("has another shape than its model"));
}

}  // namespace
}  // namespace dragoman
