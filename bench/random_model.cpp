// Writes a model of a preset's size with random weights and a tokenizer of random words, and
// sentences of random pieces for it, to measure the speed of translation.
//   random_model --preset base --vocab-size 32000 --length 27 --sentences 512 -o FOLDER
// FOLDER then has model.safetensors and sample.pieces (on each line one
// sentence of space-separated pieces).
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/files.h"
#include "base/random.h"
#include "model/file/model_file.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/train_tokenizer.h"

namespace {

using namespace dragoman;

std::string random_tokenizer(std::int64_t pieces) {
  RandomStream random(1);
  std::vector<std::string> lines(static_cast<std::size_t>(pieces));
  for (std::string& line : lines)
    for (int word = 0; word < 6; ++word) {
      for (std::uint64_t letters = 2 + random.below(6); letters > 0; --letters)
        line += static_cast<char>('a' + random.below(26));
      line += ' ';
    }
  TokenizerConfig config;
  config.vocab_size = pieces;
  config.type = TokenizerType::Bpe;
  return train_tokenizer({lines.begin(), lines.end()}, config).model_bytes;
}

/// Uniform, as wide as Glorot and Bengio (2010) start matrices; gains are 1, biases 0.
std::vector<float> random_values(const ParameterShape& parameter, RandomStream& random) {
  std::size_t count = 1;
  double width = 0;
  for (const std::int64_t dimension : parameter.shape) {
    count *= static_cast<std::size_t>(dimension);
    width += static_cast<double>(dimension);
  }
  if (parameter.shape.size() == 1)
    return std::vector<float>(count, parameter.name.ends_with("norm.weight") ? 1.0F : 0.0F);
  std::vector<float> values(count);
  const double limit = std::sqrt(6 / width);
  for (float& value : values) value = static_cast<float>(limit * (2 * random.uniform() - 1));
  return values;
}

std::string random_sentences(const Tokenizer& tokenizer, int sentences, int length) {
  RandomStream random(2);
  std::string text;
  const auto pieces = static_cast<std::uint64_t>(tokenizer.size() - 259);  // without bytes and </s>
  for (int s = 0; s < sentences; ++s)
    for (int i = 0; i < length; ++i) {
      text += tokenizer.piece(static_cast<TokenId>(259 + random.below(pieces)));
      text += i + 1 < length ? ' ' : '\n';
    }
  return text;
}

}  // namespace

int main(int count, char** arguments) try {
  CLI::App app("a model with random weights");
  std::string preset_name = "base", folder;
  std::int64_t vocabulary = 32'000;
  int length = 27, sentences = 512;
  app.add_option("--preset", preset_name)->check(CLI::IsMember({"tiny", "small", "base", "big"}));
  app.add_option("--vocab-size", vocabulary);
  app.add_option("--length", length, "pieces of a sentence")->check(CLI::PositiveNumber);
  app.add_option("--sentences", sentences)->check(CLI::PositiveNumber);
  app.add_option("-o,--output", folder)->required();
  CLI11_PARSE(app, count, arguments);

  ModelContents contents;
  contents.config = ModelConfig::from_preset(value_named<Preset>(preset_name).value());
  const std::string bytes = random_tokenizer(vocabulary);
  const Tokenizer tokenizer(bytes, "the random tokenizer");
  ModelConfig& config = contents.config;
  config.source_vocabulary = config.target_vocabulary = tokenizer.size();
  config.unk_id = tokenizer.unk_id();
  config.bos_id = tokenizer.bos_id();
  config.eos_id = tokenizer.eos_id();
  contents.tokenizer_source = bytes;
  contents.provenance.command = "random_model";
  RandomStream random(3);
  std::vector<std::vector<float>> values;
  for (const ParameterShape& parameter : parameter_shapes(config)) {
    values.push_back(random_values(parameter, random));
    contents.parameters.push_back(
        {parameter.name, Dtype::F32, parameter.shape, values.back().data()});
  }
  std::filesystem::create_directories(folder);
  write_model_file(std::filesystem::path(folder) / "model.safetensors", contents);
  write_file(std::filesystem::path(folder) / "sample.pieces",
             random_sentences(tokenizer, sentences, length));
} catch (const std::exception& error) {
  std::fprintf(stderr, "random_model: %s\n", error.what());
  return 1;
}
