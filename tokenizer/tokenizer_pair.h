// The tokenizers of a model's two sides.
#pragma once

#include <memory>

#include "tokenizer/tokenizer.h"

namespace dragoman {

struct TokenizerPair {
  std::shared_ptr<const Tokenizer> source;
  std::shared_ptr<const Tokenizer> target;  ///< the same object as `source` when joint

  bool joint() const { return source == target; }
};

}  // namespace dragoman
