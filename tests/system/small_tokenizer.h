// A tokenizer of a few words, for the models with untrained weights.
#pragma once

#include <string>
#include <vector>

#include "tokenizer/train_tokenizer.h"

namespace dragoman {

/// The bytes of its model.
inline std::string train_small_tokenizer() {
  std::vector<std::string> lines;
  for (int i = 0; i < 300; ++i)
    lines.push_back("the cat number " + std::to_string(i) + " sat on mat " + std::to_string(i * 7));
  TokenizerConfig config;
  config.vocab_size = 320;
  return train_tokenizer({lines.begin(), lines.end()}, config).model_bytes;
}

}  // namespace dragoman
