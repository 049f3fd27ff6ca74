// The figures of `dragoman explain --format svg`.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "app/frame/command_line.h"
#include "extras/explanation/explainer.h"
#include "model/file/model_config.h"

namespace dragoman {

enum class FigureKind { Matrix, Heads, Input, FeedForward, Residual };
constexpr std::array<std::string_view, 5> names_of(FigureKind) {
  return {"matrix", "heads", "input", "feed-forward", "residual"};
}

enum class AttentionKind { Encoder, Decoder, Cross };
constexpr std::array<std::string_view, 3> names_of(AttentionKind) {
  return {"encoder", "decoder", "cross"};
}

struct FigureFlags {
  FigureKind figure = FigureKind::Matrix;
  AttentionKind kind = AttentionKind::Cross;
  std::int64_t layer = 0, head = 0, token = 1;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Figure (--format svg)", visit);
    field("figure", figure,
          "the weights of one attention (matrix), of all heads of all layers (heads), or the "
          "vectors of one token: what the stack reads (input), the feed-forward network of a "
          "layer, what each sub-layer adds (residual)");
    field("kind", kind,
          "the attention of the encoder, of the decoder to itself, or of the decoder to the "
          "encoder (cross); for vectors the stack, by default the encoder");
    field("layer", layer, "the layer, from 1; 0: the last");
    field("head", head, "the head, from 1; 0: the mean of all");
    field("token", token,
          "the token whose vectors are shown, from 1; in the decoder the position, which reads the "
          "token before");
  }
};

/// The flags that only figures have.
inline constexpr std::array kFigureFlags = {"figure", "kind", "layer", "head", "token"};

/// The flags; if the figure has no cross-attention, the default of --kind is the encoder. Throws
/// UsageError for a flag that the figure does not have.
FigureFlags checked(FigureFlags flags, const GivenValues& given);

/// Throws UsageError if the model has no such layer or head.
void check(const FigureFlags& flags, const ModelConfig& config);

/// The SVG file. Throws UsageError if the sentence has no such token.
std::string figure_of(const FigureFlags& flags, const ModelConfig& config,
                      const SentenceExplanation& sentence);

}  // namespace dragoman
