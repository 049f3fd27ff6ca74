#include "extras/explanation/commands/token_strips.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/amounts.h"
#include "base/error.h"

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

}  // namespace

std::vector<std::string> pieces_of(const std::vector<ExplainedToken>& tokens) {
  std::vector<std::string> pieces;
  for (const ExplainedToken& token : tokens) pieces.push_back(token.piece);
  return pieces;
}

std::vector<std::string> read_pieces(const SentenceExplanation& sentence) {
  std::vector<std::string> pieces = pieces_of(sentence.target_tokens);
  pieces.pop_back();
  pieces.insert(pieces.begin(), std::string(kBeginPiece));
  return pieces;
}

TokenStrips::TokenStrips(const ModelConfig& config, const SentenceExplanation& sentence,
                         Stack stack, std::int64_t token)
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

StripsFigure TokenStrips::input() const {
  const auto& [token, position, sum] =
      of_encoder() ? sentence_.activations.source : sentence_.activations.target;
  return {.title = title("Input"),
          .strips = {strip("√D × E[" + pieces_[token_] + "]", token),
                     strip(join_text("+ position ", token_), position),
                     strip("= what the first layer reads", sum)}};
}

StripsFigure TokenStrips::feed_forward(std::size_t layer) const {
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

StripsFigure TokenStrips::residual() const {
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

const std::vector<Activations::FeedForward>& TokenStrips::feed_forwards() const {
  return of_encoder() ? sentence_.activations.encoder_feed_forward
                      : sentence_.activations.decoder_feed_forward;
}

std::vector<TokenStrips::SubLayer> TokenStrips::sub_layers() const {
  const Activations& all = sentence_.activations;
  const auto& attentions = of_encoder() ? all.encoder : all.decoder;
  std::vector<SubLayer> way;
  for (std::size_t l = 0; l < attentions.size(); ++l) {
    way.push_back(
        {join_text("self-attention ", l + 1), &attentions[l].stream, &attentions[l].output, false});
    if (!of_encoder())
      way.push_back({join_text("cross-attention ", l + 1), &all.cross[l].stream,
                     &all.cross[l].output, false});
    const Activations::FeedForward& inner = feed_forwards()[l];
    way.push_back({join_text("feed-forward ", l + 1), &inner.stream, &inner.output, true});
  }
  return way;
}

std::string TokenStrips::title(const std::string& name) const {
  return join_text(name, of_encoder() ? " in the encoder" : " in the decoder", ", token ",
                   token_ + 1, ": ", pieces_[token_]);
}

std::vector<float> TokenStrips::row_of(const std::vector<float>& all) const {
  const std::size_t size = all.size() / pieces_.size();
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(token_ * size);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

Strip TokenStrips::strip(std::string name, const std::vector<float>& all) const {
  return with_length(std::move(name), row_of(all));
}

}  // namespace dragoman
