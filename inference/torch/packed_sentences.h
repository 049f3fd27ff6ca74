// Source sentences as the module tree reads them.
#pragma once

#include <span>
#include <vector>

#include "inference/search/engine.h"
#include "model/transformer.h"

namespace dragoman {

/// The sentences one behind the other, on the model's device.
PackedTokens packed_sentences(Transformer& model, std::span<const std::vector<TokenId>> sentences);

}  // namespace dragoman
