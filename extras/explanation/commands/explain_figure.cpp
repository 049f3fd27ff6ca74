#include "extras/explanation/commands/explain_figure.h"

#include <cmath>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "base/amounts.h"
#include "base/error.h"
#include "extras/explanation/commands/token_strips.h"
#include "extras/report/attention_figure.h"
#include "extras/report/heads_figure.h"

namespace dragoman {

namespace {

bool has_weights(FigureKind figure) {
  return figure == FigureKind::Matrix || figure == FigureKind::Heads;
}

/// The flags that a figure has besides --figure and --kind.
std::set<std::string_view> flags_of(FigureKind figure) {
  switch (figure) {
    case FigureKind::Matrix:
      return {"layer", "head"};
    case FigureKind::Heads:
      return {};
    case FigureKind::FeedForward:
      return {"layer", "token"};
    case FigureKind::Input:
    case FigureKind::Residual:
      return {"token"};
  }
  return {};
}

std::int64_t layers_of(AttentionKind kind, const ModelConfig& config) {
  return kind == AttentionKind::Encoder ? config.encoder_layers : config.decoder_layers;
}

/// From 0; --layer 0 is the last.
std::size_t layer_of(const FigureFlags& flags, const ModelConfig& config) {
  return static_cast<std::size_t>((flags.layer == 0 ? layers_of(flags.kind, config) : flags.layer) -
                                  1);
}

std::string attention_name(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::Encoder:
      return "Encoder self-attention";
    case AttentionKind::Decoder:
      return "Decoder self-attention";
    case AttentionKind::Cross:
      return "Attention from decoder to encoder";
  }
  throw Error("there is no such attention");
}

const std::vector<AttentionWeights>& weights_of(AttentionKind kind,
                                                const SentenceExplanation& sentence) {
  switch (kind) {
    case AttentionKind::Encoder:
      return sentence.encoder;
    case AttentionKind::Decoder:
      return sentence.decoder;
    case AttentionKind::Cross:
      return sentence.cross;
  }
  throw Error("there is no such attention");
}

/// Of a head from 1, or the mean of all (0).
std::vector<float> weights_of_head(const AttentionWeights& weights, std::int64_t head) {
  const std::int64_t first = head == 0 ? 0 : head - 1;
  const std::int64_t last = head == 0 ? weights.heads : head;
  std::vector<float> values;
  for (std::int64_t q = 0; q < weights.queries; ++q)
    for (std::int64_t k = 0; k < weights.keys; ++k) {
      double sum = 0;
      for (std::int64_t h = first; h < last; ++h) sum += static_cast<double>(weights.at(h, q, k));
      values.push_back(static_cast<float>(sum / static_cast<double>(last - first)));
    }
  return values;
}

std::string matrix_svg(const FigureFlags& flags, const ModelConfig& config,
                       const SentenceExplanation& sentence) {
  const bool is_of_encoder = flags.kind == AttentionKind::Encoder;
  const bool is_of_decoder = flags.kind == AttentionKind::Decoder;
  const std::size_t layer = layer_of(flags, config);
  return to_svg(AttentionFigure{
      .title = join_text(
          attention_name(flags.kind), ", layer ", layer + 1,
          flags.head == 0 ? std::string(", mean of all heads") : join_text(", head ", flags.head)),
      .rows_title = is_of_encoder ? "piece that attends" : "piece that is written",
      .keys_title = is_of_decoder ? "piece that was read" : "piece that is attended to",
      .rows = pieces_of(is_of_encoder ? sentence.source_tokens : sentence.target_tokens),
      .keys = is_of_decoder ? read_pieces(sentence) : pieces_of(sentence.source_tokens),
      .weights = weights_of_head(weights_of(flags.kind, sentence)[layer], flags.head)});
}

/// The mean over the rows, in bits.
double entropy_of(const std::vector<float>& weights, std::int64_t rows) {
  double sum = 0;
  for (const float weight : weights)
    if (weight > 0) sum -= static_cast<double>(weight) * std::log2(static_cast<double>(weight));
  return sum / static_cast<double>(rows);
}

std::string heads_svg(const FigureFlags& flags, const SentenceExplanation& sentence) {
  const std::vector<AttentionWeights>& all = weights_of(flags.kind, sentence);
  HeadsFigure figure{
      .title = attention_name(flags.kind) + ", all heads",
      .note =
          "A row is a piece that attends, a column a piece that is attended to; below, how "
          "spread out a row is on average (0 bits: one piece gets all).",
      .rows = all.front().queries,
      .keys = all.front().keys,
      .layers = {}};
  for (const AttentionWeights& weights : all) {
    std::vector<HeadPicture>& heads = figure.layers.emplace_back();
    for (std::int64_t head = 1; head <= weights.heads; ++head) {
      std::vector<float> values = weights_of_head(weights, head);
      const double entropy = entropy_of(values, weights.queries);
      heads.push_back({.weights = std::move(values), .note = fixed_text(entropy, 1) + " bits"});
    }
  }
  return to_svg(figure);
}

TokenStrips strips_of(const FigureFlags& flags, const ModelConfig& config,
                      const SentenceExplanation& sentence) {
  return {config, sentence, flags.kind == AttentionKind::Encoder ? Stack::Encoder : Stack::Decoder,
          flags.token};
}

}  // namespace

FigureFlags checked(FigureFlags flags, const GivenValues& given) {
  const auto own = flags_of(flags.figure);
  for (const std::string name : {"layer", "head", "token"})
    if (given.contains(name) && !own.contains(name))
      throw UsageError("--", name, ": does not belong to --figure ", name_of(flags.figure));
  if (flags.layer < 0)
    throw UsageError("--layer ", flags.layer, ": layers count from 1; 0 is the last");
  if (flags.head < 0)
    throw UsageError("--head ", flags.head, ": heads count from 1; 0 is the mean of all");
  if (has_weights(flags.figure)) return flags;
  if (!given.contains("kind")) flags.kind = AttentionKind::Encoder;
  if (flags.kind == AttentionKind::Cross)
    throw UsageError("--kind cross: --figure ", name_of(flags.figure),
                     " shows a stack; choose encoder or decoder");
  return flags;
}

void check(const FigureFlags& flags, const ModelConfig& config) {
  const std::int64_t layers = layers_of(flags.kind, config);
  if (flags.layer > layers)
    throw UsageError("--layer ", flags.layer, ": there are ", counted(layers, "layer"));
  if (flags.head > config.heads)
    throw UsageError("--head ", flags.head, ": there are ", counted(config.heads, "head"));
}

std::string figure_of(const FigureFlags& flags, const ModelConfig& config,
                      const SentenceExplanation& sentence) {
  switch (flags.figure) {
    case FigureKind::Matrix:
      return matrix_svg(flags, config, sentence);
    case FigureKind::Heads:
      return heads_svg(flags, sentence);
    case FigureKind::Input:
      return to_svg(strips_of(flags, config, sentence).input());
    case FigureKind::FeedForward:
      return to_svg(strips_of(flags, config, sentence).feed_forward(layer_of(flags, config)));
    case FigureKind::Residual:
      return to_svg(strips_of(flags, config, sentence).residual());
  }
  throw Error("there is no such figure");
}

}  // namespace dragoman
