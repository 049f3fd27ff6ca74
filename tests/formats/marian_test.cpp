#include "formats/marian.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/scratch_folder.h"
#include "formats/import_model.h"
#include "formats/marian_layout.h"
#include "formats/npz_writer.h"
#include "formats/plain_transformer.h"
#include "tests/formats/import_error.h"
#include "tests/formats/pickle_bytes.h"
#include "tests/formats/random_model.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;
namespace fs = std::filesystem;

constexpr const char* kOptions =
    "type: transformer\ndim-emb: 16\ntransformer-heads: 2\ntransformer-dim-ffn: 24\nenc-depth: 2\n"
    "dec-depth: 1\ntied-embeddings-all: true\ntransformer-postprocess: dan\n"
    "transformer-preprocess: \"\"\ntransformer-tied-layers:\n  []\ninput-types:\n  []\n"
    "transformer-ffn-activation: gelu\n";

constexpr const char* kSettings =
    "relative-paths: false\nmodels:\n  - /elsewhere/model.npz\nvocabs:\n  - vocab.spm\n"
    "  - vocab.spm\nbeam-size: 6\nnormalize: 0.6\nword-penalty: 0.2\n";

/// A folder with a model of Marian.
class Marian : public testing::Test {
 protected:
  Marian() : model_(random_model()) {
    write_file(folder_.path() / "vocab.spm", small_tokenizer().model_bytes());
    write_file(folder_.path() / "decoder.yml", kSettings);
    write_model(kOptions);
  }

  /// Without the tensor `but`; with one of another shape where `is_turned`.
  void write_model(const std::string& options, const std::string& but = "",
                   bool is_turned = false) {
    AtomicFile file(folder_.path() / "model.npz");
    NpzWriter npz(file);
    for (const NpzTensor& tensor : npz_tensors(model_.config, MarianTying::All)) {
      std::vector<float> values = model_.parameters.at(tensor.ours.name);
      if (tensor.is_transposed)
        values = transposed(values, tensor.ours.shape[0], tensor.ours.shape[1]);
      std::vector<std::int64_t> shape = tensor.their_shape();
      if (tensor.theirs == but && !is_turned) continue;
      if (tensor.theirs == but) std::swap(shape[0], shape[1]);
      npz.add(tensor.theirs, shape, values);
    }
    if (but != "special:model.yml") npz.add_text("special:model.yml", options);
    npz.finish();
    file.commit();
  }

  std::string error() const { return import_error(folder_.path()); }
  std::string error_with(const std::string& option, const std::string& value) {
    std::string options = kOptions;
    const std::size_t at = options.find(option + ":");
    if (at != options.npos) options.erase(at, options.find('\n', at) + 1 - at);
    write_model(options + option + ": " + value + "\n");
    return error();
  }

  ForeignModel model_;
  ScratchFolder folder_{fs::temp_directory_path() / "dragoman-marian"};
};

TEST_F(Marian, IsReadAsItsLayersSay) {
  for (const fs::path& path :
       {folder_.path(), folder_.path() / "model.npz", folder_.path() / "decoder.yml"}) {
    const ForeignModel read = import_model(path);
    EXPECT_EQ(read.parameters, model_.parameters);
    EXPECT_EQ(read.columns, ColumnOrder::Halves);
    EXPECT_EQ(read.config.positions, Positions::Marian);
    EXPECT_EQ(read.config.norm_epsilon, 1e-6);
    EXPECT_EQ(read.config.activation, Activation::Swish);
    EXPECT_EQ(read.swish_factor, 1.702);  // its GELU, as no version is named
    EXPECT_EQ(read.embedding_scale, 4);
    EXPECT_EQ(read.source.pieces, model_.source.pieces);
  }
}

TEST_F(Marian, SettingsOfTheSearchComeFromDecoderYml) {
  const DecodeDefaults expected = {{"stop", "marian"},
                                   {"beam-size", "6"},
                                   {"length-penalty", "0.6"},
                                   {"word-penalty", "0.2"},
                                   {"max-length-ratio", "3"}};
  EXPECT_EQ(import_model(folder_.path()).decode_defaults, expected);
}

TEST_F(Marian, AnExportHasTheSettingsOfTheSearchAsMarianReadsThem) {
  ImportedModel ours = to_imported(import_model(folder_.path()));
  const auto exported = [&] {
    write_imported(ours, folder_.path() / "model.safetensors", "");
    write_marian(ModelFileReader(folder_.path() / "model.safetensors"), folder_.path() / "export");
  };
  ours.decode_defaults = {{"beam-size", "1k"}, {"length-penalty", "+0.60"}, {"stop", "marian"}};
  exported();
  EXPECT_THAT(
      read_file(folder_.path() / "export/decoder.yml"),
      HasSubstr("beam-size: 1000\nnormalize: 0.6\nword-penalty: 0\nmax-length-factor: 3\n"));
  fs::remove_all(folder_.path() / "export");
  for (const char* bad : {"wide", "", "0", "5\nmodels: [/etc/passwd]", "1e400"}) {
    ours.decode_defaults = {{"beam-size", bad}};
    EXPECT_THAT(exported, ThrowsMessage<Error>(HasSubstr("--beam-size"))) << bad;
    EXPECT_FALSE(fs::exists(folder_.path() / "export"));
  }
}

TEST_F(Marian, NormalisationBeforeSubLayersHasNamesOfItsOwn) {
  const auto named = [](const ModelConfig& config, const std::string& ours) {
    for (const NpzTensor& tensor : npz_tensors(config, MarianTying::All))
      if (tensor.ours.name == ours) return tensor.theirs;
    return std::string();
  };
  ModelConfig config = model_.config;
  EXPECT_EQ(named(config, "encoder.layers.1.feed_forward_norm.weight"),
            "encoder_l2_ffn_ffn_ln_scale");
  EXPECT_EQ(named(config, "decoder.layers.0.cross_attention_norm.bias"),
            "decoder_l1_context_Wo_ln_bias");
  EXPECT_EQ(named(config, "decoder.layers.0.self_attention.output.weight"), "decoder_l1_self_Wo");
  EXPECT_EQ(named(config, "encoder.layers.0.feed_forward.outer.bias"), "encoder_l1_ffn_b2");
  config.norm = NormPosition::Before;
  EXPECT_EQ(named(config, "encoder.layers.1.feed_forward_norm.weight"),
            "encoder_l2_ffn_ffn_ln_scale_pre");
  EXPECT_EQ(named(config, "decoder.norm.bias"), "decoder_top_ln_bias");
}

TEST_F(Marian, WhatOurModelHasNotIsNamed) {
  EXPECT_THAT(error_with("type", "s2s"), HasSubstr("type: \"s2s\" is not known"));
  EXPECT_THAT(error_with("transformer-decoder-autoreg", "rnn\ndec-cell: ssru"),
              HasSubstr("recurrent layers (ssru, as in student models)"));
  EXPECT_THAT(error_with("transformer-decoder-autoreg", "average-attention"),
              HasSubstr("\"average-attention\" is not known"));
  EXPECT_THAT(error_with("transformer-postprocess", "da"), HasSubstr("transformer-postprocess"));
  EXPECT_THAT(error_with("transformer-ffn-activation", "tanh"), HasSubstr("\"tanh\""));
  EXPECT_THAT(error_with("transformer-train-position-embeddings", "true"),
              HasSubstr("transformer-train-position-embeddings: \"true\" is not known"));
  EXPECT_THAT(error_with("transformer-heads", "three"), HasSubstr("three is not a number"));
  EXPECT_THAT(error_with("transformer-heads", "3"), HasSubstr("heads"));
  EXPECT_THAT(error_with("enc-depth", "99999999999"), HasSubstr("encoder-layers"));
  EXPECT_THAT(error_with("dim-emb", "32"),
              HasSubstr("Wemb has the shape [300, 16], not [300, 32]"));
}

TEST_F(Marian, DamageIsNamed) {
  write_model(kOptions, "encoder_l1_self_Wq");
  EXPECT_THAT(error(), HasSubstr("model.npz: has no tensor encoder_l1_self_Wq"));
  write_model(kOptions, "encoder_l1_ffn_W1", true);
  EXPECT_THAT(error(), HasSubstr("encoder_l1_ffn_W1 has the shape [24, 16], not [16, 24]"));
  write_model(kOptions, "special:model.yml");
  EXPECT_THAT(error(), HasSubstr("it is no model of Marian"));
  write_model("type: [");
  EXPECT_THAT(error(), HasSubstr("line 1"));
  write_model(kOptions);
  const std::string sound = read_file(folder_.path() / "model.npz");
  for (const double part : {0.0, 0.3, 0.7, 0.99}) {
    write_file(folder_.path() / "model.npz",
               sound.substr(0, static_cast<std::size_t>(part * static_cast<double>(sound.size()))));
    EXPECT_THAT(error(), HasSubstr("model.npz"));
  }
}

TEST_F(Marian, MissingFilesAndOtherModelsAreNamed) {
  const fs::path ours = folder_.path() / "ours.safetensors";
  write_imported(to_imported(import_model(folder_.path())), ours, "import");
  EXPECT_THAT(import_error(ours), HasSubstr("is a model of this program"));
  fs::remove(ours);
  fs::remove(folder_.path() / "vocab.spm");
  EXPECT_THAT(error(), HasSubstr("decoder.yml: names vocab.spm, which is not there"));
  write_file(folder_.path() / "decoder.yml", "models: [a.npz, b.npz]\nvocabs: [v.spm, v.spm]\n");
  EXPECT_THAT(error(), HasSubstr("names 2 models"));
  write_file(folder_.path() / "model.bin", std::string("\1\0\0\0\0\0\0\0", 8));
  write_file(folder_.path() / "decoder.yml", "models: [model.bin]\nvocabs: [v.spm, v.spm]\n");
  EXPECT_THAT(error(), HasSubstr("weights of 8 bits (intgemm)"));
  EXPECT_THAT(import_error(folder_.path() / "model.bin"), HasSubstr("is a binary model of Marian"));
  write_file(folder_.path() / "v.yml", "</s>: 0\n<unk>: 1\n");
  write_file(folder_.path() / "decoder.yml", "models: [model.npz]\nvocabs: [v.yml, v.yml]\n");
  EXPECT_THAT(error(), HasSubstr("v.yml: has no SentencePiece model source.spm beside it"));
  fs::remove(folder_.path() / "decoder.yml");
  fs::remove(folder_.path() / "model.bin");
  EXPECT_THAT(import_error(folder_.path() / "model.npz"),
              HasSubstr("needs Marian's decoder.yml beside it"));
  const std::string without = "has model.npz, but no one decoder.yml of Marian";
  EXPECT_THAT(error(), HasSubstr(without));
  // A checkpoint beside it is named, and so is the model.
  for (const std::string& bytes :
       {std::string("junk"), checkpoint_of(pickle_of(dict_op({})), {})}) {
    write_file(folder_.path() / "other.pt", bytes);
    EXPECT_THAT(error(), AllOf(HasSubstr("other.pt: "), HasSubstr(without)));
  }
  write_file(folder_.path() / "third.pt", "junk");
  EXPECT_THAT(error(), AllOf(HasSubstr("has several checkpoints; name one"), HasSubstr(without)));
}

}  // namespace
}  // namespace dragoman
