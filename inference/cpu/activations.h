// What the CPU engine computes on the way to a translation, for those who want to see it.
#pragma once

#include <vector>

namespace dragoman {

/// The activations of one sentence and of its translation, as CpuEngine::record writes them. A
/// vector of several rows [T, D] has them one after the other. The heads of a row stand one after
/// the other, d_k numbers each. S source tokens, T target tokens.
struct Activations {
  /// Section 3.2 of the paper: Attention(q, k, v) of all heads, side by side, is the context;
  /// context W^O is the output.
  struct Attention {
    std::vector<float> query, key, value;  ///< the encoder [S, D]; the decoder [T, D]; cross-
                                           ///< attention: query [T, D], key and value [S, D]
    std::vector<float> context, output;    ///< as many rows as query
  };
  /// Section 3.4 and 3.5: E[token] sqrt(D), the position's vector, and their sum, [tokens, D] each.
  /// Row t of the target is the token that the decoder reads at position t; row 0 is the start.
  struct Embedding {
    std::vector<float> token, position, sum;
  };

  Embedding source, target;
  std::vector<Attention> encoder, decoder, cross;  ///< of each layer
};

}  // namespace dragoman
