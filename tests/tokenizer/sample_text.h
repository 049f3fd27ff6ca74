// Lines of a toy language, the same on each call, and tokenizers that are trained on them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/train_tokenizer.h"

namespace dragoman {

inline std::vector<std::string> sample_text(int lines) {
  const std::vector<std::string> nouns = {"dog",     "house", "mother", "river",
                                          "teacher", "apple", "Übung",  "café"};
  const std::vector<std::string> verbs = {"sees", "builds", "follows", "loses", "paints"};
  const std::vector<std::string> adjectives = {"blue", "old", "quick", "friendly", "narrow"};
  RandomStream random(42);
  std::vector<std::string> text;
  for (int i = 0; i < lines; ++i) {
    const auto noun = [&] {
      return "the " + random.choice(adjectives) + " " + random.choice(nouns);
    };
    std::string line = noun();
    line += " " + random.choice(verbs) + " " + noun();
    if (random.chance(0.3)) line += " at " + std::to_string(random.below(1000)) + " o'clock";
    text.push_back(line + ".");
  }
  return text;
}

inline std::vector<std::string_view> views(const std::vector<std::string>& lines) {
  return {lines.begin(), lines.end()};
}

inline Tokenizer train_on(const std::vector<std::string>& lines, const TokenizerConfig& config) {
  return Tokenizer(train_tokenizer(views(lines), config).model_bytes, "trained");
}

inline Tokenizer tokenizer_of(std::int64_t pieces, int lines) {
  TokenizerConfig config;
  config.vocab_size = pieces;
  config.type = TokenizerType::Bpe;
  return train_on(sample_text(lines), config);
}

inline const Tokenizer& small_tokenizer() {
  static const Tokenizer trained = tokenizer_of(300, 200);
  return trained;
}

/// One tokenizer for both sides of a model.
inline TokenizerPair both_sides(Tokenizer tokenizer) {
  const auto one = std::make_shared<const Tokenizer>(std::move(tokenizer));
  return {.source = one, .target = one};
}

}  // namespace dragoman
