#include "extras/formats/import_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/extras/formats/checkpoint_bytes.h"
#include "tests/extras/formats/random_model.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::StartsWith;
namespace fs = std::filesystem;

constexpr const char* kConfig = R"(name: "test"
data:
    train: "data/train"
    src:
        lang: "en"
        level: "bpe"
        tokenizer_type: "sentencepiece"
        tokenizer_cfg:
            model_file: "/elsewhere/sp.model"
    trg:
        lang: "de"
        level: "bpe"
        tokenizer_cfg:
            model_file: "/elsewhere/sp.model"
testing:
    beam_size: 5
    beam_alpha: 1.0
    eval_metrics: ["bleu"]
training:
    adam_betas: [0.9, 0.98]
model:
    initializer: "xavier_uniform"
    tied_embeddings: True
    tied_softmax: True
    encoder:
        type: "transformer"
        num_layers: 2
        num_heads: 2
        embeddings:
            embedding_dim: 16
            scale: True
        hidden_size: 16
        ff_size: 24
        layer_norm: "pre"
        activation: "gelu"
    decoder:
        type: "transformer"
        num_layers: 1
        num_heads: 2
        embeddings:
            embedding_dim: 16
            scale: True
        hidden_size: 16
        ff_size: 24
        layer_norm: "pre"
        activation: "gelu"
)";

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// The names of tensors, as the package has them.
std::string joeynmt_name(const std::string& ours) {
  if (ours == "embedding.weight") return "src_embed.lut.weight";
  const bool is_decoder = ours.starts_with("decoder");
  return renamed(ours, {{".norm.", ".layer_norm."},
                        {"self_attention_norm", is_decoder ? "x_layer_norm" : "layer_norm"},
                        {"self_attention", is_decoder ? "trg_trg_att" : "src_src_att"},
                        {"cross_attention_norm", "dec_layer_norm"},
                        {"cross_attention", "src_trg_att"},
                        {"feed_forward_norm", "feed_forward.layer_norm"},
                        {"inner", "pwff_layer.0"},
                        {"outer", "pwff_layer.3"},
                        {".query.", ".q_layer."},
                        {".key.", ".k_layer."},
                        {".value.", ".v_layer."},
                        {".output.", ".output_layer."}});
}

/// A folder with a model of JoeyNMT.
class JoeyNmt : public testing::Test {
 protected:
  JoeyNmt() : model_(random_model(Tying::ThreeWay, Activation::Gelu, NormPosition::Before)) {
    auto& pieces = model_.source.pieces;
    pieces = pieces_after({"<unk>", "<pad>", "<s>", "</s>"});
    model_.config.output_bias = false;
    resize_vocabulary(model_, pieces.size());
    write_file(folder_.path() / "sp.model", small_tokenizer().model_bytes());
    write_vocabularies(joined(pieces));
    write_file(folder_.path() / "config.yaml", kConfig);
    write_checkpoint(state_dict());
  }

  StateDict state_dict(const std::string& but = "") const {
    StateDict dict = state_dict_of(model_, [&](const std::string& ours) {
      const std::string theirs = joeynmt_name(ours);
      return theirs == but ? "" : theirs;
    });
    return dict.add("encoder.pe.pe", {1, 4, 16}, random_floats(64, 1, 1));
  }
  void write_checkpoint(const StateDict& dict) const {
    const std::string root =
        dict_op({text_op("model_state"), dict.opcodes(), text_op("stats_state"),
                 dict_op({text_op("steps"), number_op(5)})});
    write_file(folder_.path() / "best.ckpt", checkpoint_of(pickle_of(root), dict.storages()));
  }
  void write_vocabularies(const std::string& text) const {
    write_file(folder_.path() / "src_vocab.txt", text);
    write_file(folder_.path() / "trg_vocab.txt", text);
  }

  std::string error() const { return import_error(folder_.path()); }
  /// The error for a configuration in which every `from` is replaced by `to`.
  std::string error_with(const std::string& from, const std::string& to) const {
    std::string config = kConfig;
    std::size_t at = config.find(from);
    EXPECT_NE(at, config.npos) << from;
    for (; at != config.npos; at = config.find(from, at + to.size()))
      config.replace(at, from.size(), to);
    write_file(folder_.path() / "config.yaml", config);
    return error();
  }

  ForeignModel model_;
  ScratchFolder folder_{fs::temp_directory_path() / "dragoman-joeynmt"};
};

TEST_F(JoeyNmt, AModelIsReadAsItsSettingsSay) {
  for (const fs::path& path : {folder_.path(), folder_.path() / "best.ckpt"}) {
    const ForeignModel read = import_model(path);
    EXPECT_EQ(read.kind, "JoeyNMT");
    EXPECT_EQ(read.parameters, model_.parameters);
    EXPECT_EQ(read.columns, ColumnOrder::Alternating);
    EXPECT_EQ(read.config.positions, Positions::Sinusoidal);
    EXPECT_EQ(read.config.norm, NormPosition::Before);
    EXPECT_EQ(read.config.norm_epsilon, 1e-6);
    EXPECT_EQ(read.config.activation, Activation::Gelu);
    EXPECT_EQ(read.config.tying, Tying::ThreeWay);
    EXPECT_EQ(read.config.eos_id, 3);
    EXPECT_EQ(read.embedding_scale, 4);
    const auto& embedding = model_.parameters.at("embedding.weight");
    EXPECT_EQ(read.start,
              std::vector<float>(embedding.begin() + 2 * 16, embedding.begin() + 3 * 16));
    EXPECT_EQ(read.search.defaults.at("length-penalty-kind"), "gnmt");
    EXPECT_EQ(read.search.defaults.at("beam-size"), "5");
    EXPECT_EQ(to_imported(read).config.positions, Positions::Learned);
  }
}

TEST_F(JoeyNmt, VersionOneNormalisesBeforeSubLayersAndHasOneLevelForBothSides) {
  std::string config = kConfig;
  const auto drop = [&config](const std::string& line) {
    std::size_t at = config.find(line);
    ASSERT_NE(at, config.npos);
    for (; at != config.npos; at = config.find(line)) config.erase(at, line.size());
  };
  drop("        layer_norm: \"pre\"\n");
  drop("        level: \"bpe\"\n");
  drop("        tokenizer_type: \"sentencepiece\"\n");
  config.insert(config.find("    src:"), "    level: \"bpe\"\n    lowercase: False\n");
  write_file(folder_.path() / "config.yaml", config);
  EXPECT_EQ(import_model(folder_.path()).parameters, model_.parameters);
  // Version 2 without a last normalisation has defaults for both stacks that our model lacks.
  write_checkpoint(state_dict("encoder.layer_norm.weight"));
  EXPECT_THAT(error(), Names("model.encoder.layer_norm ... \"\" ... pre ... post"));
}

TEST_F(JoeyNmt, SignsOfTheVocabularyAreNeverProduced) {
  const ImportedModel ours = to_imported(import_model(folder_.path()));
  const Tokenizer target(ours.target_tokenizer, "the target tokenizer");
  EXPECT_THAT(target.never_emitted(), testing::IsSupersetOf({0, 1, 2}));
}

TEST_F(JoeyNmt, TextIsNotCutIntoPiecesThatTheVocabularyLacks) {
  const std::string line = sample_text(1).front();
  const Tokenizer all(small_tokenizer().model_bytes(), "all");
  const std::vector<std::string> pieces = all.pieces(line);
  const auto longest = std::ranges::max_element(pieces, {}, &std::string::size);
  std::vector<std::string> left = model_.source.pieces;
  std::erase(left, *longest);
  resize_vocabulary(model_, left.size());
  write_checkpoint(state_dict());
  write_vocabularies(joined(left));
  const ForeignModel read = import_model(folder_.path());
  const Tokenizer restricted(read.source.sentencepiece, "restricted");
  EXPECT_THAT(restricted.pieces(line), testing::Not(testing::Contains(*longest)));
  EXPECT_THAT(their_tokens(read.source, restricted, -1, line), testing::Not(testing::Contains(-1)));
}

TEST_F(JoeyNmt, AnUnknownChoiceIsNamed) {
  const std::vector<std::array<std::string, 3>> cases = {
      {"\"transformer\"", "\"recurrent\"", "model.encoder.type: \"recurrent\""},
      {"activation: \"gelu\"", "activation: \"tanh\"", "model.encoder.activation: \"tanh\""},
      {"layer_norm: \"pre\"", "layer_norm: \"none\"", "model.encoder.layer_norm"},
      {"\"xavier_uniform\"", "\"xavier_normal\"", "model.initializer"},
      {"ff_size: 24", "ff_size: 24\n        alpha: 1.5", "model.encoder.alpha"},
      {"level: \"bpe\"", "level: \"word\"", "data.src.level: \"word\""},
      {"\"sentencepiece\"", "\"subword-nmt\"", "data.src.tokenizer_type: \"subword-nmt\""},
      {"lang: \"en\"", "lang: \"en\"\n        lowercase: True", "data.src.lowercase"},
      {"lang: \"de\"", "lang: \"de\"\n        normalize: True", "data.trg.normalize"},
      {"model_file:", "pretokenizer: \"moses\"\n            model_file:", "pretokenizer"},
      {"testing:", "    special_symbols:\n        lang_tags: [\"<de>\"]\ntesting:", "lang_tags"},
      {"num_heads: 2", "num_heads: 3", "model.encoder.num_heads: 3 heads do not divide model"},
      {"num_layers: 2", "num_layers: 900000000000",
       "model.encoder.num_layers: 900000000000 is not"},
      {"num_layers: 2", "num_layers: two", "model.encoder.num_layers: two is not a number"},
      {"beam_size: 5", "beam_size: 0", "testing.beam_size: 0: must be from 1 to 1000"},
      {"beam_alpha: 1.0", "beam_alpha: -3", "testing.beam_alpha: -3: must be from 0 to 100"},
      {"beam_size: 5", "beam_size: 5\n    beam_size: 6", "testing.beam_size: occurs twice"},
      {"hidden_size: 16", "hidden_size: 32", "embedding_dim: is not hidden_size"},
      {"testing:", "  - [", "line "},
      {"sp.model", "other.model", "has no SentencePiece model of the source"}};
  for (const auto& [from, to, what] : cases)
    EXPECT_THAT(error_with(from, to), AllOf(StartsWith(folder_.path().string()), Names(what)));
}

TEST_F(JoeyNmt, AnUnfitFileIsNamed) {
  const auto file = [this](const char* name) { return (folder_.path() / name).string(); };
  const auto expect = [&](const char* name, const std::string& what) {
    EXPECT_THAT(error(), AllOf(StartsWith(file(name)), Names(what)));
  };
  write_checkpoint(state_dict("encoder.layers.1.src_src_att.q_layer.weight"));
  expect("best.ckpt", "no tensor ... encoder.layers.1.src_src_att.q_layer.weight");
  write_checkpoint(state_dict().add("encoder.extra", {2}, {1, 2}));
  expect("best.ckpt", "encoder.extra");
  write_checkpoint(state_dict("encoder.layer_norm.bias").add("encoder.layer_norm.bias", {1}, {1}));
  expect("best.ckpt", "encoder.layer_norm.bias ... [1] ... [16]");
  write_file(file("best.ckpt"), checkpoint_of(pickle_of(dict_op({text_op("net"), "K\1"})), {}));
  expect("best.ckpt", "has no \"model_state\"");
  write_file(file("best.ckpt"), "");
  expect("best.ckpt", "empty");
  write_checkpoint(state_dict());
  write_vocabularies("<pad>\n<unk>\n");
  expect("src_vocab.txt", "line 1 ... <unk>");
  write_vocabularies("<unk>\n<pad>\n<s>\n</s>\nth@@\ne\n");
  expect("sp.model", "subword-nmt");
  fs::remove(file("trg_vocab.txt"));
  write_file(file("src_vocab.txt"), joined(model_.source.pieces));
  expect("trg_vocab.txt", "");
  fs::rename(file("best.ckpt"), file("500.ckpt"));
  EXPECT_THAT(error(), Names("best.ckpt ... latest.ckpt"));
}

}  // namespace
}  // namespace dragoman
