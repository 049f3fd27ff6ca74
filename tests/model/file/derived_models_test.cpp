#include "model/file/derived_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/model/file/scratch_file.h"
#include "tests/model/file/small_model.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<float> floats(const ModelFileReader& model, const std::string& name) {
  const TensorData tensor = model.tensor(name);
  std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
  copy_as_floats(tensor, values);
  return values;
}

TEST(Average, ASingleModelStaysAsItIsWithoutTrainingState) {
  SmallModel model;
  model.make_checkpoint();
  model.contents.decode_defaults = {{"beam-size", "3"}};
  const ScratchFile input("one.safetensors"), output("average.safetensors");
  write_model_file(input.path(), model.contents);
  write_average(std::vector{input.path()}, output.path(), "dragoman average");
  const ModelFileReader before(input.path()), after(output.path());
  for (const std::string& name : before.names())
    EXPECT_EQ(after.tensor(name).raw(), before.tensor(name).raw()) << name;
  EXPECT_EQ(to_json(after.config()), to_json(before.config()));
  EXPECT_EQ(after.tokenizer_source(), before.tokenizer_source());
  EXPECT_EQ(after.decode_defaults(), before.decode_defaults());
  EXPECT_FALSE(after.is_checkpoint());
  EXPECT_TRUE(after.training_names().empty());
}

TEST(Average, TheAverageHasSeenTheCharactersOfAllModels) {
  SmallModel one, two;
  one.contents.provenance.characters.emplace().source.add_all("ab");
  two.contents.provenance.characters.emplace().source.add_all("bc");
  const ScratchFile a("a.safetensors"), b("b.safetensors"), c("c.safetensors"), mean("mean");
  write_model_file(a.path(), one.contents);
  write_model_file(b.path(), two.contents);
  write_average(std::vector{a.path(), b.path()}, mean.path(), "");
  const ModelFileReader average(mean.path());
  ASSERT_TRUE(average.provenance().characters);
  EXPECT_EQ(average.provenance().characters->source.ranges(), "61-63");
  write_model_file(c.path(), SmallModel().contents);
  write_average(std::vector{a.path(), c.path()}, mean.path(), "");
  EXPECT_FALSE(ModelFileReader(mean.path()).provenance().characters) << "one model has no record";
}

TEST(Average, TheAverageIsTheMeanOfEveryParameter) {
  SmallModel one, two, three;
  for (std::size_t t = 0; t < one.values.size(); ++t)
    for (std::size_t i = 0; i < one.values[t].size(); ++i) {
      two.values[t][i] = one.values[t][i] + 3;
      three.values[t][i] = 1e8f;  // summed in single precision, the small values would vanish
      one.values[t][i] -= 1e8f;
    }
  const ScratchFile a("a.safetensors"), b("b.safetensors"), c("c.safetensors"), mean("mean");
  write_model_file(a.path(), one.contents);
  write_model_file(b.path(), two.contents);
  write_model_file(c.path(), three.contents);
  write_average(std::vector{a.path(), b.path(), c.path()}, mean.path(), "");
  const ModelFileReader reader(mean.path());
  for (std::size_t t = 0; t < one.values.size(); ++t) {
    const auto values = floats(reader, one.contents.parameters[t].name);
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_FLOAT_EQ(
          values[i],
          static_cast<float>((0.0 + one.values[t][i] + two.values[t][i] + three.values[t][i]) / 3));
  }
}

TEST(Average, TheFileSaysHowItWasMade) {
  SmallModel older, newer;
  older.contents.provenance.updates = 100;
  newer.contents.provenance.updates = 200;
  newer.contents.provenance.seed = 7;
  const ScratchFile a("a.safetensors"), b("b.safetensors"), mean("mean");
  write_model_file(a.path(), newer.contents);
  write_model_file(b.path(), older.contents);
  write_average(std::vector{a.path(), b.path()}, mean.path(), "dragoman average x");
  const Provenance provenance = ModelFileReader(mean.path()).provenance();
  EXPECT_EQ(provenance.command, "dragoman average x");
  EXPECT_EQ(provenance.updates, 200);
  EXPECT_EQ(provenance.seed, 7);
  EXPECT_TRUE(provenance.scores.empty());
  EXPECT_THAT(provenance.averaged_from,
              ::testing::ElementsAre(a.path().string(), b.path().string()));
}

TEST(Average, DropoutMayDiffer) {
  SmallModel model, tuned;
  tuned.contents.config.dropout = 0.37;
  tuned.contents.config.attention_dropout = 0.31;
  tuned.contents.config.activation_dropout = 0.29;
  const ScratchFile one("one.safetensors"), other("other.safetensors"), mean("mean");
  write_model_file(one.path(), model.contents);
  write_model_file(other.path(), tuned.contents);
  write_average(std::vector{one.path(), other.path()}, mean.path(), "");
  EXPECT_TRUE(std::filesystem::exists(mean.path()));
}

TEST(Average, ModelsThatDifferAreRefused) {
  const SmallModel model;
  const ScratchFile good("good.safetensors"), other("other.safetensors"), mean("mean");
  write_model_file(good.path(), model.contents);
  const auto expect_refused = [&](auto change, const std::string& what) {
    SmallModel changed;
    change(changed.contents);
    write_model_file(other.path(), changed.contents);
    EXPECT_THAT(
        [&] {
          write_average(std::vector{good.path(), other.path()}, mean.path(), "");
        },
        ThrowsMessage<Error>(
            AllOf(HasSubstr("good.safetensors"), HasSubstr("other.safetensors"), Names(what))));
    EXPECT_FALSE(std::filesystem::exists(mean.path()));
  };
  expect_refused([](ModelContents& c) { c.config.heads = 1; }, "heads is 1");
  expect_refused([](ModelContents& c) { c.config.eos_id = 3; }, "eos-id is 3");
  expect_refused([](ModelContents& c) { c.config.source_eos = false; }, "source-eos ... false");
  expect_refused([](ModelContents& c) { c.tokenizer_source = "x"; }, "tokenizers");
  expect_refused([](ModelContents& c) { c.tokenizer_target = "x"; }, "tokenizers");
  EXPECT_THROW(write_average({}, mean.path(), ""), Error);
}

TEST(Average, ADamagedModelIsNamed) {
  const SmallModel model;
  std::string bytes = model.bytes();
  bytes.back() ^= 1;
  const ScratchFile good("good.safetensors", model.bytes()), bad("bad.safetensors", bytes),
      mean("mean");
  EXPECT_THAT(
      [&] {
        write_average(std::vector{good.path(), bad.path()}, mean.path(), "");
      },
      ThrowsMessage<Error>(AllOf(HasSubstr("bad.safetensors: "), HasSubstr("damaged"))));
}

TEST(Quantize, MatricesAreRoundedByRowAndTheRestStays) {
  SmallModel model;
  model.contents.decode_defaults = {{"beam-size", "3"}};
  model.make_checkpoint();
  const ScratchFile whole("whole.safetensors"), rounded("rounded.safetensors");
  write_model_file(whole.path(), model.contents);
  const ModelFileReader before(whole.path());
  const std::string kept = "decoder.layers.0.feed_forward.inner.weight";
  write_quantized(before, rounded.path(), {kept}, "dragoman quantize");
  const ModelFileReader after(rounded.path());

  EXPECT_EQ(to_json(after.config()), to_json(before.config()));
  EXPECT_EQ(after.provenance().command, "dragoman quantize");
  EXPECT_TRUE(after.provenance().scores.empty()) << "they are the other model's";
  EXPECT_EQ(after.decode_defaults(), before.decode_defaults());
  EXPECT_FALSE(after.is_checkpoint());
  EXPECT_EQ(after.names(), before.names());
  for (const ParameterShape& parameter : parameter_shapes(before.config())) {
    const bool is_matrix = parameter.shape.size() == 2;
    EXPECT_EQ(after.is_int8(parameter.name), is_matrix && parameter.name != kept);
    const auto values = before.floats(parameter.name), found = after.floats(parameter.name);
    const auto columns = static_cast<std::size_t>(parameter.shape.back());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!after.is_int8(parameter.name)) {
        EXPECT_EQ(found[i], values[i]);
        continue;
      }
      float largest = 0;
      for (std::size_t c = 0; c < columns; ++c)
        largest = std::max(largest, std::abs(values[i / columns * columns + c]));
      EXPECT_NEAR(found[i], values[i], largest / 127 * 0.5001);
    }
  }
}

TEST(Quantize, TheLargestErrorsComeFirst) {
  const SmallModel model;
  const ScratchFile file("model.safetensors");
  write_model_file(file.path(), model.contents);
  const auto matrices = rounded_matrices(ModelFileReader(file.path()));
  ASSERT_GT(matrices.size(), 5u);
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    EXPECT_GT(matrices[i].relative_error, 0);
    EXPECT_LT(matrices[i].relative_error, 0.01);
    EXPECT_LE(matrices[i].relative_error, matrices[i == 0 ? 0 : i - 1].relative_error);
  }
}

TEST(Quantize, ARoundedModelIsNotRoundedAgain) {
  const SmallModel model;
  const ScratchFile whole("whole.safetensors"), rounded("rounded.safetensors");
  write_model_file(whole.path(), model.contents);
  write_quantized(ModelFileReader(whole.path()), rounded.path(), {}, "");
  const ModelFileReader reader(rounded.path());
  EXPECT_THROW(write_quantized(reader, whole.path(), {}, ""), Error);
  write_decode_defaults(rounded.path(), {{"beam-size", "2"}});
  const ModelFileReader again(rounded.path());
  EXPECT_EQ(again.decode_defaults().at("beam-size"), "2");
  for (const std::string& name : reader.names()) EXPECT_EQ(again.floats(name), reader.floats(name));
}

TEST(Quantize, WholeNumbersNeedTheirScales) {
  const SmallModel model;
  const ScratchFile whole("whole.safetensors"), rounded("rounded.safetensors");
  write_model_file(whole.path(), model.contents);
  write_quantized(ModelFileReader(whole.path()), rounded.path(), {}, "");
  const ModelFileReader reader(rounded.path());
  ModelContents contents{.config = reader.config(), .tokenizer_source = reader.tokenizer_source()};
  for (const std::string& name : reader.names()) contents.parameters.push_back(reader.tensor(name));
  EXPECT_THAT([&] { write_model_file(whole.path(), contents); },
              testing::ThrowsMessage<Error>(Names("scale ... rows")));
}

}  // namespace
}  // namespace dragoman
