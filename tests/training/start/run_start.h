// The start of a run by facts that a test gives.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "tests/data/text_files.h"
#include "tests/tokenizer/sample_text.h"
#include "training/start/run_settings.h"
#include "training/start/settled_run.h"

namespace dragoman {

inline TokenizerPair trained(std::int64_t vocab_size) {
  TokenizerConfig config;
  config.vocab_size = vocab_size;
  TokenizerPair tokenizers;
  tokenizers.source = std::make_shared<const Tokenizer>(train_on(sample_text(200), config));
  tokenizers.target = tokenizers.source;
  return tokenizers;
}

class RunStart : public testing::Test {
 protected:
  static void SetUpTestSuite() { tokenizers_ = new TokenizerPair(trained(300)); }
  static void TearDownTestSuite() { delete tokenizers_; }
  static const TokenizerPair& tokenizers() { return *tokenizers_; }

  RunStart() {
    request.config = RunConfig::from_preset(Preset::Base);
    request.config.train.output = "run";
    request.config.data.train_source = {"a.en"};
    request.config.data.train_target = {"a.de"};
  }

  /// As a flag does.
  void ask(const std::string& name, const std::string& text) {
    if (text != kAuto) assign_text(field_named(request.config.fields(), name), text);
    request.settings.asked[name] = text;
  }
  SettledRun settled() const { return settle(request, facts); }
  std::string refusal() const {
    return message_of<UsageError>([this] { settle(request, facts); });
  }
  static std::string reason(const SettledRun& run, const std::string& name) {
    const auto found = run.settings.reasons.find(name);
    return found == run.settings.reasons.end() ? "" : found->second;
  }
  static GivenModel initial_model() {
    ModelConfig config = ModelConfig::from_preset(Preset::Tiny);
    config.source_vocabulary = config.target_vocabulary = tokenizers().source->size();
    return {.name = "the model of --init-from",
            .path = "first/model.safetensors",
            .config = config,
            .tokenizers = tokenizers()};
  }
  static TextFacts text(std::optional<ChosenPreset> preset = {}) {
    return {.size = {.pairs = 29'000, .target_characters = 2'000'000}, .preset = std::move(preset)};
  }
  static EpochFacts corpus() {
    return {.size = {.pairs = 29'000, .target_tokens = 430'000},
            .target_tokens_per_epoch = 430'000,
            .updates_per_epoch = 100};
  }
  /// The run that is asked for has begun, and goes on from update 500.
  void begin() {
    ProgressRecord begun;
    begun.update = 500;
    begun.start.settings = settled().settings;
    facts.begun = begun;
    facts.begun->start.machine = {.precision = "fp32", .threads = "2", .processor = "here"};
    facts.remembered = facts.begun->start.settings;
  }

  RunRequest request;
  StartFacts facts;

 private:
  static inline TokenizerPair* tokenizers_ = nullptr;
};

}  // namespace dragoman
