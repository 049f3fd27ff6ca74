// One tokenizer for both sides of a model.
#pragma once

#include <memory>
#include <utility>

#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

inline TokenizerPair both_sides(Tokenizer tokenizer) {
  const auto one = std::make_shared<const Tokenizer>(std::move(tokenizer));
  return {.source = one, .target = one};
}

}  // namespace dragoman
