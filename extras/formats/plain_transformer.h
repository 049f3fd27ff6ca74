// A Transformer in plain loops, as its own system defines it, with that system's order of columns,
// positions and factors. It is slow and shares no code with the engines, so imported and exported
// models can be checked against it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "extras/formats/foreign_model.h"

namespace dragoman {

/// The formula of positions in one column of the vectors that are added to the embeddings.
/// Positions of a line count from 0.
double plain_position(const ForeignModel& model, std::int64_t position, std::int64_t column);

/// The formula's first `positions` vectors, [positions, D].
std::vector<float> plain_positions(const ForeignModel& model, std::int64_t positions);

/// Log-probabilities [target.size(), V] of the next token. Row t is for the token that follows the
/// first t tokens of `target`.
std::vector<std::vector<double>> plain_log_probabilities(const ForeignModel& model,
                                                         std::span<const TokenId> source,
                                                         std::span<const TokenId> target);

}  // namespace dragoman
