#include "formats/hf_marian.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/scratch_folder.h"
#include "formats/import_model.h"
#include "tests/formats/import_error.h"
#include "tests/formats/random_model.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
namespace fs = std::filesystem;

/// A folder of MarianMTModel, exported from a model of ours.
class HfMarian : public testing::Test {
 protected:
  HfMarian() { export_with({{"stop", "hf"}}); }

  void export_with(const DecodeDefaults& defaults) {
    ours_.decode_defaults = defaults;
    const fs::path file = folder_.path() / "model.safetensors";
    write_imported(ours_, file, "");
    fs::remove_all(exported());
    write_hf_marian(ModelFileReader(file), exported());
  }

  fs::path exported() const { return folder_.path() / "export"; }
  nlohmann::json read(const char* name) const {
    return nlohmann::json::parse(read_file(exported() / name));
  }
  /// The import's error where a key of config.json has this value.
  std::string error_with(const char* key, const nlohmann::json& value) const {
    nlohmann::json config = read("config.json");
    config[key] = value;
    write_file(exported() / "config.json", config.dump());
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
    EXPECT_EQ(import_model(exported()).decode_defaults.at("stop"), stop);
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

TEST_F(HfMarian, SizesAreCheckedBeforeTheWeightsAreRead) {
  for (const char* key : {"encoder_layers", "decoder_layers"})
    EXPECT_THAT(error_with(key, 1'000'000'000'000), HasSubstr("is not between 1 and 1000"));
}

TEST_F(HfMarian, ADeepConfigurationIsRefused) {
  write_file(exported() / "config.json", R"({"model_type": "marian", "x": )" +
                                             std::string(200'000, '[') + std::string(200'000, ']') +
                                             "}");
  EXPECT_THAT(import_error(exported()), HasSubstr("config.json: JSON nested more than 64 deep"));
}

}  // namespace
}  // namespace dragoman
