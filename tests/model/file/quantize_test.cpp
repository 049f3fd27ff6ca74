#include "model/file/quantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/model/file/scratch_file.h"
#include "tests/model/file/small_model.h"

namespace dragoman {
namespace {

using ::testing::HasSubstr;

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
  ModelContents contents{.config = reader.config(),
                         .tokenizer_source = reader.tokenizer_source(),
                         .tokenizer_target = {},
                         .provenance = {},
                         .parameters = {},
                         .training = {},
                         .progress = {}};
  for (const std::string& name : reader.names()) contents.parameters.push_back(reader.tensor(name));
  try {
    write_model_file(whole.path(), contents);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("has no scale for each of its rows"));
  }
}

}  // namespace
}  // namespace dragoman
