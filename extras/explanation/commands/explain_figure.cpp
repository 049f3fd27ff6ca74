#include "extras/explanation/commands/explain_figure.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/formatted_text.h"
#include "extras/report/figures.h"

namespace dragoman {

namespace {

std::vector<float> plus(std::vector<float> a, const std::vector<float>& b) {
  std::ranges::transform(a, b, a.begin(), std::plus());
  return a;
}

Strip with_length(std::string name, std::vector<float> numbers) {
  double squares = 0;
  for (const float number : numbers)
    squares += static_cast<double>(number) * static_cast<double>(number);
  return {.name = std::move(name),
          .numbers = std::move(numbers),
          .note = "length " + fixed_text(std::sqrt(squares), 1)};
}

std::vector<std::string> pieces_of(const std::vector<ExplainedToken>& tokens) {
  std::vector<std::string> pieces;
  for (const ExplainedToken& token : tokens) pieces.push_back(token.piece);
  return pieces;
}

/// The pieces that the decoder reads: at each position the token before.
std::vector<std::string> read_pieces(const SentenceExplanation& sentence) {
  std::vector<std::string> pieces = pieces_of(sentence.target_tokens);
  pieces.pop_back();
  pieces.insert(pieces.begin(), std::string(kBeginPiece));
  return pieces;
}

enum class Stack { Encoder, Decoder };

/// The vectors of one token on its way through a stack, as strips of a figure.
class TokenStrips {
 public:
  /// `token` counts from 1; in the decoder it is the position. Throws UsageError if the sentence
  /// has no such token. The arguments must outlive the strips.
  TokenStrips(const ModelConfig& config, const SentenceExplanation& sentence, Stack stack,
              std::int64_t token)
      : config_(config),
        sentence_(sentence),
        stack_(stack),
        pieces_(of_encoder() ? pieces_of(sentence.source_tokens) : read_pieces(sentence)) {
    const auto count = static_cast<std::int64_t>(pieces_.size());
    if (token < 1 || token > count)
      throw UsageError("--token ", token, ": ", of_encoder() ? "the sentence" : "the translation",
                       " has ", counted(count, "token"));
    token_ = static_cast<std::size_t>(token - 1);
  }

  /// Sections 3.4 and 3.5.
  StripsFigure input() const {
    const auto& [token, position, sum] =
        of_encoder() ? sentence_.activations.source : sentence_.activations.target;
    return {.title = title("Input"),
            .strips = {strip("√D × E[" + pieces_[token_] + "]", token),
                       strip(join_text("+ position ", token_), position),
                       strip("= what the first layer reads", sum)}};
  }

  /// Section 3.3; the layer from 0.
  StripsFigure feed_forward(std::size_t layer) const {
    const Activations::FeedForward& all = feed_forwards()[layer];
    const bool is_relu = config_.activation == Activation::Relu;
    Strip hidden = strip(is_relu ? "max(0, x W₁ + b₁)" : "the activation of x W₁ + b₁", all.hidden);
    if (is_relu)
      hidden.note =
          join_text(std::ranges::count_if(hidden.numbers, [](float number) { return number > 0; }),
                    " of ", hidden.numbers.size(), " are above 0");
    return {.title = title(join_text("Feed-forward network of layer ", layer + 1)),
            .strips = {strip(is_before(config_.norm) ? "x, normalised" : "x", all.input), hidden,
                       strip("that times W₂, plus b₂", all.output)}};
  }

  /// Section 3.1: what each sub-layer adds.
  StripsFigure residual() const {
    const Activations& all = sentence_.activations;
    const bool before = is_before(config_.norm);
    const std::vector<float>& last = of_encoder() ? all.memory : all.decoded;
    StripsFigure figure{
        .title = title("Residual connections"),
        .strips = {strip("embedding + position", of_encoder() ? all.source.sum : all.target.sum)}};
    const std::vector<SubLayer> way = sub_layers();
    if (config_.embedding_norm)
      figure.strips.push_back(strip("their sum, normalised", *way.front().stream));
    for (std::size_t i = 0; i < way.size(); ++i) {
      const auto& [name, stream, output, ends_layer] = way[i];
      Strip added = strip("+ " + name, *output);
      added.begins_group = !before || i == 0 || way[i - 1].ends_layer;
      figure.strips.push_back(std::move(added));
      if (!before)
        figure.strips.push_back(
            strip("= their sum, normalised", i + 1 < way.size() ? *way[i + 1].stream : last));
      else if (ends_layer)
        figure.strips.push_back(with_length("= the sum", plus(row_of(*stream), row_of(*output))));
    }
    if (before) {
      figure.strips.push_back(strip("the sum, normalised", last));
      figure.strips.back().begins_group = true;
    }
    return figure;
  }

 private:
  struct SubLayer {
    std::string name;
    const std::vector<float>*stream, *output;
    bool ends_layer;
  };

  bool of_encoder() const { return stack_ == Stack::Encoder; }

  const std::vector<Activations::FeedForward>& feed_forwards() const {
    return of_encoder() ? sentence_.activations.encoder_feed_forward
                        : sentence_.activations.decoder_feed_forward;
  }

  std::vector<SubLayer> sub_layers() const {
    const Activations& all = sentence_.activations;
    const auto& attentions = of_encoder() ? all.encoder : all.decoder;
    std::vector<SubLayer> way;
    for (std::size_t l = 0; l < attentions.size(); ++l) {
      way.push_back({join_text("self-attention ", l + 1), &attentions[l].stream,
                     &attentions[l].output, false});
      if (!of_encoder())
        way.push_back({join_text("cross-attention ", l + 1), &all.cross[l].stream,
                       &all.cross[l].output, false});
      const Activations::FeedForward& inner = feed_forwards()[l];
      way.push_back({join_text("feed-forward ", l + 1), &inner.stream, &inner.output, true});
    }
    return way;
  }

  std::string title(const std::string& name) const {
    return join_text(name, of_encoder() ? " in the encoder" : " in the decoder", ", token ",
                     token_ + 1, ": ", pieces_[token_]);
  }

  /// The row of this token, of [tokens, numbers].
  std::vector<float> row_of(const std::vector<float>& all) const {
    const std::size_t size = all.size() / pieces_.size();
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(token_ * size);
    return {begin, begin + static_cast<std::ptrdiff_t>(size)};
  }

  Strip strip(std::string name, const std::vector<float>& all) const {
    return with_length(std::move(name), row_of(all));
  }

  const ModelConfig& config_;
  const SentenceExplanation& sentence_;
  const Stack stack_;
  const std::vector<std::string> pieces_;
  std::size_t token_ = 0;  // from 0
};

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

/// The layer, counted from 0; --layer 0 is the last.
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

/// The weights of a head, counted from 1, or the mean of all heads (0).
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

/// The mean entropy of the rows, in bits.
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
    throw UsageError("--layer ", flags.layer, ": --kind ", name_of(flags.kind), " has ",
                     counted(layers, "layer"));
  if (flags.head > config.heads)
    throw UsageError("--head ", flags.head, ": a layer has ", counted(config.heads, "head"));
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
