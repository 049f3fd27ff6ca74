#include "extras/formats/import_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/files.h"
#include "tests/extras/formats/checkpoint_bytes.h"
#include "tests/extras/formats/random_model.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::StartsWith;
namespace fs = std::filesystem;

constexpr const char *kTrue = "\x88", *kFalse = "\x89";

/// Names of options and their opcodes.
std::string float_op(double number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  std::reverse(bytes.begin(), bytes.end());  // big endian
  return "G" + bytes;
}
std::string list_op(const std::vector<std::string>& texts) {
  std::string opcodes = "](";
  for (const std::string& text : texts) opcodes += text_op(text);
  return opcodes + "e";
}

const Options kModel = {{"encoder_type", text_op("transformer")},
                        {"decoder_type", text_op("transformer")},
                        {"model_task", text_op("seq2seq")},
                        {"enc_hid_size", number_op(16)},
                        {"dec_hid_size", number_op(16)},
                        {"transformer_ff", number_op(24)},
                        {"heads", number_op(2)},
                        {"enc_layers", number_op(2)},
                        {"dec_layers", number_op(1)},
                        {"position_encoding", kTrue},
                        {"pos_ffn_activation_fn", text_op("gelu")},
                        {"add_qkvbias", kTrue},
                        {"add_ffnbias", kTrue},
                        {"norm_eps", float_op(1e-6)},
                        {"share_vocab", kTrue},
                        {"share_embeddings", kTrue},
                        {"share_decoder_embeddings", kTrue},
                        {"dropout", "](" + float_op(0.2) + "e"},
                        {"src_subword_model", text_op("/elsewhere/joint.model")}};

/// The name of a tensor, as the package has it; those of the output begin with "generator.".
std::string opennmt_name(std::string name, bool is_gated) {
  const bool is_decoder = name.starts_with("decoder");
  name = renamed(name, {{"encoder.layers", "encoder.transformer"},
                        {"decoder.layers", "decoder.transformer_layers"},
                        {"self_attention_norm", is_decoder ? "layer_norm_1" : "layer_norm"},
                        {"cross_attention_norm", "layer_norm_2"},
                        {"feed_forward_norm", "feed_forward.layer_norm"},
                        {"self_attention.", "self_attn."},
                        {"cross_attention.", "context_attn."},
                        {"feed_forward.inner", is_gated ? "feed_forward.w_3" : "feed_forward.w_1"},
                        {"feed_forward.gate", "feed_forward.w_1"},
                        {"feed_forward.outer", "feed_forward.w_2"},
                        {".query.", ".linear_query."},
                        {".key.", ".linear_keys."},
                        {".value.", ".linear_values."},
                        {"attn.output.", "attn.final_linear."},
                        {"coder.norm.", "coder.layer_norm."}});
  if (name == "embedding.weight" || name == "embedding.source.weight")
    return "encoder.embeddings.make_embedding.emb_luts.0.weight";
  if (name == "embedding.target.weight")
    return "decoder.embeddings.make_embedding.emb_luts.0.weight";
  if (name.starts_with("output.")) return "generator." + name.substr(7);
  return name;
}

/// A folder with a model of OpenNMT-py.
class OpenNmt : public testing::Test {
 protected:
  OpenNmt() {
    write_file(folder_.path() / "joint.model", small_tokenizer().model_bytes());
    make(Tying::ThreeWay, Activation::Gelu);
    write({});
  }

  void make(Tying tying, Activation activation) {
    model_ = random_model(tying, activation, NormPosition::Before);
    resize_vocabulary(model_, pieces_.size());
  }

  struct Written {
    Options options = {};  ///< that differ from kModel's
    std::string but = "";  ///< a tensor that is left out
    std::string extra = "";
    Options vocabulary = {};
    bool has_weights = true;
  };
  void write(const Written& written) const {
    Options options = kModel;
    for (const auto& [name, opcodes] : written.options) options[name] = opcodes;
    const bool is_gated = dragoman::is_gated(model_.config.activation);
    // One dict has the tensors, so that their storages have different keys.
    StateDict all;
    std::vector<std::string> model, generator;
    for (const ParameterShape& parameter : parameter_shapes(model_.config)) {
      const std::string name = opennmt_name(parameter.name, is_gated);
      if (name == written.but) continue;
      add(all, name, parameter.shape, model_.parameters.at(parameter.name), model, generator);
    }
    if (model_.config.tying == Tying::ThreeWay)  // is saved again
      add(all, "generator.weight", {model_.config.target_vocabulary, 16},
          model_.parameters.at("embedding.weight"), model, generator);
    for (const char* side : {"encoder", "decoder"})
      add(all, std::string(side) + ".embeddings.make_embedding.pe.pe", {4, 1, 16},
          random_floats(64, 1, 1), model, generator);
    if (!written.extra.empty()) add(all, written.extra, {2}, {1, 2}, model, generator);
    Options vocabulary = {{"src", list_op(pieces_)},
                          {"tgt", list_op(pieces_)},
                          {"data_task", text_op("seq2seq")},
                          {"decoder_start_token", text_op("<s>")}};
    for (const auto& [name, opcodes] : written.vocabulary) vocabulary[name] = opcodes;
    Options root = {{"opt", namespace_of(options)}, {"vocab", dict_of(vocabulary)}, {"optim", "}"}};
    if (written.has_weights) {
      root["model"] = dict_op(model);
      root["generator"] = dict_op(generator);
    }
    write_file(checkpoint(),
               checkpoint_of(pickle_of(dict_of(root)),
                             written.has_weights ? all.storages() : std::vector<std::string>{}));
  }

  fs::path checkpoint() const { return folder_.path() / "model_step_50.pt"; }
  std::string error() const { return import_error(folder_.path()); }
  std::string error_with(const Written& written) const {
    write(written);
    return error();
  }
  std::string error_with(const std::string& name, const std::string& opcodes) const {
    return error_with({.options = {{name, opcodes}}});
  }

  ForeignModel model_;
  const std::vector<std::string> pieces_ = pieces_after({"<unk>", "<blank>", "<s>", "</s>"});
  ScratchFolder folder_{fs::temp_directory_path() / "dragoman-opennmt"};

 private:
  static void add(StateDict& all, const std::string& name, const std::vector<std::int64_t>& shape,
                  const std::vector<float>& values, std::vector<std::string>& model,
                  std::vector<std::string>& generator) {
    constexpr std::string_view kGenerator = "generator.";
    const std::string opcodes =
        all.tensor(std::vector<int>(shape.begin(), shape.end()), values).opcodes();
    const bool is_output = name.starts_with(kGenerator);
    auto& items = is_output ? generator : model;
    items.insert(items.end(),
                 {text_op(is_output ? name.substr(kGenerator.size()) : name), opcodes});
  }
};

TEST_F(OpenNmt, ACheckpointIsReadAsItsOptionsSay) {
  for (const fs::path& path : {folder_.path(), checkpoint()}) {
    const ForeignModel read = import_model(path);
    EXPECT_EQ(read.kind, "OpenNMT-py");
    EXPECT_EQ(read.parameters, model_.parameters);
    EXPECT_EQ(read.config.norm, NormPosition::Before);
    EXPECT_EQ(read.config.norm_epsilon, 1e-6);
    EXPECT_EQ(read.config.activation, Activation::Gelu);
    EXPECT_EQ(read.config.tying, Tying::ThreeWay);
    EXPECT_EQ(read.config.positions, Positions::Sinusoidal);
    EXPECT_EQ(read.columns, ColumnOrder::Alternating);
    EXPECT_EQ(read.config.dropout, 0.2);
    EXPECT_EQ(read.config.unk_id, 0);
    EXPECT_EQ(read.config.eos_id, 3);
    EXPECT_EQ(read.source.pieces, pieces_);
    EXPECT_EQ(read.embedding_scale, 4);
    const auto& embedding = model_.parameters.at("embedding.weight");
    EXPECT_EQ(read.start,
              std::vector<float>(embedding.begin() + 2 * 16, embedding.begin() + 3 * 16));
  }
}

TEST_F(OpenNmt, SourcesHaveNoEnd) {
  const ForeignModel read = import_model(checkpoint());
  EXPECT_FALSE(read.config.source_eos);
  EXPECT_FALSE(to_imported(read).config.source_eos);
}

TEST_F(OpenNmt, EmbeddingsAreSharedAsItsOptionsSay) {
  make(Tying::TwoWay, Activation::Gelu);
  write({.options = {{"share_embeddings", kFalse}}, .but = "", .extra = ""});
  EXPECT_EQ(import_model(checkpoint()).parameters, model_.parameters);
  make(Tying::None, Activation::Gelu);
  write({.options = {{"share_embeddings", kFalse}, {"share_decoder_embeddings", kFalse}}});
  EXPECT_EQ(import_model(checkpoint()).parameters, model_.parameters);
}

TEST_F(OpenNmt, AGatedNetworksFirstMatrixIsItsGate) {
  const std::pair<const char*, Activation> kinds[] = {{"silu", Activation::GatedSwish},
                                                      {"gated-gelu", Activation::GatedGelu}};
  for (const auto& [name, activation] : kinds) {
    make(Tying::ThreeWay, activation);
    write({.options = {{"pos_ffn_activation_fn", text_op(name)}}});
    const ForeignModel read = import_model(checkpoint());
    EXPECT_EQ(read.config.activation, activation);
    EXPECT_EQ(read.parameters, model_.parameters);
  }
}

TEST_F(OpenNmt, LayersMayHaveNoBias) {
  const std::string name = "decoder.layers.0.cross_attention.output.bias";
  write({.options = {{"add_qkvbias", kFalse}}, .but = opennmt_name(name, false)});
  EXPECT_EQ(import_model(checkpoint()).parameters.at(name), std::vector<float>(16));
  const std::string inner = "encoder.layers.1.feed_forward.inner.bias";
  write({.options = {{"add_ffnbias", kFalse}}, .but = opennmt_name(inner, false)});
  EXPECT_EQ(import_model(checkpoint()).parameters.at(inner), std::vector<float>(24));
}

TEST_F(OpenNmt, PositionsMayStandInHalves) {
  write({.options = {{"position_encoding_type", text_op("SinusoidalConcat")}}});
  const ForeignModel read = import_model(checkpoint());
  EXPECT_EQ(read.columns, ColumnOrder::Halves);
  EXPECT_EQ(read.config.positions, Positions::Marian);
  EXPECT_EQ(read.first_position, 0);
}

TEST_F(OpenNmt, TheSearchIsThatOfItsTranslator) {
  const DecodeDefaults expected = {
      {"beam-size", "5"}, {"length-penalty", "0"}, {"stop", "opennmt"}};
  EXPECT_EQ(import_model(checkpoint()).search.defaults, expected);
}

TEST_F(OpenNmt, AnUnknownChoiceIsNamed) {
  const auto expect = [](const std::string& error, const std::string& what) {
    EXPECT_THAT(error, Names(what));
  };
  expect(error_with("encoder_type", text_op("brnn")), "encoder_type ... \"brnn\"");
  expect(error_with("decoder_type", text_op("transformer_lm")), "\"transformer_lm\"");
  expect(error_with("model_task", text_op("lm")), "model_task: \"lm\"");
  expect(error_with("position_encoding", kFalse), "position_encoding");
  expect(error_with("position_encoding_type", text_op("Learned")), "position_encoding_type");
  expect(error_with("max_relative_positions", number_op(20)), "max_relative_positions: relative");
  expect(error_with("max_relative_positions", number_op(-1)), "max_relative_positions");
  expect(error_with("self_attn_type", text_op("average")), "self_attn_type: \"average\"");
  expect(error_with("layer_norm", text_op("rms")), "layer_norm: \"rms\"");
  expect(error_with("generator_function", text_op("sparsemax")), "generator_function");
  expect(error_with("copy_attn", kTrue), "copy_attn");
  expect(error_with("parallel_residual", kTrue), "parallel_residual");
  expect(error_with("num_kv", number_op(1)), "num_kv: fewer heads");
  expect(error_with("num_experts", number_op(8)), "num_experts");
  expect(error_with("n_src_feats", number_op(1)), "n_src_feats");
  expect(error_with("pos_ffn_activation_fn", text_op("tanh")), "pos_ffn_activation_fn: \"tanh\"");
  expect(error_with("lora_layers", list_op({"linear_values"})), "lora_layers");
  expect(error_with("transforms", list_op({"filtertoolong", "bpe"})), "transforms: \"bpe\"");
  expect(error_with("dec_hid_size", number_op(32)), "dec_hid_size");
  expect(error_with("enc_layers", number_op(2'000'000'000)), "enc_layers ... 2000000000");
  expect(error_with("norm_eps", text_op("small")), "norm_eps");
  expect(error_with({.vocabulary = {{"decoder_start_token", text_op("")}}}), "decoder_start_token");
  expect(error_with({.vocabulary = {{"decoder_start_token", text_op("<nn>")}}}),
         "vocabulary ... <nn>");
}

TEST_F(OpenNmt, AnUnfitFileIsNamed) {
  const auto expect = [&](const Written& written, const std::string& what) {
    EXPECT_THAT(error_with(written), AllOf(StartsWith(checkpoint().string()), Names(what)));
  };
  expect({.but = "encoder.transformer.1.self_attn.linear_keys.bias"},
         "no tensor ... encoder.transformer.1.self_attn.linear_keys.bias");
  expect({.but = "generator.bias"}, "no tensor ... generator.bias");
  expect({.extra = "decoder.transformer_layers.0.gate.weight"},
         "decoder.transformer_layers.0.gate.weight");
  expect({.has_weights = false}, "save_format safetensors");
  expect({.vocabulary = {{"src", "}"}}}, "pieces ... src");
  expect({.vocabulary = {{"tgt", list_op({"<unk>", "<s>", "</s>", "\u2581the"})}}},
         "two different vocabularies");
  write({});
  fs::remove(folder_.path() / "joint.model");
  EXPECT_THAT(error(), Names("SentencePiece model ... source"));
}

}  // namespace
}  // namespace dragoman
