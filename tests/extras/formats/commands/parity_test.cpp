#include "extras/formats/commands/parity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/extras/formats/random_model.h"

namespace dragoman {
namespace {

Parity compared(const ForeignModel& theirs, const ImportedModel& ours) {
  return parity_of(theirs, ParametersInMemory(ours.config, tensors_of(ours)), tokenizers_of(ours));
}

TEST(Parity, AnImportedModelIsFoundTheSame) {
  for (const Tying tying : {Tying::ThreeWay, Tying::None}) {
    ForeignModel model = random_model(tying);
    model.columns = ColumnOrder::Halves;
    model.config.positions = Positions::Marian;
    model.swish_factor = 1.702;
    const Parity parity = compared(model, to_imported(model));
    EXPECT_TRUE(parity.is_same(1e-4)) << parity.text();
    EXPECT_GT(parity.largest, 0);
    EXPECT_THAT(parity.text(), testing::MatchesRegex("6 lines: the same pieces, log-probabilities "
                                                     "within .*, the same greedy translations"));
  }
}

TEST(Parity, SourcesEndAsTheirModelHasThem) {
  ForeignModel model = random_model();
  model.config.source_eos = false;
  ImportedModel ours = to_imported(model);
  EXPECT_FALSE(ours.config.source_eos);
  const Parity parity = compared(model, ours);
  EXPECT_TRUE(parity.is_same(1e-4)) << parity.text();
  ours.config.source_eos = true;
  EXPECT_EQ(compared(model, ours).lines_of_pieces, 0);
}

TEST(Parity, AWrongModelIsFound) {
  const ForeignModel model = random_model();
  const ImportedModel right = to_imported(model);
  for (const char* name :
       {"encoder.layers.1.self_attention.key.weight", "decoder.layers.0.cross_attention_norm.bias",
        "decoder.layers.0.feed_forward.outer.weight", "embedding.weight", "output.bias"}) {
    ImportedModel wrong = right;
    for (float& value : wrong.parameters.at(name)) value = -value;
    EXPECT_FALSE(compared(model, wrong).is_same(kParityTolerance)) << name;
  }
  ForeignModel without_numbers = model;
  without_numbers.parameters.at("output.bias").back() = std::nanf("");
  EXPECT_TRUE(std::isnan(compared(without_numbers, right).largest));
  ForeignModel halves = model;
  halves.columns = ColumnOrder::Halves;
  EXPECT_FALSE(compared(halves, right).is_same(kParityTolerance));
  ForeignModel renumbered = model;
  std::reverse(renumbered.source.pieces.begin() + 60, renumbered.source.pieces.end());
  const Parity pieces = compared(renumbered, right);
  EXPECT_FALSE(pieces.is_same(kParityTolerance));
  EXPECT_THAT(pieces.text(), testing::HasSubstr("other pieces in"));
}

}  // namespace
}  // namespace dragoman
