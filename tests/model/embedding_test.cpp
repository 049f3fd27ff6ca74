#include "model/embedding.h"

#include "tests/model/examples.h"

namespace dragoman {
namespace {

TEST(Tying, TiedEmbeddingsAreOneMatrixWhereTheConfigurationSaysSo) {
  for (const Tying tying : {Tying::ThreeWay, Tying::TwoWay, Tying::None}) {
    ModelConfig config = small_config();
    config.tying = tying;
    auto model = initialized(config);
    const auto source = model->embedding->source_weight();
    const auto target = model->embedding->target_weight();
    EXPECT_EQ(source.is_same(target), tying == Tying::ThreeWay);
    EXPECT_EQ(target.is_same(model->output_weight()), tying != Tying::None);
  }
}

}  // namespace
}  // namespace dragoman
