// What the CPU engine computes on the way to a translation, for those who want to see it.
#pragma once

#include <vector>

namespace dragoman {

/// The activations of one sentence and of its translation, as CpuEngine::observe writes them. A
/// vector of several rows [T, D] has them one after the other. The heads of a row stand one after
/// the other, d_k numbers each. S source tokens, T target tokens.
struct Activations {
  /// Section 3.2 of the paper: Attention(q, k, v) of all heads, side by side, is the context;
  /// context W^O is the output.
  struct Attention {
    std::vector<float> query, key, value;  ///< the encoder [S, D]; the decoder [T, D]; cross-
                                           ///< attention: query [T, D], key and value [S, D]
    std::vector<float> context, output;    ///< as many rows as query
    std::vector<float> stream;             ///< output is added to it; as many rows
  };
  /// Section 3.3: the input widened by W1 to F numbers, of which the activation leaves `hidden`
  /// (max(0, .), or what the model has instead); hidden W2 + b2 is the output.
  struct FeedForward {
    std::vector<float> stream;  ///< output is added to it, [rows, D]
    std::vector<float> input;   ///< the stream, normalised where the norm stands before, [rows, D]
    std::vector<float> hidden;  ///< [rows, F]
    std::vector<float> output;  ///< [rows, D]
  };
  /// Section 3.4 and 3.5: E[token] sqrt(D), the position's vector, and their sum, [tokens, D] each.
  /// Row t of the target is the token that the decoder reads at position t; row 0 is the start.
  struct Embedding {
    std::vector<float> token, position, sum;
  };

  Embedding source, target;
  std::vector<Attention> encoder, decoder, cross;                       ///< of each layer
  std::vector<FeedForward> encoder_feed_forward, decoder_feed_forward;  ///< of each layer
  std::vector<float> memory, decoded;  ///< of the whole stacks, [S, D] and [T, D]
};

}  // namespace dragoman
