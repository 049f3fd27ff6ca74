#include "extras/formats/foreign_model.h"

#include <gtest/gtest.h>

#include "extras/formats/plain_transformer.h"
#include "tests/extras/formats/random_model.h"

namespace dragoman {
namespace {

/// Our model, seen as another system's that has no factor of its own.
ForeignModel as_foreign(const ImportedModel& ours) {
  ForeignModel model;
  model.config = ours.config;
  model.parameters = ours.parameters;
  model.embedding_scale = std::sqrt(static_cast<double>(ours.config.d_model));
  if (ours.config.positions == Positions::Learned) {
    model.source_positions = ours.parameters.at("positions.source.weight");
    model.target_positions = ours.parameters.at("positions.target.weight");
  }
  return model;
}

/// Both give the same log-probabilities.
void expect_same(const ForeignModel& a, const ForeignModel& b) {
  const std::vector<TokenId> source = {5, 90, 17, 33, 2}, target = {50, 7, 101, 2};
  const auto expected = plain_log_probabilities(a, source, target),
             found = plain_log_probabilities(b, source, target);
  ASSERT_EQ(found.size(), target.size());
  for (std::size_t t = 0; t < found.size(); ++t)
    for (std::size_t v = 0; v < found[t].size(); ++v)
      ASSERT_NEAR(found[t][v], expected[t][v], 1e-4) << t << " " << v;
}

TEST(ForeignModel, AForeignModelBecomesOursWithTheSameProbabilities) {
  for (const ColumnOrder order : {ColumnOrder::Alternating, ColumnOrder::Halves})
    for (const Positions positions : {Positions::Sinusoidal, Positions::Marian})
      for (const Tying tying : {Tying::ThreeWay, Tying::TwoWay, Tying::None})
        for (const NormPosition norm :
             {NormPosition::After, NormPosition::Before, NormPosition::BeforeQueries}) {
          ForeignModel model = random_model(tying, Activation::GatedGelu, norm);
          model.columns = order;
          model.config.positions = positions;
          const ImportedModel ours = to_imported(model);
          EXPECT_EQ(ours.config.tying, tying);
          EXPECT_EQ(ours.config.positions, positions);
          expect_same(model, as_foreign(ours));
        }
}

TEST(ForeignModel, NormalisedEmbeddingsAreOfTheSumWithThePosition) {
  const ForeignModel model = model_of_normalized_embeddings();
  expect_same(model, as_foreign(to_imported(model)));
  ForeignModel other = model;  // normalisation ignores the scale of its input
  for (const char* side : {"encoder", "decoder"})
    for (float& gain : other.parameters.at(std::string(side) + ".embedding_norm.weight")) gain *= 2;
  const std::vector<TokenId> source = {5, 90, 2}, target = {50, 7};
  EXPECT_NE(plain_log_probabilities(model, source, target),
            plain_log_probabilities(other, source, target));
}

TEST(ForeignModel, FactorsThatOurModelLacksAreFoldedIntoTheWeights) {
  for (const Tying tying : {Tying::ThreeWay, Tying::TwoWay, Tying::None})
    for (const bool is_learned : {false, true}) {
      ForeignModel model = random_model(tying);
      model.columns = ColumnOrder::Halves;
      model.swish_factor = 1.702;
      model.embedding_scale = 1.5;
      model.start = random_floats(16, 99, 0.5);
      if (is_learned) {
        model.config.positions = Positions::Learned;
        model.config.max_positions = 40;
        model.source_positions = random_floats(40 * 16, 5, 1);
        model.target_positions = random_floats(40 * 16, 6, 1);
      }
      const ImportedModel ours = to_imported(model);
      EXPECT_EQ(ours.config.tying, Tying::None);
      expect_same(model, as_foreign(ours));
    }
}

TEST(ForeignModel, PositionsThatBeginElsewhereBecomeATable) {
  ForeignModel model = random_model();
  model.columns = ColumnOrder::Halves;
  model.config.positions = Positions::Marian;
  model.first_position = 2;
  const ImportedModel ours = to_imported(model);
  EXPECT_EQ(ours.config.positions, Positions::Learned);
  const auto& table = ours.parameters.at("positions.target.weight");
  EXPECT_FLOAT_EQ(table[0], std::sin(2.0f));
  EXPECT_FLOAT_EQ(table[16 + 1], std::cos(3.0f));
  expect_same(model, as_foreign(ours));
}

TEST(ForeignModel, ColumnsGoThereAndBack) {
  for (const ParameterShape& parameter : parameter_shapes(random_model().config)) {
    std::size_t size = 1;
    for (const std::int64_t axis : parameter.shape) size *= static_cast<std::size_t>(axis);
    const std::vector<float> values = random_floats(size, 3, 1);
    const auto theirs = reordered(parameter, values, ColumnOrder::Halves, 16, Direction::ToTheirs);
    EXPECT_EQ(reordered(parameter, theirs, ColumnOrder::Halves, 16, Direction::ToOurs), values);
  }
}

TEST(ForeignModel, TheTokensOfAForeignModelAreThePiecesOfItsVocabulary) {
  ForeignVocabulary vocabulary = small_vocabulary();
  std::swap(vocabulary.pieces[265], vocabulary.pieces[275]);
  const Tokenizer tokenizer(vocabulary.sentencepiece, "test");
  for (const std::string& line : sample_text(20)) {
    std::vector<TokenId> expected = small_tokenizer().encode(line);
    for (TokenId& id : expected) id = id == 265 ? 275 : id == 275 ? 265 : id;
    EXPECT_EQ(their_tokens(vocabulary, tokenizer, 0, line), expected);
  }
}

}  // namespace
}  // namespace dragoman
