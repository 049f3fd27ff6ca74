// The probability of translations by the module tree.
#pragma once

#include "app/commands/open_scorer.h"

namespace dragoman {

/// An OpenScorer for the devices of LibTorch.
OpenedScorer open_torch_scorer(const ScorerChoice& choice);

}  // namespace dragoman
