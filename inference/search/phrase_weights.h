// The numbers of the search with required phrases (PhraseBeam). The search on a device has the same
// ones (kernels/cuda/search_phrases.cuh).
#pragma once

namespace dragoman::phrase_weights {

/// Penalty for each phrase that a translation lacks.
inline constexpr double kLacking = 8;
/// Weight of log(attention to a phrase's source positions) when the phrase begins.
inline constexpr double kPlacing = 2;
/// Weight of the attention to a phrase's source positions when a token of no phrase is written.
inline constexpr double kCovering = 2;
/// Penalty for the word that the phrase replaces, and for the phrase a second time. A second one
/// that gets less than the usual attention costs less.
inline constexpr double kRepeating = 6, kUsualAttention = 0.5;
/// The most that a phrase's first token costs.
inline constexpr double kMostFirst = 4;
/// Attention that is less than this counts as this much.
inline constexpr double kLeastAttention = 0.01;

}  // namespace dragoman::phrase_weights
