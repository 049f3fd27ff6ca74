// Small random models of another system, with every factor that such models may have, and the
// errors of their import.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "extras/formats/foreign_model.h"
#include "extras/formats/import_model.h"
#include "extras/formats/vocabulary_file.h"
#include "tests/tokenizer/sample_text.h"

namespace dragoman {

/// Fewer pieces than small_tokenizer() has.
inline const Tokenizer& smaller_tokenizer() {
  static const Tokenizer trained = tokenizer_of(292, 100);
  return trained;
}

inline std::vector<float> random_floats(std::size_t size, std::uint64_t seed, double size_of_one) {
  std::vector<float> values;
  for (std::size_t i = 0; i < size; ++i)
    values.push_back(static_cast<float>(size_of_one * (2 * uniform_of(random_bits(seed, i)) - 1)));
  return values;
}

inline ForeignVocabulary vocabulary_of(const Tokenizer& tokenizer) {
  ForeignVocabulary vocabulary{.pieces = {}, .sentencepiece = {}, .file = "small.spm"};
  for (TokenId id = 0; id < tokenizer.size(); ++id)
    vocabulary.pieces.push_back(tokenizer.piece(id));
  vocabulary.sentencepiece = tokenizer.model_bytes();
  return vocabulary;
}

inline ForeignVocabulary small_vocabulary() { return vocabulary_of(small_tokenizer()); }

/// Makes its parameters, and the tables of learned positions.
inline void fill(ForeignModel& model) {
  std::uint64_t seed = 1;
  for (const ParameterShape& parameter : parameter_shapes(model.config)) {
    std::size_t size = 1;
    for (const std::int64_t axis : parameter.shape) size *= static_cast<std::size_t>(axis);
    std::vector<float> values =
        random_floats(size, seed++, parameter.shape.size() == 1 ? 0.2 : 0.4);
    if (parameter.name.ends_with("norm.weight"))
      for (float& value : values) value += 1;
    if (parameter.name == "positions.source.weight")
      model.source_positions = values;
    else if (parameter.name == "positions.target.weight")
      model.target_positions = values;
    else
      model.parameters[parameter.name] = values;
  }
}

/// Makes its parameters again, for another number of pieces on both sides.
inline void resize_vocabulary(ForeignModel& model, std::size_t pieces) {
  model.config.source_vocabulary = model.config.target_vocabulary =
      static_cast<std::int64_t>(pieces);
  model.parameters.clear();
  fill(model);
}

/// The pieces of small_tokenizer() with these in place of <unk>, <s> and </s>.
inline std::vector<std::string> pieces_after(std::vector<std::string> first) {
  const std::vector<std::string> pieces = small_vocabulary().pieces;
  first.insert(first.end(), pieces.begin() + 3, pieces.end());
  return first;
}

inline ForeignModel random_model(Tying tying = Tying::ThreeWay,
                                 Activation activation = Activation::Swish,
                                 NormPosition norm = NormPosition::After) {
  ForeignModel model;
  model.kind = "a test";
  ModelConfig& config = model.config;
  config.d_model = 16;
  config.heads = 2;
  config.d_ff = 24;
  config.encoder_layers = 2;
  config.decoder_layers = 1;
  config.tying = tying;
  config.activation = activation;
  config.norm = norm;
  config.output_bias = true;
  model.source = model.target = small_vocabulary();
  config.source_vocabulary = config.target_vocabulary = small_tokenizer().size();
  config.unk_id = small_tokenizer().unk_id();
  config.eos_id = config.bos_id = small_tokenizer().eos_id();
  model.embedding_scale = std::sqrt(static_cast<double>(config.d_model));
  fill(model);
  return model;
}

/// A model that normalises the sum of embedding and position.
inline ForeignModel model_of_normalized_embeddings() {
  ForeignModel model = random_model();
  model.config.embedding_norm = true;
  fill(model);
  return model;
}

/// A model with two vocabularies, one of which has fewer pieces than the other.
inline ForeignModel model_of_two_vocabularies(Side smaller, Tying tying) {
  ForeignModel model = random_model(tying);
  ModelConfig& config = model.config;
  (smaller == Side::Source ? model.source : model.target) = vocabulary_of(smaller_tokenizer());
  config.source_vocabulary = static_cast<std::int64_t>(model.source.pieces.size());
  config.target_vocabulary = static_cast<std::int64_t>(model.target.pieces.size());
  model.parameters.clear();
  fill(model);
  return model;
}

/// The error of an import, which has one line; "no error" if it succeeds.
inline std::string import_error(const std::filesystem::path& path) {
  try {
    import_model(path);
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("\n")));
    return error.what();
  }
  return "no error";
}

}  // namespace dragoman
