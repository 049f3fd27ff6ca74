#include "extras/formats/import_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "extras/formats/plain_transformer.h"
#include "tests/extras/formats/checkpoint_bytes.h"
#include "tests/extras/formats/random_model.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;

/// Names of options and their opcodes.
const Options kModel = {{"arch", text_op("transformer_iwslt_de_en")},
                        {"_name", text_op("transformer")},  // of the model, in "args", too
                        {"bpe", text_op("")},
                        {"tokenizer", "N"},
                        {"encoder_embed_dim", number_op(16)},
                        {"encoder_ffn_embed_dim", number_op(24)},
                        {"encoder_attention_heads", number_op(2)},
                        {"encoder_layers", number_op(2)},
                        {"decoder_embed_dim", number_op(16)},
                        {"decoder_ffn_embed_dim", number_op(24)},
                        {"decoder_attention_heads", number_op(2)},
                        {"decoder_layers", number_op(1)},
                        {"activation_fn", text_op("gelu")},
                        {"share_all_embeddings", "\x88"},
                        {"adaptive_softmax_cutoff", "N"},
                        {"task", text_op("translation")},
                        {"source_lang", text_op("en")},
                        {"target_lang", text_op("de")}};

std::string with_layer_parts(std::string name) {
  name = renamed(name, {{"embedding_norm", "layernorm_embedding"},
                        {"self_attention_norm", "self_attn_layer_norm"},
                        {"cross_attention_norm", "encoder_attn_layer_norm"},
                        {"feed_forward_norm", "final_layer_norm"},
                        {"self_attention.", "self_attn."},
                        {"cross_attention.", "encoder_attn."},
                        {"feed_forward.inner", "fc1"},
                        {"feed_forward.outer", "fc2"},
                        {".query.", ".q_proj."},
                        {".key.", ".k_proj."},
                        {".value.", ".v_proj."},
                        {"attn.output.", "attn.out_proj."},
                        {"coder.norm.", "coder.layer_norm."}});
  return name == "embedding.weight" ? "encoder.embed_tokens.weight" : name;
}

/// A folder with a model of fairseq.
class Fairseq : public testing::Test {
 protected:
  Fairseq() : model_(random_model(Tying::ThreeWay, Activation::Gelu, NormPosition::After)) {
    for (const std::string& piece : pieces_after({})) dictionary_ += piece + " 7\n";
    model_.source.pieces = pieces_after({"<s>", "<pad>", "</s>", "<unk>"});
    model_.config.output_bias = false;
    resize_vocabulary(model_, model_.source.pieces.size());
    write_file(folder_.path() / "sentencepiece.model", small_tokenizer().model_bytes());
    for (const char* name : {"dict.en.txt", "dict.de.txt"})
      write_file(folder_.path() / name, dictionary_);
    write({.model = kModel});
  }

  struct Written {
    Options model;
    std::string but = "";  ///< a tensor that is left out
    std::string extra = "";
    Options groups = {};  ///< more groups of "cfg"
    bool is_old = false;  ///< options are in "args"
  };
  void write(const Written& written) const {
    StateDict dict = state_dict_of(model_, [&](const std::string& ours) {
      const std::string theirs = with_layer_parts(ours);
      return theirs == written.but ? "" : theirs;
    });
    dict.add("encoder.version", {1}, {3}).add("decoder.embed_positions._float_tensor", {1}, {1});
    dict.add("encoder.layers.0.fc1_weight", {1}, {0});  // a copy, as version 0.12 has it
    if (!written.extra.empty()) dict.add(written.extra, {2}, {1, 2});
    std::string root;
    if (written.is_old) {
      root =
          dict_op({text_op("args"), namespace_of(written.model), text_op("model"), dict.opcodes()});
    } else {
      Options groups = written.groups;
      groups["model"] = namespace_of(written.model);
      groups.emplace("task", dict_of({{"_name", text_op("translation")},
                                      {"source_lang", text_op("en")},
                                      {"target_lang", text_op("de")}}));
      root = dict_op({text_op("args"), "N", text_op("cfg"), dict_of(groups), text_op("model"),
                      dict.opcodes()});
    }
    write_file(folder_.path() / "checkpoint_best.pt",
               checkpoint_of(pickle_of(root), dict.storages()));
  }

  std::string error() const { return import_error(folder_.path()); }
  std::string error_with(const std::string& name, const std::string& opcodes) const {
    Options options = kModel;
    options[name] = opcodes;
    write({.model = options});
    return error();
  }
  std::string error_with_group(const std::string& name, const std::string& opcodes) const {
    write({.model = kModel, .groups = {{name, opcodes}}});
    return error();
  }

  ForeignModel model_;
  std::string dictionary_;
  ScratchFolder folder_{fs::temp_directory_path() / "dragoman-fairseq"};
};

TEST_F(Fairseq, ACheckpointIsReadAsItsOptionsSay) {
  for (const bool is_old : {false, true}) {
    write({.model = kModel, .is_old = is_old});
    for (const fs::path& path : {folder_.path(), folder_.path() / "checkpoint_best.pt"}) {
      const ForeignModel read = import_model(path);
      EXPECT_EQ(read.kind, "fairseq");
      EXPECT_EQ(read.parameters, model_.parameters);
      EXPECT_EQ(read.config.norm, NormPosition::After);
      EXPECT_EQ(read.config.norm_epsilon, 1e-5);
      EXPECT_EQ(read.config.activation, Activation::Gelu);
      EXPECT_EQ(read.config.tying, Tying::ThreeWay);
      EXPECT_EQ(read.config.eos_id, 2);
      EXPECT_EQ(read.config.unk_id, 3);
      EXPECT_EQ(read.embedding_scale, 4);
      const auto& embedding = model_.parameters.at("embedding.weight");
      EXPECT_EQ(read.start,
                std::vector<float>(embedding.begin() + 2 * 16, embedding.begin() + 3 * 16));
    }
  }
}

TEST_F(Fairseq, OptionsOfASideMayHaveAGroupOfTheirOwn) {
  Options options = kModel;
  options.erase("encoder_layers");
  options["encoder"] = dict_of({{"layers", number_op(2)}});
  options["decoder_layers"] = "N";
  options["decoder"] = dict_of({{"layers", number_op(1)}});
  write({.model = options});
  EXPECT_EQ(import_model(folder_.path()).parameters, model_.parameters);
  options["encoder"] = dict_of({{"layers", number_op(0)}});
  write({.model = options});
  EXPECT_THAT(error(), Names("(cfg) ... model.encoder.layers ... 0"));
}

TEST_F(Fairseq, PositionsBeginAfterPadding) {
  const ForeignModel read = import_model(folder_.path());
  EXPECT_EQ(read.columns, ColumnOrder::Halves);
  EXPECT_EQ(read.config.positions, Positions::Marian);
  // sinusoidal_positional_embedding.py: row 2 of the table, whose last frequency is 1 / 10000
  EXPECT_NEAR(plain_position(read, 0, 0), std::sin(2), 1e-9);
  EXPECT_NEAR(plain_position(read, 1, 7), std::sin(3e-4), 1e-9);
  EXPECT_NEAR(plain_position(read, 1, 8), std::cos(3), 1e-9);
}

TEST_F(Fairseq, QueryKeyAndValueMayBeOneTensor) {
  StateDict dict = state_dict_of(model_, [](const std::string& ours) {
    const std::string theirs = with_layer_parts(ours);
    return theirs.starts_with("encoder.layers.1.self_attn.") &&
                   !theirs.ends_with("out_proj.weight") && !theirs.ends_with("out_proj.bias")
               ? ""
               : theirs;
  });
  for (const char* kind : {"weight", "bias"}) {
    std::vector<float> all;
    for (const char* part : {"query", "key", "value"}) {
      const auto& values =
          model_.parameters.at(join_text("encoder.layers.1.self_attention.", part, ".", kind));
      all.insert(all.end(), values.begin(), values.end());
    }
    const bool is_matrix = kind == std::string("weight");
    dict.add(std::string("encoder.layers.1.self_attn.in_proj_") + kind,
             is_matrix ? std::vector<int>{48, 16} : std::vector<int>{48}, all);
  }
  const std::string root =
      dict_op({text_op("args"), namespace_of(kModel), text_op("model"), dict.opcodes()});
  write_file(folder_.path() / "checkpoint_best.pt",
             checkpoint_of(pickle_of(root), dict.storages()));
  EXPECT_EQ(import_model(folder_.path()).parameters, model_.parameters);
}

TEST_F(Fairseq, NormalisedEmbeddingsAreRead) {
  model_.config.embedding_norm = true;
  fill(model_);
  Options options = kModel;
  options["layernorm_embedding"] = "\x88";
  write({.model = options});
  const ForeignModel read = import_model(folder_.path());
  EXPECT_TRUE(read.config.embedding_norm);
  EXPECT_EQ(read.parameters, model_.parameters);
}

TEST_F(Fairseq, TheSearchIsThatOfTheCheckpoint) {
  const auto defaults_with = [this](const Options& generation) {
    write({.model = kModel, .groups = {{"generation", dict_of(generation)}}});
    return import_model(folder_.path()).search.defaults;
  };
  EXPECT_EQ(defaults_with({}), (DecodeDefaults{{"beam-size", "5"},
                                               {"length-penalty", "1"},
                                               {"max-length", "201"},
                                               {"max-length-ratio", "1000"},
                                               {"min-length", "1"},
                                               {"stop", "fairseq"}}));
  const auto named = defaults_with({{"beam", number_op(4)}, {"max_len_b", number_op(99)}});
  EXPECT_EQ(named.at("beam-size"), "4");
  EXPECT_EQ(named.at("max-length"), "100");
  const auto with_ratio = defaults_with({{"max_len_a", number_op(2)}});
  EXPECT_EQ(with_ratio.at("max-length-ratio"), "2");
  EXPECT_FALSE(with_ratio.contains("max-length"));
  const auto others = defaults_with({{"min_len", number_op(3)},
                                     {"no_repeat_ngram_size", number_op(4)},
                                     {"lenpen", number_op(2)},
                                     {"unnormalized", "\x88"}});
  EXPECT_EQ(others.at("min-length"), "3");
  EXPECT_EQ(others.at("no-repeat-ngram-size"), "4");
  EXPECT_EQ(others.at("length-penalty"), "0");
}

TEST_F(Fairseq, SettingsOfTheSearchThatWeDoNotHaveAreNamed) {
  const auto left_out = [this](const Options& generation) {
    write({.model = kModel, .groups = {{"generation", dict_of(generation)}}});
    return import_model(folder_.path()).search.left_out;
  };
  EXPECT_THAT(left_out({{"sampling", "\x89"},
                        {"temperature", number_op(1)},
                        {"diverse_beam_groups", number_op(-1)},
                        {"lm_path", "N"},
                        {"nbest", number_op(1)}}),
              testing::IsEmpty());
  EXPECT_THAT(left_out({{"sampling", "\x88"},
                        {"temperature", number_op(2)},
                        {"diverse_beam_groups", number_op(2)},
                        {"lm_path", text_op("lm.pt")}}),
              testing::ElementsAre("generation.diverse_beam_groups", "generation.lm_path",
                                   "generation.sampling", "generation.temperature"));
}

TEST_F(Fairseq, ASearchThatCannotBeIsRefused) {
  const auto error_of = [this](const char* name, const std::string& opcodes) {
    return error_with_group("generation", dict_of({{name, opcodes}}));
  };
  EXPECT_THAT(error_of("beam", number_op(0)), Names("generation.beam ... 0 ... 1 ... 1000"));
  EXPECT_THAT(error_of("lenpen", number_op(-2)), Names("generation.lenpen ... -2 ... 0 ... 100"));
  EXPECT_THAT(error_of("max_len_b", number_op(2'000'000'000)),
              Names("generation.max_len_b ... 2000000000 ... 0 ... 99999"));
  EXPECT_THAT(error_of("min_len", number_op(-2)),
              Names("generation.min_len ... -2 ... 0 ... 100000"));
  EXPECT_THAT(error_of("min_len", number_op(201)),
              Names("generation.min_len ... longest translation"));
  EXPECT_THAT(error_of("no_repeat_ngram_size", number_op(-1)),
              Names("generation.no_repeat_ngram_size ... -1 ... 0 ... 1000"));
  EXPECT_THAT(error_of("max_len_a", number_op(2'000'000'000)),
              Names("generation.max_len_a ... 2e+09 ... 0.01 ... 1000"));
}

TEST_F(Fairseq, AnUnknownChoiceIsNamed) {
  const auto expect = [](const std::string& error, const std::string& what) {
    EXPECT_THAT(error, Names(what));
  };
  expect(error_with("arch", text_op("fconv")), "model.arch ... \"fconv\"");
  expect(error_with("arch", text_op("transformer_lm")), "\"transformer_lm\"");
  expect(error_with("activation_fn", text_op("gelu_fast")), "model.activation_fn: \"gelu_fast\"");
  expect(error_with("adaptive_input", "\x88"), "model.adaptive_input");
  expect(error_with("adaptive_softmax_cutoff", text_op("[100, 200]")), "adaptive softmax");
  expect(error_with("no_cross_attention", "\x88"), "model.no_cross_attention");
  expect(error_with("encoder_layers_to_keep", text_op("0,1")), "model.encoder_layers_to_keep");
  expect(error_with("quant_noise_pq", std::string("G") + std::string("\x3f\xc0\0\0\0\0\0\0", 8)),
         "quantised");
  expect(error_with("decoder_embed_dim", number_op(32)), "model.decoder_embed_dim");
  expect(error_with("decoder_normalize_before", "\x88"), "model.decoder_normalize_before");
  expect(error_with("encoder_layers", number_op(2'000'000'000)),
         "model.encoder_layers ... 2000000000");
  expect(error_with("encoder_layers", text_op("two")), "two ... number");
  expect(
      error_with("share_all_embeddings", global_op("os", "system") + "(" + text_op("true") + "tR"),
      "os.system ... true ... false");
  const auto named = [](const char* name) { return dict_of({{"_name", text_op(name)}}); };
  expect(error_with_group("bpe", named("subword_nmt")), "bpe._name: \"subword_nmt\"");
  expect(error_with_group("tokenizer", named("moses")), "tokenizer._name: \"moses\"");
  expect(error_with_group("task", named("translation_multi_simple_epoch")), "task._name");
}

TEST_F(Fairseq, AnUnfitFileIsNamed) {
  const auto file = [this](const char* name) { return (folder_.path() / name).string(); };
  const auto expect = [&](const char* name, const std::string& what) {
    EXPECT_THAT(error(), AllOf(StartsWith(file(name)), Names(what)));
  };
  write({.model = kModel, .but = "decoder.layers.0.encoder_attn.k_proj.bias"});
  expect("checkpoint_best.pt", "no tensor ... decoder.layers.0.encoder_attn.k_proj.bias");
  write({.model = kModel, .extra = "encoder.layers.0.adapter.weight"});
  expect("checkpoint_best.pt", "encoder.layers.0.adapter.weight");
  write({.model = kModel});
  write_file(file("dict.de.txt"), dictionary_ + "piece\n");
  expect("dict.de.txt",
         join_text("line ", model_.source.pieces.size() - 3, " ... piece ... count"));
  write_file(file("dict.de.txt"), dictionary_ + "piece 1\n");
  expect("checkpoint_best.pt", "two different vocabularies");
  for (const char* name : {"dict.en.txt", "dict.de.txt"})
    write_file(file(name), dictionary_ + "piece 1\n");
  expect("checkpoint_best.pt", "encoder.embed_tokens.weight ... shape");
  write_file(file("dict.en.txt"), "th@@ 5\ne 4\n");
  expect("sentencepiece.model", "subword-nmt");
  fs::remove(file("dict.en.txt"));
  EXPECT_THAT(error(), Names("dictionary ... source ... dict.en.txt"));
  write_file(file("dict.en.txt"), dictionary_);
  fs::remove(file("sentencepiece.model"));
  EXPECT_THAT(error(), Names("SentencePiece model ... source"));
}

TEST_F(Fairseq, LanguagesThatAreNotNamedNeedOneDictionaryOrTheSides) {
  const auto task = dict_of({{"_name", text_op("translation")}, {"source_lang", "N"}});
  write({.model = kModel, .groups = {{"task", task}}});
  EXPECT_EQ(import_model(folder_.path()).source.pieces, model_.source.pieces);
  write_file(folder_.path() / "dict.de.txt", dictionary_ + "piece 1\n");
  EXPECT_THAT(error(), Names("dictionary ... source ... dict.src.txt"));
  for (const char* name : {"dict.src.txt", "dict.tgt.txt"})
    write_file(folder_.path() / name, dictionary_);
  EXPECT_EQ(import_model(folder_.path()).source.pieces, model_.source.pieces);
}

TEST_F(Fairseq, AnotherCheckpointIsNamed) {
  const auto error_of = [this](const std::vector<std::string>& items) {
    write_file(folder_.path() / "checkpoint_best.pt", checkpoint_of(pickle_of(dict_op(items)), {}));
    return error();
  };
  EXPECT_THAT(error_of({text_op("weights"), "}"}), Names("no system"));
  EXPECT_THAT(error_of({text_op("model_state"), "}"}), HasSubstr("JoeyNMT without config.yaml"));
}

}  // namespace
}  // namespace dragoman
