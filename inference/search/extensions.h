// How a step's candidates extend the hypotheses of a sentence: which of them a beam keeps, and
// which one is drawn.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "inference/search/decode_config.h"
#include "inference/search/engine.h"

namespace dragoman {

/// The error where a log-probability is not a number.
Error not_a_number();

/// Whether its probability is above 0. Throws not_a_number().
bool is_possible(const Candidate& candidate);

/// One more token for one of the rows.
struct Extension {
  std::int32_t row;
  TokenId token;
  double sum;  ///< of the log-probabilities, this token's included
};

/// Removes the extensions that a step of beam search does not keep, and sorts the others, best
/// first. It keeps those with </s> among the best `beam`, and the best `beam` without </s>. Of
/// equal sums the smaller row comes first, then the smaller token.
void keep_beam(std::vector<Extension>& extensions, std::int64_t beam, TokenId eos);

/// Keeps the best `most` extensions, best first, with or without </s>. Order as in keep_beam().
void keep_best(std::vector<Extension>& extensions, std::int64_t most);

/// Draws a candidate and returns its index; -1 if all have probability 0. Keeps the sampling-topk
/// best, divides their log-probabilities by the temperature, then keeps the fewest that together
/// have the fraction sampling-topp of their probability, and draws among these. `uniform` in
/// [0, 1) decides.
std::int64_t draw(std::span<const Candidate> candidates, const DecodeConfig& config,
                  double uniform);

}  // namespace dragoman
