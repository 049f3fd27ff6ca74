// The vectors of one token on its way through a stack, as strips of a figure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "extras/explanation/explainer.h"
#include "extras/report/strips_figure.h"
#include "model/file/model_config.h"

namespace dragoman {

std::vector<std::string> pieces_of(const std::vector<ExplainedToken>& tokens);

/// The pieces that the decoder reads: each token follows the one before.
std::vector<std::string> read_pieces(const SentenceExplanation& sentence);

enum class Stack { Encoder, Decoder };

class TokenStrips {
 public:
  /// `token` counts from 1; in the decoder it is the position. Throws UsageError where the sentence
  /// has no such token. What is given must outlive the strips.
  TokenStrips(const ModelConfig& config, const SentenceExplanation& sentence, Stack stack,
              std::int64_t token);

  StripsFigure input() const;                          ///< sections 3.4 and 3.5
  StripsFigure feed_forward(std::size_t layer) const;  ///< section 3.3; the layer from 0
  StripsFigure residual() const;                       ///< section 3.1: what each sub-layer adds

 private:
  struct SubLayer {
    std::string name;
    const std::vector<float>*stream, *output;
    bool ends_layer;
  };

  bool of_encoder() const { return stack_ == Stack::Encoder; }
  const std::vector<Activations::FeedForward>& feed_forwards() const;
  std::vector<SubLayer> sub_layers() const;
  std::string title(const std::string& name) const;
  /// The row of this token, of [tokens, numbers].
  std::vector<float> row_of(const std::vector<float>& all) const;
  Strip strip(std::string name, const std::vector<float>& all) const;

  const ModelConfig& config_;
  const SentenceExplanation& sentence_;
  const Stack stack_;
  const std::vector<std::string> pieces_;
  std::size_t token_ = 0;  // from 0
};

}  // namespace dragoman
