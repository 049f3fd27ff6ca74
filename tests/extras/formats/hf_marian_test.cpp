#include "extras/formats/hf_marian.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/json.h"
#include "extras/formats/import_model.h"
#include "model/file/safetensors.h"
#include "tests/extras/formats/random_model.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using testing::ThrowsMessage;
namespace fs = std::filesystem;

/// A folder of MarianMTModel, exported from a model of ours.
class HfMarian : public testing::Test {
 protected:
  HfMarian() { export_with({{"stop", "hf"}}); }

  std::vector<std::string> export_with(const DecodeDefaults& defaults,
                                       Unsupported unsupported = Unsupported::Refused) {
    ours_.decode_defaults = defaults;
    const fs::path file = folder_.path() / "model.safetensors";
    write_imported(ours_, file, "");
    fs::remove_all(exported());
    return write_hf_marian(ModelFileReader(file), exported(), unsupported);
  }

  fs::path exported() const { return folder_.path() / "export"; }
  nlohmann::json read(const char* name) const { return parse_json(read_file(exported() / name)); }
  /// The error of the import if a key of config.json has this value.
  std::string error_with(const char* key, const nlohmann::json& value) const {
    nlohmann::json config = read("config.json");
    config[key] = value;
    write_file(exported() / "config.json", json_text(config));
    return import_error(exported());
  }
  /// The search if this is generation_config.json.
  ForeignSearch search_of(const nlohmann::json& settings) const {
    write_file(exported() / "generation_config.json", json_text(settings));
    return import_model(exported()).search;
  }
  std::string error_of(const nlohmann::json& settings) const {
    write_file(exported() / "generation_config.json", json_text(settings));
    return import_error(exported());
  }

  ImportedModel ours_ = to_imported(random_model());
  ScratchFolder folder_{fs::temp_directory_path() / "dragoman-hf-marian"};
};

TEST_F(HfMarian, AnExportIsReadAsTheSameModel) {
  const ImportedModel read = to_imported(import_model(exported()));
  EXPECT_EQ(read.parameters, ours_.parameters);
  EXPECT_EQ(to_json(read.config), to_json(ours_.config));
}

TEST_F(HfMarian, EachWayToStopIsTheSameAfterExportAndImport) {
  const std::pair<const char*, nlohmann::json> names[] = {
      {"full", true}, {"hf", false}, {"exact", "never"}};
  for (const auto& [stop, early_stopping] : names) {
    export_with({{"stop", stop}});
    EXPECT_EQ(read("generation_config.json")["early_stopping"], early_stopping);
    EXPECT_EQ(import_model(exported()).search.defaults.at("stop"), stop);
  }
  export_with({});
  EXPECT_EQ(read("generation_config.json")["early_stopping"], true);
}

TEST_F(HfMarian, AnExportHasTheSettingsOfTheSearchAsNumbers) {
  export_with({{"beam-size", "1k"}, {"length-penalty", "0.5"}, {"max-length", "99"}});
  const nlohmann::json settings = read("generation_config.json");
  EXPECT_EQ(settings["num_beams"], 1000);
  EXPECT_EQ(settings["length_penalty"], 0.5);
  EXPECT_EQ(settings["max_length"], 100) << "with the token that the decoder begins with";
  EXPECT_EQ(settings["no_repeat_ngram_size"], 0);
  for (const char* name : {"beam-size", "length-penalty", "max-length", "no-repeat-ngram-size"})
    for (const char* bad : {"wide", "", "-1", "1e400", "nan", "9223372036854775807"})
      EXPECT_THAT(
          [&] {
            export_with({{name, bad}});
          },
          ThrowsMessage<Error>(HasSubstr(name)))
          << bad;
}

TEST_F(HfMarian, TwoVocabulariesBecomeEquallyLargeForTheirOneIdOfPadding) {
  for (const Side smaller : {Side::Source, Side::Target})
    for (const Tying tying : {Tying::TwoWay, Tying::None}) {
      ours_ = to_imported(model_of_two_vocabularies(smaller, tying));
      export_with({});
      const nlohmann::json config = read("config.json"), source = read("vocab.json"),
                           target = read("target_vocab.json");
      const std::size_t size = small_tokenizer().size() + std::size_t{1};
      ASSERT_LT(smaller_tokenizer().size(), small_tokenizer().size());
      EXPECT_EQ(config["vocab_size"], size);
      EXPECT_EQ(config["decoder_vocab_size"], size);
      for (const nlohmann::json& vocabulary : {source, target}) {
        EXPECT_EQ(vocabulary.size(), size);
        EXPECT_EQ(vocabulary["<pad>"], size - 1);
      }
      EXPECT_EQ(config["pad_token_id"], size - 1);
      const ImportedModel read = to_imported(import_model(exported()));
      EXPECT_EQ(read.parameters, ours_.parameters) << "after export and import";
      EXPECT_EQ(to_json(read.config), to_json(ours_.config));
    }
}

TEST_F(HfMarian, ThePadOfTheSourceIsNotThatOfTheTarget) {
  EXPECT_THAT(error_with("pad_token_id", 7), HasSubstr("\"decoder_start_token_id\": is not"));
  nlohmann::json config = read("config.json");
  config["pad_token_id"] = config["decoder_start_token_id"] = 7;
  write_file(exported() / "config.json", json_text(config));
  EXPECT_THAT(import_error(exported()), Names("\"pad_token_id\" ... <pad> ... target"));
}

TEST_F(HfMarian, TheSearchIsThatOfTheFolder) {
  const DecodeDefaults expected = {{"stop", "hf"},
                                   {"beam-size", "1"},
                                   {"length-penalty", "1"},
                                   {"max-length", "511"},
                                   {"max-length-ratio", "511"}};
  EXPECT_EQ(search_of(nlohmann::json::object()).defaults, expected);
  const DecodeDefaults defaults = search_of({{"num_beams", 4},
                                             {"length_penalty", 0.123456789},
                                             {"repetition_penalty", 1.3},
                                             {"no_repeat_ngram_size", 3},
                                             {"min_length", 4},
                                             {"max_length", 200},
                                             {"early_stopping", true}})
                                      .defaults;
  EXPECT_EQ(defaults, (DecodeDefaults{{"stop", "full"},
                                      {"beam-size", "4"},
                                      {"length-penalty", "0.123456789"},
                                      {"repetition-penalty", "1.3"},
                                      {"no-repeat-ngram-size", "3"},
                                      {"min-length", "3"},
                                      {"max-length", "199"},
                                      {"max-length-ratio", "199"}}));
  const DecodeDefaults of_new =
      search_of(
          {{"max_length", 20}, {"max_new_tokens", 99}, {"min_length", 9}, {"min_new_tokens", 2}})
          .defaults;
  EXPECT_EQ(of_new.at("max-length"), "99");
  EXPECT_EQ(of_new.at("min-length"), "2");
}

TEST_F(HfMarian, TokensThatAreNeverProducedAreSuppressed) {
  const std::int64_t padding = read("config.json")["pad_token_id"];
  const auto unk = static_cast<std::int64_t>(ours_.config.unk_id), eos = ours_.config.eos_id;
  EXPECT_THAT(search_of({{"bad_words_ids", {{padding}, {unk}, {eos}}}}).suppressed, IsEmpty());
  const ForeignSearch search =
      search_of({{"bad_words_ids", {{padding}, {20}, {10}}}, {"suppress_tokens", {12, 10}}});
  EXPECT_THAT(search.suppressed, ElementsAre(10, 12, 20));
  EXPECT_THAT(search.left_out, IsEmpty());
  const ImportedModel read = to_imported(import_model(exported()));
  const auto& tokenizer = small_tokenizer();
  EXPECT_EQ(read.decode_defaults.at("suppress"),
            text_of({tokenizer.piece(10), tokenizer.piece(12), tokenizer.piece(20)}));
  ours_ = read;
  export_with(read.decode_defaults);
  EXPECT_EQ(to_imported(import_model(exported())).decode_defaults, read.decode_defaults);
}

TEST_F(HfMarian, SettingsThatWeDoNotHaveAreNamed) {
  const ForeignSearch search = search_of({{"do_sample", true},
                                          {"num_beam_groups", 2},
                                          {"bad_words_ids", {{10, 11}, {12, 13}}},
                                          {"suppress_tokens", {ours_.config.eos_id}},
                                          {"forced_bos_token_id", 0},
                                          {"sequence_bias", {{{10}, 0.5}}},
                                          {"renormalize_logits", true}});
  EXPECT_EQ(search.file, (exported() / "generation_config.json").string());
  EXPECT_THAT(search.left_out, testing::UnorderedElementsAre(
                                   "do_sample", "num_beam_groups", "bad_words_ids",
                                   "suppress_tokens", "forced_bos_token_id", "sequence_bias"));
  EXPECT_THAT(search_of({{"do_sample", false},
                         {"num_beam_groups", 1},
                         {"diversity_penalty", 0.0},
                         {"encoder_repetition_penalty", 1.0},
                         {"force_words_ids", nullptr},
                         {"begin_suppress_tokens", nlohmann::json::array()}})
                  .left_out,
              IsEmpty());
}

TEST_F(HfMarian, SettingsThatCannotBeAreRefused) {
  const auto expect = [this](const nlohmann::json& settings, const std::string& what) {
    EXPECT_THAT(error_of(settings),
                AllOf(StartsWith((exported() / "generation_config.json").string()), Names(what)))
        << settings;
  };
  expect({{"num_beams", 1'000'000'000'000}}, "\"num_beams\" ... 1000000000000 ... 1 ... 1000");
  expect({{"num_beams", 0}}, "\"num_beams\" ... 0 ... 1 ... 1000");
  expect({{"num_beams", 18446744073709551615U}}, "\"num_beams\" ... too large");
  expect({{"length_penalty", 1e300}}, "\"length_penalty\" ... 1e+300 ... 0 ... 100");
  expect({{"length_penalty", -2}}, "\"length_penalty\" ... -2 ... 0 ... 100");
  expect({{"repetition_penalty", 0}}, "\"repetition_penalty\" ... 0 ... 0.01 ... 100");
  expect({{"no_repeat_ngram_size", -1}}, "\"no_repeat_ngram_size\" ... -1 ... 0 ... 1000");
  expect({{"max_length", 1}}, "\"max_length\" ... 1 ... 2 ... 100001");
  expect({{"max_length", 9'000'000'000'000'000'000}}, "\"max_length\" ... 2 ... 100001");
  expect({{"max_new_tokens", 0}}, "\"max_new_tokens\" ... 0 ... 1 ... 100000");
  expect({{"min_length", -1}}, "\"min_length\" ... -1 ... 1 ... 100001");
  expect({{"min_length", 30}, {"max_length", 20}}, "\"min_length\" ... longest translation");
  expect({{"bad_words_ids", 3}}, "\"bad_words_ids\" ... list");
  expect({{"bad_words_ids", {3}}}, "\"bad_words_ids\" ... list of ids");
  expect({{"bad_words_ids", {{99'999}}}}, "\"bad_words_ids\" ... 99999 ... no piece");
  expect({{"suppress_tokens", {18446744073709551615U}}}, "18446744073709551615");
  expect({{"suppress_tokens", {0.5}}}, "\"suppress_tokens\" ... whole number");
}

TEST_F(HfMarian, AnExportNamesTheSearchThatItCannotHold) {
  const std::pair<DecodeDefaults, const char*> settings[] = {
      {{{"coverage-penalty", "0.2"}}, "--coverage-penalty 0.2"},
      {{{"word-penalty", "0.5"}}, "--word-penalty 0.5"},
      {{{"length-penalty-kind", "gnmt"}}, "--length-penalty-kind gnmt"},
      {{{"max-length-ratio", "2"}, {"max-length", "100"}}, "--max-length-ratio 2"},
      {{{"stop", "marian"}}, "--stop marian"},
      {{{"stop", "fairseq"}}, "--stop fairseq"},
      {{{"stop", "opennmt"}}, "--stop opennmt"}};
  for (const auto& [defaults, name] : settings) {
    const DecodeDefaults& given = defaults;
    EXPECT_THAT([&] { export_with(given); },
                ThrowsMessage<Error>(AllOf(HasSubstr("MarianMTModel has no "), HasSubstr(name))));
    EXPECT_FALSE(fs::exists(exported()));
    EXPECT_THAT(export_with(defaults, Unsupported::LeftOut), ElementsAre(name));
    EXPECT_TRUE(fs::exists(exported()));
  }
  const DecodeDefaults held = {
      {"coverage-penalty", "0"},     {"length-penalty-kind", "average"},
      {"repetition-penalty", "1.5"}, {"suppress", small_tokenizer().piece(15)},
      {"min-length", "2"},           {"max-length", "60"},
      {"max-length-ratio", "60"}};
  EXPECT_THAT(export_with(held), IsEmpty());
  const nlohmann::json written = read("generation_config.json");
  EXPECT_EQ(written["repetition_penalty"], 1.5);
  EXPECT_EQ(written["min_length"], 3) << "with the token that the decoder begins with";
  EXPECT_EQ(written["bad_words_ids"], nlohmann::json({{written["pad_token_id"].get<int>()}, {15}}));
  EXPECT_THAT(
      [&] {
        export_with({{"suppress", "no such"}});
      },
      ThrowsMessage<Error>(HasSubstr("--suppress no such")));
}

TEST_F(HfMarian, ErrorsNameTheKeysOfTheFile) {
  for (const auto& [value, message] : std::initializer_list<std::pair<nlohmann::json, const char*>>{
           {0, "config.json ... \"d_model\" ... 0 ... 1"},
           {-5, "config.json ... \"d_model\" ... -5 ... 1"},
           {15, "config.json: \"encoder_attention_heads\": 2 heads do not divide \"d_model\" 15"},
           {18446744073709551615U, "config.json: \"d_model\" ... too large"}})
    EXPECT_THAT(error_with("d_model", value), Names(message));
}

TEST_F(HfMarian, ValuesThatTheFileLeavesOutAreThoseOfTransformers) {
  ForeignModel model = random_model();
  model.config.encoder_layers = model.config.decoder_layers = 12;
  model.config.d_ff = 4096;
  model.config.heads = 16;
  fill(model);
  ours_ = to_imported(model);
  export_with({});
  nlohmann::json config = read("config.json");
  for (const char* key : {"encoder_attention_heads", "decoder_attention_heads", "encoder_ffn_dim",
                          "decoder_ffn_dim", "encoder_layers", "decoder_layers"})
    ASSERT_EQ(config.erase(key), 1U) << key;
  write_file(exported() / "config.json", json_text(config));
  EXPECT_EQ(to_json(import_model(exported()).config), to_json(ours_.config));
  config.erase("d_model");
  write_file(exported() / "config.json", json_text(config));
  EXPECT_THAT(import_error(exported()), Names("model.shared.weight ... 16 ... 1024"));
}

TEST_F(HfMarian, AnEmptySentencePieceModelIsNamed) {
  for (const char* name : {"source.spm", "target.spm"}) {
    export_with({});
    write_file(exported() / name, "");
    EXPECT_THAT([&] { to_imported(import_model(exported())); },
                ThrowsMessage<Error>(HasSubstr((exported() / name).string())));
  }
}

TEST_F(HfMarian, WeightsInSeveralFilesAreReadByTheirIndex) {
  const SafetensorsFile whole(exported() / "model.safetensors");
  nlohmann::json map;
  std::array<std::vector<TensorData>, 2> shares;
  for (const TensorData& tensor : whole.tensors()) {
    const std::size_t part = map.size() % 2;
    shares[part].push_back(tensor);
    map[tensor.name] = part == 0 ? "a.safetensors" : "b.safetensors";
  }
  write_safetensors(exported() / "a.safetensors", shares[0], {});
  write_safetensors(exported() / "b.safetensors", shares[1], {});
  fs::remove(exported() / "model.safetensors");
  const fs::path index = exported() / "model.safetensors.index.json";
  write_file(index,
             json_text(nlohmann::json{{"metadata", {{"total_size", 1}}}, {"weight_map", map}}));
  EXPECT_EQ(to_imported(import_model(exported())).parameters, ours_.parameters);
  const auto error = [&](const nlohmann::json& weight_map) {
    write_file(index, json_text(nlohmann::json{{"weight_map", weight_map}}));
    return import_error(exported());
  };
  EXPECT_THAT(error({{"x", "a.safetensors"}}), Names("a.safetensors ... no tensor ... x"));
  EXPECT_THAT(error({{"x", "../a.safetensors"}}), Names("index.json ... \"weight_map\" ... file"));
  EXPECT_THAT(error({{"x", index.filename()}}), Names("index.json ... \"weight_map\" ... file"));
  EXPECT_THAT(error({{"x", 1}}), Names("index.json ... \"weight_map\" ... file ... x"));
  EXPECT_THAT(error(1), HasSubstr("has no \"weight_map\""));
}

TEST_F(HfMarian, APointerOfGitLfsIsNamed) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n";
  write_file(exported() / "pytorch_model.bin", pointer);
  EXPECT_EQ(import_error(exported()), "no error") << "nothing reads it";
  for (const char* name : {"model.safetensors", "source.spm", "vocab.json", "config.json"}) {
    export_with({});
    write_file(exported() / name, pointer);
    EXPECT_THAT(import_error(exported()), Names((exported() / name).string() + " ... Git LFS"));
  }
}

TEST_F(HfMarian, SizesAreCheckedBeforeTheWeightsAreRead) {
  for (const char* key : {"encoder_layers", "decoder_layers"})
    EXPECT_THAT(error_with(key, 1'000'000'000'000), Names("1 ... 1000"));
}

TEST_F(HfMarian, ARefusedModelIsToldWhatItNeeds) {
  const auto refusal = [&](const auto& change) -> std::string {
    ModelConfig config = ours_.config;
    change(config);
    return message_of<Error>([&] { hf_tensors(config, hf_padding(config)); });
  };
  EXPECT_THAT(refusal([](ModelConfig& c) { c.norm = NormPosition::Before; }),
              Names("--norm before ... --norm after"));
  EXPECT_THAT(refusal([](ModelConfig& c) { c.positions = Positions::Marian; }),
              Names("--positions sinusoidal"));
  EXPECT_THAT(refusal([](ModelConfig& c) { c.activation = Activation::GatedGelu; }),
              Names("--activation relu ... gelu ... swish"));
}

TEST_F(HfMarian, ADeepConfigurationIsRefused) {
  write_file(exported() / "config.json", R"({"model_type": "marian", "x": )" +
                                             std::string(200'000, '[') + std::string(200'000, ']') +
                                             "}");
  EXPECT_THAT(import_error(exported()), Names("config.json ... 64 deep"));
}

}  // namespace
}  // namespace dragoman
