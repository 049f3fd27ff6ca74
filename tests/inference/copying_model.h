// A model that translates each sentence into itself, and its tokenizer.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/inference/search/table_engine.h"
#include "tests/tokenizer/sample_text.h"

namespace dragoman {

inline const TokenizerPair& tokenizer_pair() {
  static const TokenizerPair trained = [] {
    std::vector<std::string> lines;
    RandomStream random(1);
    const std::vector<std::string> words = {"one", "two", "three", "Four", "five.", "six,"};
    for (int i = 0; i < 200; ++i) {
      lines.emplace_back();
      for (int w = 0; w < 6; ++w) lines.back() += random.choice(words) + " ";
    }
    TokenizerConfig config;
    config.vocab_size = 300;
    config.type = TokenizerType::Bpe;
    return both_sides(train_on(lines, config));
  }();
  return trained;
}

inline const Tokenizer& tokenizer() { return *tokenizer_pair().source; }

/// A model that translates each sentence into itself; if it must differ, it writes another word.
inline Distribution copying() {
  static const std::vector<float> others = [] {
    std::vector<float> scores;
    for (TokenId id = 0; id < tokenizer().size(); ++id)
      scores.push_back(tokenizer().piece(id).starts_with("\u2581") ? -10 : -20);
    return scores;
  }();
  return [](const std::vector<TokenId>& source, const std::vector<TokenId>& prefix) {
    std::vector<float> scores = others;
    if (prefix.size() < source.size()) scores[static_cast<std::size_t>(source[prefix.size()])] = 0;
    return scores;
  };
}

class CopyingEngine : public TableEngine {
 public:
  explicit CopyingEngine(std::int64_t longest = 1'000'000)
      : TableEngine(tokenizer().size(), copying()) {
    positions = longest;
  }
};

}  // namespace dragoman
