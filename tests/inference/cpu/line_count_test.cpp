// Whatever the lines are, whichever the engine and the batch: as many lines come out as went in.
#include <gtest/gtest.h>

#include <memory>

#include "base/utf8.h"
#include "inference/cpu/cpu_engine.h"
#include "inference/torch/torch_engine.h"
#include "inference/translate_text.h"
#include "model/file/model_file.h"
#include "tests/inference/random_rows.h"
#include "tests/model/file/scratch_file.h"
#include "tests/tokenizer/both_sides.h"
#include "tokenizer/train_tokenizer.h"

namespace dragoman {
namespace {

std::string random_word(RandomStream& random) {
  std::u32string word;
  for (std::uint64_t n = 1 + random.below(8); n > 0; --n) {
    const std::uint64_t range = random.chance(0.7) ? 0x7F : random.chance(0.7) ? 0x3000 : 0x10FFFF;
    const auto c = static_cast<char32_t>(1 + random.below(range));
    if ((c < 0xD800 || c > 0xDFFF) && c != '\n') word += c;
  }
  return to_utf8(word);
}

/// Of 0 to 5,000 words, mostly few.
std::string random_line(RandomStream& random) {
  const std::uint64_t most = random.chance(0.8) ? 12 : random.chance(0.8) ? 200 : 5'000;
  std::string line;
  for (std::uint64_t words = random.below(most + 1); words > 0; --words)
    line += random_word(random) + (random.chance(0.95) ? " " : "\t\u3000");
  return line;
}

TEST(LineCount, AsManyLinesComeOutAsWentIn) {
  std::vector<std::string> lines;
  RandomStream random(9);
  for (int i = 0; i < 60; ++i) lines.push_back(random_line(random));
  TokenizerConfig tokens;
  tokens.vocab_size = 300;
  const TokenizerPair tokenizers =
      both_sides(Tokenizer(train_tokenizer({"one two three four five"}, tokens).model_bytes, "t"));
  const Tokenizer& tokenizer = *tokenizers.source;

  ModelConfig config = configs()[0];
  config.source_vocabulary = config.target_vocabulary = tokenizer.size();
  Transformer model = make_model(config, torch::kCPU);
  ModelContents contents{.config = config,
                         .tokenizer_source = tokenizer.model_bytes(),
                         .tokenizer_target = {},
                         .provenance = {},
                         .parameters = {},
                         .training = {},
                         .progress = {}};
  for (const auto& item : model->named_parameters())
    contents.parameters.push_back(
        {item.key(), Dtype::F32, item.value().sizes().vec(), item.value().const_data_ptr<float>()});
  const ScratchFile file("line_count.safetensors");
  write_model_file(file.path(), contents);
  const ModelFileReader reader(file.path());

  std::vector<std::unique_ptr<Engine>> engines;
  for (const ComputeType type : {ComputeType::Float32, ComputeType::BFloat16, ComputeType::Int8})
    engines.push_back(std::make_unique<CpuEngine>(std::make_shared<CpuModel>(reader, type),
                                                  tokenizer.never_emitted()));
  engines.push_back(std::make_unique<TorchEngine>(model, tokenizer.never_emitted()));
  for (const auto& engine : engines)
    for (const std::int64_t batch : {0, 1, 7}) {
      const DecodeConfig decode{.beam_size = batch == 7 ? 3 : 1,
                                .max_length = 3,
                                .batch_size = engine == engines.back() && batch == 1 ? 30 : batch};
      TranslationService service({engine.get()}, tokenizers,
                                 {.limits = {.rows = decode.batch_size}});
      const auto translations = translate_lines(service, lines, {.config = decode});
      ASSERT_EQ(translations.size(), lines.size());
      for (std::size_t i = 0; i < lines.size(); ++i) {
        EXPECT_EQ(translations[i].line, static_cast<std::int64_t>(i));
        const std::string& text = translations[i].n_best.at(0).text;
        EXPECT_EQ(find_invalid_utf8(text), std::string::npos);
        EXPECT_EQ(text.find('\n'), std::string::npos);
      }
    }
}

}  // namespace
}  // namespace dragoman
