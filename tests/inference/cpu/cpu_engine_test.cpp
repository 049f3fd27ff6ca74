#include "inference/cpu/cpu_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "base/error.h"
#include "base/utf8.h"
#include "inference/torch/torch_device_model.h"
#include "inference/translate_text.h"
#include "model/file/derived_models.h"
#include "model/file/model_file.h"
#include "tests/allocations.h"
#include "tests/inference/lone_worker.h"
#include "tests/inference/module_tree_engine.h"
#include "tests/inference/random_rows.h"
#include "tests/model/file/scratch_file.h"
#include "tests/model/file/small_model.h"
#include "tests/tokenizer/sample_text.h"
#include "tokenizer/train_tokenizer.h"

namespace dragoman {
namespace {

/// The models of all engines' tests, and one for each other activation.
std::vector<ModelConfig> all_configs() {
  std::vector<ModelConfig> all = configs();
  for (const Activation activation :
       {Activation::Gelu, Activation::Swish, Activation::GatedSwish}) {
    all.push_back(all.front());
    all.back().activation = activation;
    all.back().tying = Tying::TwoWay;
  }
  return all;
}

/// The model from a file, which may have rounded matrices.
std::shared_ptr<const CpuModel> packed(const Transformer& model, ComputeType type,
                                       bool rounded = false) {
  const ScratchFile file("cpu_model.safetensors");
  write_model_file(file.path(), {.config = model->config,
                                 .tokenizer_source = "pretend tokenizer",
                                 .parameters = tensors_of(model)});
  if (rounded) write_quantized(ModelFileReader(file.path()), file.path(), {}, "");
  return std::make_shared<CpuModel>(ModelFileReader(file.path()), type);
}

TEST(CpuEngine, StepByStepIsTheWholeSequenceWhateverHappensToRows) {
  for (const ModelConfig& config : all_configs()) {
    Transformer model = make_model(config, torch::kCPU);
    CpuEngine engine(packed(model, ComputeType::Float32), {});
    expect_random_rows_score_as_whole_sequences(engine, model);
  }
}

TEST(CpuEngine, HelpersGiveTheSameBits) {
  ModelConfig config = configs()[0];
  config.d_model = 64;
  config.d_ff = 512;
  Transformer model = make_model(config, torch::kCPU);
  const auto waiting = waiting_sentences(12, 60);
  for (const ComputeType type : {ComputeType::Float32, ComputeType::Int8}) {
    const auto weights = packed(model, type);
    CpuEngine alone(weights, {0, 1});
    const auto team = std::make_shared<EngineTeam>(3);
    CpuEngine helped(weights, {0, 1}, team);
    const DecodeConfig decode{.beam_size = 4, .max_length = 40};
    EXPECT_EQ(search(helped, decode, waiting), search(alone, decode, waiting));
    EXPECT_EQ(team->busy, 0);
    {
      CpuEngine other(weights, {}, team);
      other.admit(sentences(2, 5));
      helped.release(helped.admit(sentences(1, 5)));
      EXPECT_EQ(team->busy, 1);
    }
    EXPECT_EQ(team->busy, 0);
  }
}

TEST(CpuEngine, AnEncoderThatFailsLeavesTheHelpersToTheOthers) {
  Transformer model = make_model(configs()[1], torch::kCPU);  // learned positions
  const auto team = std::make_shared<EngineTeam>(3);
  CpuEngine engine(packed(model, ComputeType::Float32), {}, team);
  EXPECT_THROW(engine.admit(std::vector<Tokens>{Tokens(41, 9)}), Error);
  EXPECT_EQ(team->busy, 0);
}

TEST(CpuEngine, WeightsInMemoryAreThoseOfTheFile) {
  for (const ModelConfig& config : all_configs()) {
    Transformer model = make_model(config, torch::kCPU);
    const auto in_memory = std::make_shared<CpuModel>(ParametersInMemory(config, tensors_of(model)),
                                                      ComputeType::Float32);
    CpuEngine engine(in_memory, {}), of_file(packed(model, ComputeType::Float32), {});
    const auto waiting = waiting_sentences(20, 12);
    const DecodeConfig decode{.beam_size = 3, .max_length = 20};
    EXPECT_EQ(search(engine, decode, waiting), search(of_file, decode, waiting));
  }
}

TEST(CpuEngine, CandidatesAreThoseOfTheModuleTree) {
  Transformer model = make_model(configs()[0], torch::kCPU);
  CpuEngine cpu(packed(model, ComputeType::Float32), {5, 7});
  ModuleTreeEngine tree(model, {5, 7});
  std::vector<std::vector<Candidate>> found;
  for (const std::int64_t best : {std::int64_t{1}, std::int64_t{4}, kVocabulary})
    for (HostEngine* engine : {static_cast<HostEngine*>(&cpu), static_cast<HostEngine*>(&tree)}) {
      const auto slots = engine->admit(sentences(2, 8));
      const std::vector<RowOrigin> rows = {{-1, slots[0]}, {-1, slots[1]}};
      found.push_back(step(*engine, rows, {kEos, kEos}, best, {{1, kEos, kExclude}}));
      engine->release(slots);
      if (engine == &cpu) continue;
      const auto &ours = found[found.size() - 2], &expected = found.back();
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(ours[i].token, expected[i].token);
        if (std::isinf(expected[i].log_probability))
          EXPECT_EQ(ours[i].log_probability, expected[i].log_probability);
        else
          EXPECT_NEAR(ours[i].log_probability, expected[i].log_probability, 1e-5);
      }
    }
}

TEST(CpuEngine, ARoundedFileComputesAsWeightsThatAreRoundedWhenLoaded) {
  for (const ModelConfig& config : all_configs()) {
    Transformer model = make_model(config, torch::kCPU);
    // The vectors of the pieces are rounded only in the file.
    const torch::NoGradGuard no_grad;
    for (auto& item : model->named_parameters())
      if (item.key().starts_with("embedding")) {
        const auto scale = item.value().abs().amax(1, true) / 127;
        item.value().copy_((item.value() / scale).round() * scale);
      }
    const auto waiting = waiting_sentences(20, 12);
    const DecodeConfig decode{.beam_size = 3, .max_length = 20};
    CpuEngine loaded(packed(model, ComputeType::Int8), {}),
        stored(packed(model, ComputeType::Auto, true), {}),
        as_floats(packed(model, ComputeType::Float32, true), {}),
        floats(packed(model, ComputeType::Auto), {});
    const Results expected = search(loaded, decode, waiting);
    for (const auto& [line, result] : search(stored, decode, waiting)) {
      EXPECT_EQ(result.first, expected.at(line).first);
      EXPECT_NEAR(result.second, expected.at(line).second, 1e-3);
    }
    const Results exact = search(floats, decode, waiting);
    int same = 0;
    for (const auto& [line, result] : search(as_floats, decode, waiting))
      same += result.first == exact.at(line).first ? 1 : 0;
    EXPECT_GE(same, 12) << "of 20 with weights that are a little off";
  }
}

/// The results of a step besides its candidates.
struct Told {
  std::vector<Candidate> candidates;
  std::vector<float> reported, attention;
};

Told adjusted_step(HostEngine& engine, const std::vector<RowOrigin>& rows, AttentionHeads heads) {
  const std::vector<Adjustment> adjustments = {{0, 6, 2.5F}, {1, 4, kExclude}, {1, 9, 0.5F}};
  const std::vector<RowToken> reported = {{0, 3}, {0, 6}, {1, 4}};
  Told told{.candidates = std::vector<Candidate>(2 * kVocabulary),
            .reported = std::vector<float>(reported.size()),
            .attention = {}};
  engine.step({.rows = rows,
               .previous = Tokens{kEos, kEos},
               .adjustments = adjustments,
               .candidates_per_row = kVocabulary,
               .candidates = told.candidates,
               .reported = reported,
               .reported_log_probabilities = told.reported,
               .attention = &told.attention,
               .heads = heads});
  return told;
}

TEST(CpuEngine, LogProbabilitiesAndAttentionAreThoseOfTheModuleTree) {
  for (const ModelConfig& config : configs()) {
    Transformer model = make_model(config, torch::kCPU);
    CpuEngine cpu(packed(model, ComputeType::Float32), {5});
    ModuleTreeEngine tree(model, {5});
    const auto sources = sentences(2, 8);
    for (const AttentionHeads heads : {AttentionHeads{}, {1, 2}, {3, 0}, {2, 1}}) {
      std::vector<Told> both;
      for (HostEngine* engine : {static_cast<HostEngine*>(&cpu), static_cast<HostEngine*>(&tree)}) {
        const auto slots = engine->admit(sources);
        const std::vector<RowOrigin> fresh = {{-1, slots[0]}, {-1, slots[1]}};
        both.push_back(adjusted_step(*engine, fresh, heads));
        both.push_back(adjusted_step(*engine, {{0, slots[0]}, {1, slots[1]}}, heads));
        engine->release(slots);
      }
      for (std::size_t i = 0; i < 2; ++i) {
        const Told &ours = both[i], &expected = both[i + 2];
        for (std::size_t c = 0; c < expected.candidates.size(); ++c) {
          if (std::isinf(expected.candidates[c].log_probability))
            EXPECT_EQ(ours.candidates[c].log_probability, expected.candidates[c].log_probability);
          else
            EXPECT_NEAR(ours.candidates[c].log_probability, expected.candidates[c].log_probability,
                        1e-4);
        }
        EXPECT_FLOAT_EQ(ours.candidates[6].log_probability, 2.5F * ours.reported[1]);
        for (std::size_t w = 0; w < expected.reported.size(); ++w)
          EXPECT_NEAR(ours.reported[w], expected.reported[w], 1e-4);
        ASSERT_EQ(expected.attention.size(), sources[0].size() + sources[1].size());
        ASSERT_EQ(ours.attention.size(), expected.attention.size());
        double total = 0;
        for (std::size_t a = 0; a < expected.attention.size(); ++a) {
          EXPECT_NEAR(ours.attention[a], expected.attention[a], 1e-5);
          total += ours.attention[a];
        }
        EXPECT_NEAR(total, 2, 1e-5);
      }
    }
    EXPECT_THROW(cpu.check({4, 0}), UsageError);
    EXPECT_THROW(cpu.check({0, 3}), UsageError);
  }
}

TEST(CpuEngine, TranslationsAreTheSameBitsForAnyBatchSizeAndOrder) {
  for (const ModelConfig& model_config : configs())
    for (const ComputeType type :
         {ComputeType::Float32, ComputeType::BFloat16, ComputeType::Int8}) {
      Transformer model = make_model(model_config, torch::kCPU);
      const auto weights = packed(model, type);
      auto waiting = waiting_sentences(20, 12);
      for (const std::int64_t beam : {1, 4}) {
        DecodeConfig config{.beam_size = beam};
        config.max_length = 25;
        config.batch_size = 1;
        CpuEngine one(weights, {0, 1});
        const Results alone = search(one, config, waiting);
        for (const std::int64_t rows : {7, 500}) {
          config.batch_size = rows;
          RandomStream(5, rows).shuffle(waiting);
          CpuEngine many(weights, {0, 1});
          EXPECT_EQ(search(many, config, waiting), alone);
        }
      }
    }
}

/// Candidates of the first sentence's first step, beside the others.
std::vector<Candidate> first_candidates(CpuEngine& engine, const std::vector<Tokens>& sentences) {
  const auto slots = engine.admit(sentences);
  const std::vector<RowOrigin> rows = {{-1, slots[0]}};
  return step(engine, rows, {kEos}, kVocabulary);
}

TEST(CpuEngine, ANeighbourOfAnyLengthChangesNoBit) {
  for (const std::int64_t heads : {2, 3, 32}) {
    ModelConfig config = configs()[0];
    config.d_model = 96;
    config.heads = heads;
    config.encoder_layers = config.decoder_layers = 1;
    Transformer model = make_model(config, torch::kCPU);
    const Tokens sentence = sentences(1, 12)[0];
    for (const ComputeType type :
         {ComputeType::Float32, ComputeType::BFloat16, ComputeType::Int8}) {
      const auto weights = packed(model, type);
      CpuEngine alone(weights, {});
      const auto expected = first_candidates(alone, {sentence});
      for (const std::size_t length : {300, 512, 513}) {
        CpuEngine beside(weights, {});
        const auto found = first_candidates(beside, {sentence, Tokens(length, 9)});
        for (std::size_t i = 0; i < expected.size(); ++i)
          EXPECT_EQ(found[i].log_probability, expected[i].log_probability)
              << heads << " heads, beside " << length << " pieces";
      }
    }
  }
}

TEST(CpuEngine, SentencesOfSeveralPassesOfTheEncoderHaveTheSameBits) {
  Transformer model = make_model(configs()[0], torch::kCPU);
  std::vector<Tokens> many = sentences(60, 60);
  many[7].assign(1500, 9);
  for (const ComputeType type : {ComputeType::Float32, ComputeType::Int8}) {
    const auto weights = packed(model, type);
    CpuEngine together(weights, {}), alone(weights, {});
    const auto slots = together.admit(many);
    std::vector<RowOrigin> rows;
    for (const std::int32_t slot : slots) rows.push_back({-1, slot});
    const auto found = step(together, rows, Tokens(many.size(), kEos), kVocabulary);
    for (std::size_t s = 0; s < many.size(); ++s) {
      const auto expected = first_candidates(alone, {many[s]});
      for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_EQ(found[s * kVocabulary + i].log_probability, expected[i].log_probability) << s;
    }
  }
}

TEST(CpuEngine, NumbersThatAreNotFiniteAreFoundWhenWeightsAreLoaded) {
  const torch::NoGradGuard no_grad;
  for (const ComputeType type :
       {ComputeType::Auto, ComputeType::Float32, ComputeType::BFloat16, ComputeType::Int8})
    for (const char* name :
         {"embedding.source.weight", "output.weight", "encoder.layers.1.self_attention.key.weight",
          "decoder.layers.0.feed_forward.outer.bias", "decoder.norm.weight"})
      for (const float number : {NAN, -INFINITY}) {
        const Transformer model = make_model(configs()[1], torch::kCPU);
        model->named_parameters()[name].view(-1)[7] = number;
        EXPECT_THAT([&] { packed(model, type); },
                    testing::ThrowsMessage<Error>(
                        testing::AllOf(testing::HasSubstr(std::string("tensor ") + name + " has"),
                                       testing::HasSubstr("cpu_model.safetensors: "))));
      }
}

TEST(CpuEngine, AScaleThatIsNotFiniteIsFoundWhenWeightsAreLoaded) {
  const Transformer model = make_model(configs()[0], torch::kCPU);
  const ScratchFile file("rounded.safetensors");
  ModelContents contents{.config = model->config,
                         .tokenizer_source = "pretend tokenizer",
                         .parameters = tensors_of(model)};
  write_model_file(file.path(), contents);
  write_quantized(ModelFileReader(file.path()), file.path(), {}, "");
  const ModelFileReader rounded(file.path());
  contents.parameters.clear();
  std::vector<float> scales;
  for (const std::string& name : rounded.names())
    for (TensorData& tensor : rounded.stored(name)) {
      contents.parameters.push_back(tensor);
      if (tensor.name != "encoder.layers.0.feed_forward.inner.weight.scales") continue;
      scales.assign(static_cast<std::size_t>(tensor.elements()), NAN);
      contents.parameters.back().data = scales.data();
    }
  const ScratchFile damaged("damaged.safetensors");
  write_model_file(damaged.path(), contents);
  for (const ComputeType type : {ComputeType::Auto, ComputeType::Float32})
    EXPECT_THROW(CpuModel(ModelFileReader(damaged.path()), type), Error);
}

// Longer than a cache and a packed attention have room for at first.
TEST(CpuEngine, LongSentencesAreThoseOfTheModuleTree) {
  Transformer model = make_model(configs()[0], torch::kCPU);
  CpuEngine cpu(packed(model, ComputeType::Float32), {0, 1});
  const auto tree = device_engine({model}, {0, 1});
  auto waiting = waiting_sentences(3, 40);
  waiting[1].tokens.assign(700, 9);
  waiting[1].tokens.back() = kEos;
  DecodeConfig config{.beam_size = 3, .min_length = 180, .max_length_ratio = 300};
  config.max_length = 200;
  const Results ours = search(cpu, config, waiting), expected = search(*tree, config, waiting);
  for (const auto& [line, result] : expected) {
    EXPECT_EQ(ours.at(line).first, result.first);
    EXPECT_NEAR(ours.at(line).second, result.second, 1e-4);
    EXPECT_GE(result.first.size(), 179U);
  }
}

TEST(CpuEngine, RoundedTypesAreNearWhatTheyRound) {
  for (const ComputeType type : {ComputeType::BFloat16, ComputeType::Int8})
    for (const ModelConfig& config : configs()) {
      Transformer model = make_model(config, torch::kCPU);
      CpuEngine exact(packed(model, ComputeType::Float32), {}), rounded(packed(model, type), {});
      std::vector<std::vector<Candidate>> found;
      for (HostEngine* engine : {&exact, &rounded}) {
        const auto slots = engine->admit(sentences(2, 8));
        const std::vector<RowOrigin> rows = {{-1, slots[0]}, {-1, slots[1]}};
        found.push_back(step(*engine, rows, {kEos, kEos}, kVocabulary));
      }
      double most = 0, sum = 0;
      for (std::size_t i = 0; i < found[0].size(); ++i) {
        const double difference = std::abs(
            static_cast<double>(found[0][i].log_probability - found[1][i].log_probability));
        most = std::max(most, difference);
        sum += difference;
      }
      // Weights, activations, keys and values are rounded.
      EXPECT_LT(most, 0.2);
      EXPECT_LT(sum / static_cast<double>(found[0].size()), 0.05);
      EXPECT_GT(most, 0);
    }
}

std::string random_word(RandomStream& random) {
  std::u32string word;
  for (std::uint64_t n = 1 + random.below(8); n > 0; --n) {
    const std::uint64_t range = random.chance(0.7) ? 0x7F : random.chance(0.7) ? 0x3000 : 0x10FFFF;
    const auto c = static_cast<char32_t>(1 + random.below(range));
    if ((c < 0xD800 || c > 0xDFFF) && c != '\n') word += c;
  }
  return to_utf8(word);
}

/// A line of 0 to 5,000 words, mostly few.
std::string random_line(RandomStream& random) {
  const std::uint64_t most = random.chance(0.8) ? 12 : random.chance(0.8) ? 200 : 5'000;
  std::string line;
  for (std::uint64_t words = random.below(most + 1); words > 0; --words)
    line += random_word(random) + (random.chance(0.95) ? " " : "\t\u3000");
  return line;
}

/// For any lines, engine and batch.
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
  const ScratchFile file("line_count.safetensors");
  write_model_file(file.path(), {.config = config,
                                 .tokenizer_source = tokenizer.model_bytes(),
                                 .parameters = tensors_of(model)});
  const ModelFileReader reader(file.path());

  std::vector<std::unique_ptr<Engine>> engines;
  for (const ComputeType type : {ComputeType::Float32, ComputeType::BFloat16, ComputeType::Int8})
    engines.push_back(std::make_unique<CpuEngine>(std::make_shared<CpuModel>(reader, type),
                                                  tokenizer.never_emitted()));
  engines.push_back(device_engine({model}, tokenizer.never_emitted()));
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

constexpr std::int64_t kLength = 50;

std::vector<SourceSentence> short_sentences() {
  std::vector<SourceSentence> all;
  for (std::int64_t line = 0; line < 5; ++line) all.push_back({line, 0, {3, 4, 5, 2}});
  return all;
}

/// A step of translation allocates nothing.
class Allocation : public testing::TestWithParam<std::int64_t> {};

TEST_P(Allocation, AStepAllocatesNothing) {
  SmallModel small(40);
  const ScratchFile file("small.safetensors");
  write_model_file(file.path(), small.contents);
  const ModelFileReader reader(file.path());
  for (const ComputeType type : {ComputeType::Float32, ComputeType::BFloat16, ComputeType::Int8}) {
    CpuEngine engine(std::make_shared<CpuModel>(reader, type), {0, 1});
    const DecodeConfig decode{
        .beam_size = GetParam(), .min_length = kLength, .max_length = kLength, .batch_size = 40};
    LoneWorker worker(engine, decode, {2});
    worker.add(short_sentences());
    while (!worker.idle()) worker.step();

    worker.add(short_sentences());
    worker.step();  // takes them in
    for (std::int64_t step = 2; step + 1 < kLength; ++step) {
      const std::int64_t before = allocations();
      worker.step();
      ASSERT_EQ(allocations(), before) << "step " << step;
    }
    const std::int64_t before = allocations();
    while (!worker.idle()) worker.step();
    EXPECT_GT(allocations(), before) << "results are vectors";
  }
}

INSTANTIATE_TEST_SUITE_P(Beams, Allocation, testing::Values(1, 4));

}  // namespace
}  // namespace dragoman
