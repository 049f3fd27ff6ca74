#include "model/file/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/random.h"
#include "tests/model/file/scratch_file.h"
#include "tests/model/file/small_model.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string error_of(const std::filesystem::path& path, Verify verify = Verify::All) {
  return message_of<Error>([&] { const ModelFileReader reader(path, verify); });
}

TEST(ModelFile, AModelIsReadAsItWasWritten) {
  const SmallModel model;
  const ScratchFile file("model.safetensors");
  write_model_file(file.path(), model.contents);
  const ModelFileReader reader(file.path());
  EXPECT_EQ(to_json(reader.config()), to_json(model.contents.config));
  EXPECT_EQ(reader.provenance(), model.contents.provenance);
  EXPECT_EQ(reader.tokenizer_source(), "pretend tokenizer");
  EXPECT_EQ(reader.tokenizer_target(), "pretend tokenizer");
  EXPECT_FALSE(reader.has_two_tokenizers());
  EXPECT_FALSE(reader.is_checkpoint());
  EXPECT_TRUE(reader.training_names().empty());
  ASSERT_EQ(reader.names().size(), model.values.size());
  for (const TensorData& parameter : model.contents.parameters) {
    const TensorData read = reader.tensor(parameter.name);
    EXPECT_EQ(read.shape, parameter.shape);
    EXPECT_EQ(read.raw(), parameter.raw());
  }
  EXPECT_THROW(reader.tensor("encoder"), Error);
}

TEST(ModelFile, ACheckpointCarriesItsTrainingState) {
  SmallModel model;
  model.make_checkpoint();
  model.contents.tokenizer_target = "another tokenizer";
  const ScratchFile file("checkpoint.safetensors");
  write_model_file(file.path(), model.contents);
  const ModelFileReader reader(file.path());
  EXPECT_TRUE(reader.is_checkpoint());
  EXPECT_EQ(reader.progress(), R"({"update":12})");
  EXPECT_EQ(reader.tokenizer_target(), "another tokenizer");
  EXPECT_THAT(reader.training_names(), ::testing::ElementsAre("training.moments"));
  EXPECT_EQ(reader.tensor("training.moments").raw(), model.contents.training[0].raw());
  EXPECT_EQ(reader.names().size(), model.values.size());
}

TEST(ModelFile, OtherDecodeDefaultsChangeNothingElse) {
  SmallModel model;
  model.make_checkpoint();
  const ScratchFile file("tuned.safetensors");
  write_model_file(file.path(), model.contents);
  const std::string before = read_file(file.path());
  EXPECT_TRUE(ModelFileReader(file.path()).decode_defaults().empty());
  const DecodeDefaults defaults = {{"beam-size", "4"}, {"length-penalty", "0.6"}};
  write_decode_defaults(file.path(), defaults);
  EXPECT_EQ(ModelFileReader(file.path()).decode_defaults(), defaults);
  write_decode_defaults(file.path(), {});
  EXPECT_EQ(read_file(file.path()), before);
}

TEST(ModelFile, ProvenanceKeepsEveryFieldAndTakesAnyText) {
  Provenance provenance;
  provenance.command = "dragoman train --train-src \"a b\"\n";
  provenance.configuration = "lr = 0.1\n";
  provenance.seed = -5;
  provenance.updates = 1'000'000'000'000;
  provenance.data = {{"a.en", "00"}};
  provenance.versions = {{"dragoman", "0.1.0"}};
  provenance.several_sentences = 0.0125;
  provenance.copied_fractions = {{"number", 0.25}};
  provenance.source_language = "en";
  provenance.target_language = "pt-BR";
  provenance.characters.emplace().source.add_all("a\u00E9 \u732B");
  provenance.characters->target.add_all("b\U0001F355");
  provenance.scores = {{"bleu", 38.512345678901234}};
  provenance.averaged_from = {"x", "y"};
  EXPECT_EQ(provenance_from_json(to_json(provenance)), provenance);
  EXPECT_EQ(provenance_from_json("{}"), Provenance());
  EXPECT_THROW(provenance_from_json("[]"), Error);
  EXPECT_THROW(provenance_from_json(R"({"seed":"x"})"), Error);
  EXPECT_THROW(provenance_from_json(R"({"scores":{"bleu":null}})"), Error);
  EXPECT_THROW(provenance_from_json(R"({"characters":{"source":"x","target":""}})"), Error);
  EXPECT_THROW(provenance_from_json(R"({"characters":"20-7E"})"), Error);

  SmallModel model;
  model.contents.provenance.command = "dragoman train \xff";
  model.contents.provenance.scores["loss"] = NAN;
  model.contents.progress = "\xfe";
  const ScratchFile file("any-text.safetensors");
  write_model_file(file.path(), model.contents);
  const ModelFileReader reader(file.path());
  EXPECT_EQ(reader.provenance().command, "dragoman train \xEF\xBF\xBD");
  EXPECT_EQ(reader.provenance().scores.size(), 1u);
  EXPECT_EQ(reader.progress(), "\xEF\xBF\xBD");
}

/// The record of a model that has seen these characters.
TextRecord record_of(std::string_view source, std::string_view target) {
  TextRecord record;
  record.characters.emplace().source.add_all(source);
  record.characters->target.add_all(target);
  return record;
}

TEST(TextRecord, AnEnsembleHasSeenWhatAllItsModelsHaveSeen) {
  const TextRecord one = record_of("abc", "xy"), other = record_of("bcd", "yz");
  EXPECT_EQ(common_record(one, other), record_of("bc", "y"));
  EXPECT_EQ(common_record(one, one), one);
  EXPECT_FALSE(common_record(one, {}).characters);
  EXPECT_FALSE(common_record({}, one).characters);
}

TEST(TextRecord, AnEnsembleCopiesTheKindsThatAllItsModelsCopy) {
  const TextRecord one = {.copied_fractions = {{"number", 0.9}, {"signs", 0.1}}};
  const TextRecord other = {.copied_fractions = {{"number", 0.2}, {"url", 0.3}}};
  const TextRecord both = {.copied_fractions = {{"number", 0.2}, {"signs", 0.1}, {"url", 0.3}}};
  EXPECT_EQ(common_record(one, other), both);
  EXPECT_EQ(common_record(other, one), both);
}

TEST(TextRecord, AnEnsembleHasTheLanguagesThatAllItsModelsHave) {
  const TextRecord one = {.source_language = "en", .target_language = "de"};
  const TextRecord other = {.source_language = "en", .target_language = "fr"};
  EXPECT_EQ(common_record(one, one), one);
  EXPECT_EQ(common_record(one, other), (TextRecord{.source_language = "en"}));
}

TEST(TextRecord, AnEnsembleSplitsLinesIfOneOfItsModelsNeedsThat) {
  const TextRecord one = {.several_sentences = 0.5}, other = {.several_sentences = 0.01};
  EXPECT_EQ(common_record(one, other), other);
  EXPECT_EQ(common_record(other, one), other);
  EXPECT_FALSE(common_record(one, {}).several_sentences) << "as that model does";
}

TEST(ModelFile, WrongContentsAreNotWrittenAndTheOldFileStays) {
  const SmallModel good;
  const ScratchFile file("kept.safetensors", "the old file");
  const auto expect_refused = [&](auto change, const std::string& what) {
    SmallModel model;
    change(model.contents);
    EXPECT_THAT([&] { write_model_file(file.path(), model.contents); },
                ThrowsMessage<Error>(AllOf(HasSubstr("kept.safetensors: "), Names(what))));
    EXPECT_EQ(read_file(file.path()), "the old file");
  };
  expect_refused([](ModelContents& c) { c.parameters.pop_back(); }, "is missing");
  expect_refused([](ModelContents& c) { c.parameters.push_back(c.parameters[0]); }, "parameters");
  expect_refused([](ModelContents& c) { c.parameters[0].shape = {4, 9}; }, "[9, 4]");
  expect_refused([](ModelContents& c) { c.parameters[0].dtype = Dtype::I32; }, "floating-point");
  expect_refused([](ModelContents& c) { c.parameters[0].name = "x"; }, "embedding.weight");
  expect_refused([](ModelContents& c) { c.tokenizer_source = ""; }, "tokenizer");
  expect_refused([](ModelContents& c) { c.training.push_back(c.parameters[0]); }, "training");
}

TEST(ModelFile, EveryTruncationIsAnError) {
  SmallModel model;
  model.make_checkpoint();
  const std::string bytes = model.bytes();
  const ScratchFile file("cut.safetensors", bytes);
  ASSERT_EQ(error_of(file.path()), "");
  const std::size_t step = 1 + bytes.size() / 500;
  for (std::size_t left = 0; left < step * 500; left += step) {
    const std::size_t size = bytes.size() - std::min(bytes.size(), left + 1);
    std::filesystem::resize_file(file.path(), size);
    EXPECT_THAT(error_of(file.path()), HasSubstr("cut.safetensors: ")) << size;
  }
}

TEST(ModelFile, AnyFlippedBitIsAnError) {
  SmallModel model;
  model.make_checkpoint();
  const std::string bytes = model.bytes();
  const ScratchFile file("flipped.safetensors");
  const std::size_t step = 1 + bytes.size() / 1'500;
  for (std::size_t offset = 0; offset < bytes.size(); offset += step) {
    std::string damaged = bytes;
    damaged[offset] = static_cast<char>(damaged[offset] ^ 1 << mix64(offset) % 8);
    file.write(damaged);
    EXPECT_THAT(error_of(file.path()), HasSubstr("flipped.safetensors: ")) << offset;
  }
}

TEST(ModelFile, TheDamagedTensorIsNamed) {
  SmallModel model;
  std::string bytes = model.bytes();
  const std::string_view raw = model.contents.parameters[3].raw();
  bytes[bytes.find(raw) + 5] ^= 0x10;
  const ScratchFile file("weights.safetensors", bytes);
  const std::string name = model.contents.parameters[3].name;
  EXPECT_THAT(error_of(file.path()), HasSubstr("tensor " + name + " is damaged"));

  const ModelFileReader light(file.path(), Verify::Header);
  EXPECT_NO_THROW(light.tensor("embedding.weight"));
  EXPECT_THROW(light.tensor(name), Error);
  EXPECT_THROW(light.verify_all(), Error);
}

TEST(ModelFile, ADamagedTokenizerOrHeaderIsFoundByALightOpenToo) {
  const std::string bytes = SmallModel().bytes();
  std::string tokenizer = bytes;
  tokenizer[bytes.find("pretend")] = 'P';
  const ScratchFile file("light.safetensors", tokenizer);
  EXPECT_THAT(error_of(file.path(), Verify::Header), HasSubstr("tensor tokenizer.source"));
  std::string header = bytes;
  header[bytes.find("dragoman train")] = 'D';
  file.write(header);
  EXPECT_THAT(error_of(file.path(), Verify::Header), HasSubstr("header is damaged"));
}

/// The small model with one metadata entry changed and, unlike damage, a right header checksum.
void write_changed(const std::filesystem::path& path, const std::string& key,
                   const std::string& value) {
  const ScratchFile original("original.safetensors", SmallModel().bytes());
  const SafetensorsFile file(original.path());
  Metadata metadata = file.metadata();
  metadata[key] = value;
  nlohmann::json summary = {{"metadata", metadata}, {"tensors", nlohmann::json::object()}};
  summary["metadata"].erase("dragoman.header_checksum");
  for (const TensorData& tensor : file.tensors())
    summary["tensors"][tensor.name] = {static_cast<int>(tensor.dtype), tensor.shape};
  metadata["dragoman.header_checksum"] = hex16(xxh3(json_text(summary)));
  write_safetensors(path, file.tensors(), metadata);
}

TEST(ModelFile, ForeignAndNewerFilesAreNamedAsSuch) {
  const ScratchFile file("foreign.safetensors");
  write_changed(file.path(), "note", "harmless");
  EXPECT_EQ(error_of(file.path()), "");

  write_changed(file.path(), "dragoman.format", "2");
  EXPECT_THAT(error_of(file.path()), AllOf(HasSubstr("'2'"), HasSubstr("newer")));

  const float one = 1;
  write_safetensors(file.path(), std::vector{TensorData{"w", Dtype::F32, {1}, &one}}, {});
  EXPECT_THAT(error_of(file.path()), Names("model of dragoman"));
}

TEST(ModelFile, ConfigurationAndTensorsMustAgree) {
  const ScratchFile file("disagree.safetensors");
  ModelConfig config = SmallModel().contents.config;
  config.encoder_layers = 2;
  write_changed(file.path(), "dragoman.config", to_json(config));
  EXPECT_THAT(error_of(file.path()),
              Names("encoder.layers.1.self_attention.query.weight ... missing"));
  config = SmallModel().contents.config;
  config.d_ff = 16;
  write_changed(file.path(), "dragoman.config", to_json(config));
  EXPECT_THAT(error_of(file.path()), AllOf(HasSubstr("[8, 4]"), HasSubstr("[16, 4]")));
  config = SmallModel().contents.config;
  config.norm = NormPosition::Before;
  write_changed(file.path(), "dragoman.config", to_json(config));
  EXPECT_THAT(error_of(file.path()), HasSubstr("encoder.norm.weight is missing"));
  write_changed(file.path(), "dragoman.config", "{}");
  EXPECT_THAT(error_of(file.path()), HasSubstr("\"d-model\" is missing"));
  write_changed(file.path(), "dragoman.checksums", "{}");
  EXPECT_THAT(error_of(file.path()), HasSubstr("wrong checksum"));
}

TEST(QuantizedRows, RoundedNumbersAreWithinHalfAScaleAndReachTheLargest) {
  std::vector<float> values;
  for (int i = 0; i < 60; ++i)
    values.push_back(std::sin(static_cast<float>(i * i)) * (i < 20 ? 3 : 0.01F));
  for (int i = 40; i < 60; ++i) values[static_cast<std::size_t>(i)] = 0;
  const QuantizedRows rows = quantize_rows(values, 20);
  ASSERT_EQ(rows.scales.size(), 3U);
  for (std::size_t row = 0; row < 3; ++row) {
    int largest = 0;
    for (std::size_t i = row * 20; i < row * 20 + 20; ++i) {
      largest = std::max(largest, std::abs(int{rows.whole[i]}));
      EXPECT_NEAR(static_cast<float>(rows.whole[i]) * rows.scales[row], values[i],
                  0.5001F * rows.scales[row]);
    }
    EXPECT_EQ(largest, row < 2 ? 127 : 0);
  }
}

}  // namespace
}  // namespace dragoman
