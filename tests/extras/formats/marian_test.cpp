#include "extras/formats/marian.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "extras/formats/ctranslate2.h"
#include "extras/formats/hf_marian.h"
#include "extras/formats/import_model.h"
#include "extras/formats/numpy.h"
#include "tests/extras/formats/checkpoint_bytes.h"
#include "tests/extras/formats/random_model.h"
#include "tests/names.h"

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

  /// Writes it without the tensor `but`; if `is_turned`, with a tensor of another shape.
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

TEST_F(Marian, AModelIsReadAsItsLayersSay) {
  for (const fs::path& path :
       {folder_.path(), folder_.path() / "model.npz", folder_.path() / "decoder.yml"}) {
    const ForeignModel read = import_model(path);
    EXPECT_EQ(read.parameters, model_.parameters);
    EXPECT_EQ(read.columns, ColumnOrder::Halves);
    EXPECT_EQ(read.config.positions, Positions::Marian);
    EXPECT_EQ(read.config.norm_epsilon, 1e-6);
    EXPECT_EQ(read.config.activation, Activation::Swish);
    EXPECT_EQ(read.swish_factor, 1.702);  // GELU of older versions, because no version is named
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
  EXPECT_EQ(import_model(folder_.path()).search.defaults, expected);
}

TEST_F(Marian, SettingsOfTheSearchThatCannotBeAreRefused) {
  const std::string files = "models: [model.npz]\nvocabs: [vocab.spm, vocab.spm]\n";
  const auto expect = [&](const std::string& line, const std::string& what) {
    write_file(folder_.path() / "decoder.yml", files + line + "\n");
    EXPECT_THAT(error(), Names("decoder.yml ... " + what)) << line;
  };
  expect("beam-size: -4", "beam-size ... -4 ... 1 ... 1000");
  expect("beam-size: 1000000000000", "beam-size ... 1000000000000 ... 1 ... 1000");
  expect("normalize: -1", "normalize ... -1 ... 0 ... 100");
  expect("normalize: 1e300", "normalize ... 1e+300 ... 0 ... 100");
  expect("word-penalty: 1e9", "word-penalty ... 1e+09 ... -100 ... 100");
  expect("max-length-factor: 0", "max-length-factor ... 0 ... 0.01 ... 1000");
  expect("models: [model.npz]", "line 3 ... models ... twice");
}

TEST_F(Marian, SettingsThatWeDoNotHaveAreNamed) {
  EXPECT_THAT(import_model(folder_.path()).search.left_out, testing::IsEmpty());
  write_file(folder_.path() / "decoder.yml",
             std::string(kSettings) +
                 "allow-unk: true\nn-best: false\noutput-sampling:\n  []\n"
                 "shortlist:\n  - lex.gz\n  - false\n");
  const ForeignSearch search = import_model(folder_.path()).search;
  EXPECT_EQ(search.file, (folder_.path() / "decoder.yml").string());
  EXPECT_THAT(search.left_out, testing::ElementsAre("allow-unk", "shortlist"));
}

TEST_F(Marian, AnExportNamesTheSearchThatItCannotHold) {
  ImportedModel ours = to_imported(import_model(folder_.path()));
  const fs::path file = folder_.path() / "model.safetensors", folder = folder_.path() / "export";
  const std::pair<const char*, const char*> settings[] = {
      {"stop", "full"},          {"stop", "hf"},      {"no-repeat-ngram-size", "3"},
      {"max-length", "99"},      {"min-length", "2"}, {"repetition-penalty", "1.5"},
      {"coverage-penalty", "1"}, {"suppress", "a,b"}, {"length-penalty-kind", "gnmt"}};
  for (const auto& [name, value] : settings) {
    ours.decode_defaults = {{name, value}};
    write_imported(ours, file, "");
    const std::string setting = std::string("--") + name + " " + value;
    EXPECT_THAT([&] { write_marian(ModelFileReader(file), folder); },
                ThrowsMessage<Error>(AllOf(HasSubstr("Marian has no"), HasSubstr(setting))));
    EXPECT_FALSE(fs::exists(folder));
    EXPECT_THAT(write_marian(ModelFileReader(file), folder, Unsupported::LeftOut),
                testing::ElementsAre(setting));
    fs::remove_all(folder);
  }
  ours.decode_defaults = {{"stop", "marian"}, {"word-penalty", "0.5"}, {"max-length", "0"}};
  write_imported(ours, file, "");
  EXPECT_THAT(write_marian(ModelFileReader(file), folder), testing::IsEmpty());
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
  config.norm = NormPosition::BeforeQueries;
  EXPECT_EQ(named(config, "encoder.layers.1.feed_forward_norm.weight"),
            "encoder_l2_ffn_ffn_ln_scale_pre");
  EXPECT_EQ(named(config, "decoder.norm.bias"), "decoder_top_ln_bias");
}

TEST_F(Marian, NormalisationBeforeSubLayersIsReadAsItsVersionHasIt) {
  model_ = random_model(Tying::ThreeWay, Activation::Swish, NormPosition::BeforeQueries);
  std::string options = kOptions;
  const auto replace = [&options](const std::string& from, const std::string& to) {
    options.replace(options.find(from), from.size(), to);
  };
  replace("postprocess: dan", "postprocess: da\ntransformer-postprocess-top: n");
  replace("preprocess: \"\"", "preprocess: n");
  const std::pair<const char*, NormPosition> versions[] = {
      {"v1.9.56", NormPosition::BeforeQueries},
      {"v1.10.0 6f6d4846", NormPosition::BeforeQueries},
      {"v1.12.42 b7be0e964", NormPosition::Before}};
  for (const auto& [version, norm] : versions) {
    write_model(options + "version: " + version + "\n");
    const ForeignModel read = import_model(folder_.path());
    EXPECT_EQ(read.config.norm, norm) << version;
    EXPECT_EQ(read.parameters, model_.parameters);
    const fs::path file = folder_.path() / "model.safetensors", folder = folder_.path() / "export";
    write_imported(to_imported(read), file, "");
    EXPECT_THAT(
        [&] { write_marian(ModelFileReader(file), folder); },
        ThrowsMessage<Error>(AllOf(HasSubstr("versions differ"), HasSubstr("--norm before"))));
    EXPECT_FALSE(fs::exists(folder));
  }
  write_model(options + "version: v1.11.0\n");
  EXPECT_THAT(error(), Names("version ... \"v1.11.0\""));
}

TEST_F(Marian, NormalisedEmbeddingsAreReadAndWritten) {
  model_ = model_of_normalized_embeddings();
  for (const char* steps : {"n", "dn"}) {
    write_model(std::string(kOptions) + "transformer-postprocess-emb: " + steps + "\n");
    EXPECT_EQ(import_model(folder_.path()).parameters, model_.parameters);
  }
  const ForeignModel read = import_model(folder_.path());
  EXPECT_TRUE(read.config.embedding_norm);
  const fs::path file = folder_.path() / "model.safetensors", folder = folder_.path() / "export";
  write_imported(to_imported(read), file, "");
  write_marian(ModelFileReader(file), folder);
  EXPECT_TRUE(import_model(folder).config.embedding_norm);
  write_imported(to_imported(model_), file, "");
  EXPECT_THAT([&] { write_hf_marian(ModelFileReader(file), folder_.path() / "hf"); },
              ThrowsMessage<Error>(HasSubstr("(embedding-norm)")));
}

TEST_F(Marian, OtherFormatsHaveNoNormalisationOfQueriesAlone) {
  ImportedModel ours =
      to_imported(random_model(Tying::ThreeWay, Activation::Gelu, NormPosition::BeforeQueries));
  const fs::path file = folder_.path() / "model.safetensors", folder = folder_.path() / "export";
  write_imported(ours, file, "");
  const ModelFileReader model(file);
  const auto refuses = ThrowsMessage<Error>(HasSubstr("(--norm before-queries)"));
  EXPECT_THAT([&] { write_hf_marian(model, folder); }, refuses);
  EXPECT_THAT([&] { write_ctranslate2(model, folder, ExportType::Float32); }, refuses);
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(Marian, AFeatureThatOurModelLacksIsNamed) {
  EXPECT_THAT(error_with("type", "s2s"), Names("type ... \"s2s\""));
  EXPECT_THAT(error_with("transformer-decoder-autoreg", "rnn\ndec-cell: ssru"),
              Names("recurrent ... ssru"));
  EXPECT_THAT(error_with("transformer-decoder-autoreg", "average-attention"),
              Names("\"average-attention\""));
  EXPECT_THAT(error_with("transformer-postprocess", "da"),
              HasSubstr("transformer-postprocess \"da\", transformer-postprocess-top"));
  EXPECT_THAT(error_with("transformer-postprocess-emb", "dr"), Names("\"r\""));
  EXPECT_THAT(error_with("transformer-ffn-activation", "tanh"), HasSubstr("\"tanh\""));
  EXPECT_THAT(error_with("transformer-train-position-embeddings", "true"),
              Names("transformer-train-position-embeddings ... \"true\""));
  EXPECT_THAT(error_with("transformer-heads", "three"), Names("three ... number"));
  EXPECT_THAT(error_with("transformer-heads", "3"),
              Names("transformer-heads ... 3 ... dim-emb ... 16"));
  EXPECT_THAT(error_with("enc-depth", "99999999999"), Names("enc-depth ... 99999999999"));
  EXPECT_THAT(error_with("dim-emb", "32"), Names("Wemb ... [300, 16] ... [300, 32]"));
}

TEST_F(Marian, DamageIsNamed) {
  write_model(kOptions, "encoder_l1_self_Wq");
  EXPECT_THAT(error(), Names("model.npz ... no tensor ... encoder_l1_self_Wq"));
  write_model(kOptions, "encoder_l1_ffn_W1", true);
  EXPECT_THAT(error(), Names("encoder_l1_ffn_W1 ... [24, 16] ... [16, 24]"));
  write_model(kOptions, "special:model.yml");
  EXPECT_THAT(error(), Names("not a model ... Marian"));
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
  EXPECT_THAT(import_error(ours), Names("model of this program"));
  fs::remove(ours);
  fs::remove(folder_.path() / "vocab.spm");
  EXPECT_THAT(error(), Names("decoder.yml ... vocab.spm"));
  write_file(folder_.path() / "decoder.yml", "models: [a.npz, b.npz]\nvocabs: [v.spm, v.spm]\n");
  EXPECT_THAT(error(), Names("decoder.yml ... 2 models"));
  write_file(folder_.path() / "model.bin", std::string("\1\0\0\0\0\0\0\0", 8));
  write_file(folder_.path() / "decoder.yml", "models: [model.bin]\nvocabs: [v.spm, v.spm]\n");
  EXPECT_THAT(error(), Names("8 bits ... intgemm"));
  EXPECT_THAT(import_error(folder_.path() / "model.bin"), Names("model.bin ... binary model"));
  fs::rename(folder_.path() / "decoder.yml", folder_.path() / "other");
  fs::rename(folder_.path() / "model.npz", folder_.path() / "other.model");
  for (const char* name : {"model.bin", "model.intgemm.alphas.bin"}) {
    EXPECT_THAT(error(), Names(std::string("has ") + name +
                               " ... binary model ... Marian ... 8 bits ... intgemm"));
    if (std::string(name) == "model.bin")
      fs::rename(folder_.path() / name, folder_.path() / "model.intgemm.alphas.bin");
  }
  fs::rename(folder_.path() / "model.intgemm.alphas.bin", folder_.path() / "model.bin");
  fs::rename(folder_.path() / "other.model", folder_.path() / "model.npz");
  write_file(folder_.path() / "v.yml", "</s>: 0\n<unk>: 1\n");
  write_file(folder_.path() / "decoder.yml", "models: [model.npz]\nvocabs: [v.yml, v.yml]\n");
  EXPECT_THAT(error(), Names("v.yml ... SentencePiece model ... source.spm"));
  fs::remove(folder_.path() / "decoder.yml");
  fs::remove(folder_.path() / "model.bin");
  EXPECT_THAT(import_error(folder_.path() / "model.npz"), Names("model.npz ... decoder.yml"));
  const Names without("model.npz ... one decoder.yml ... Marian");
  EXPECT_THAT(error(), without);
  // Names both the checkpoint beside it and the model.
  for (const std::string& bytes :
       {std::string("junk"), checkpoint_of(pickle_of(dict_op({})), {})}) {
    write_file(folder_.path() / "other.pt", bytes);
    EXPECT_THAT(error(), AllOf(HasSubstr("other.pt: "), without));
  }
  write_file(folder_.path() / "third.pt", "junk");
  EXPECT_THAT(error(), AllOf(Names("several checkpoints"), without));
}

}  // namespace
}  // namespace dragoman
