#include "extras/explanation/explanation_json.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <numeric>

#include "base/bytes.h"
#include "base/formatted_text.h"
#include "base/json.h"
#include "base/lines.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "inference/split.h"

namespace dragoman {

namespace {

using Json = nlohmann::ordered_json;

template <class Number>
std::string base64_of(const std::vector<Number>& numbers) {
  return base64(std::as_bytes(std::span(numbers)));
}

/// The number that JSON writes with at most `digits` significant digits.
double with_digits(double number, int digits) {
  std::array<char, 32> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), number,
                                     std::chars_format::scientific, digits - 1);
  double rounded = 0;
  std::from_chars(text.data(), written.ptr, rounded);
  return rounded;
}

}  // namespace

Json number_rows(std::span<const float> numbers, std::int64_t size) {
  auto rows = Json::array();
  for (std::size_t begin = 0; begin < numbers.size(); begin += static_cast<std::size_t>(size)) {
    auto row = Json::array();
    for (const float number : numbers.subspan(begin, static_cast<std::size_t>(size)))
      row.push_back(with_digits(static_cast<double>(number), 5));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json weights_of_heads(const AttentionWeights& weights) {
  auto heads = Json::array();
  const std::span<const float> values = weights.values;
  const auto each = static_cast<std::size_t>(weights.queries * weights.keys);
  for (std::size_t begin = 0; begin < values.size(); begin += each)
    heads.push_back(number_rows(values.subspan(begin, each), weights.keys));
  return heads;
}

std::vector<std::uint16_t> whole_weights(std::span<const float> row) {
  std::vector<std::uint16_t> numbers;
  std::vector<double> remainders;
  double sum = 0;
  for (const float weight : row) sum += weight;
  std::int64_t left = kWholeRow;
  for (const float weight : row) {
    const double exact = weight / sum * static_cast<double>(kWholeRow);
    numbers.push_back(static_cast<std::uint16_t>(exact));
    remainders.push_back(exact - numbers.back());
    left -= numbers.back();
  }
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return remainders[i]; });
  for (std::size_t i = 0; left > 0; ++i, --left) ++numbers[order[i]];
  return numbers;
}

Json weights_block(const AttentionWeights& weights) {
  std::vector<std::uint16_t> numbers;
  const auto keys = static_cast<std::size_t>(weights.keys);
  const std::span<const float> values = weights.values;
  for (std::size_t i = 0; i < values.size(); i += keys) {
    const std::vector<std::uint16_t> row = whole_weights(values.subspan(i, keys));
    numbers.insert(numbers.end(), row.begin(), row.end());
  }
  return {{"shape", {weights.heads, weights.queries, weights.keys}}, {"data", base64_of(numbers)}};
}

Json vectors_block(std::span<const float> vectors, std::int64_t size) {
  constexpr float kLargest = 65504;  // the largest finite half
  std::vector<std::uint16_t> halves;
  halves.reserve(vectors.size());
  for (const float value : vectors)
    halves.push_back(half_of(std::clamp(value, -kLargest, kLargest)));
  return {{"shape", {std::ssize(vectors) / size, size}}, {"data", base64_of(halves)}};
}

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr int kBitsOfDigit = 6;

/// Appends each value in this number of digits. Returns their scale.
template <class Value>
double append(std::span<const Value> values, int digits, std::string& text) {
  const std::int64_t middle = std::int64_t{1} << (kBitsOfDigit * digits - 1);
  double most = 0;
  for (const Value value : values) most = std::max(most, std::abs(static_cast<double>(value)));
  // Rounded up, so that every number fits the digits. The text of a scale is short.
  const double scale = with_digits(most / static_cast<double>(middle - 1) * (1 + 1e-5), 6);
  for (const Value value : values) {
    const std::int64_t number =
        middle + (scale == 0 ? 0 : std::llround(static_cast<double>(value) / scale));
    for (int digit = digits - 1; digit >= 0; --digit)
      text += kDigits[static_cast<std::size_t>(number >> (kBitsOfDigit * digit) & 63)];
  }
  return scale;
}

}  // namespace

Json scores_block(const AttentionWeights& weights) {
  std::vector<double> scales;
  std::string data;
  const std::span<const double> scores = weights.scores;
  const std::size_t of_head = scores.size() / static_cast<std::size_t>(weights.heads);
  for (std::size_t begin = 0; begin < scores.size(); begin += of_head)
    scales.push_back(append(scores.subspan(begin, of_head), 3, data));
  return {{"shape", {weights.heads, weights.queries, weights.keys}},
          {"causal", weights.mask == KeyMask::Causal},
          {"scales", std::move(scales)},
          {"data", std::move(data)}};
}

Json strips_block(std::span<const float> vectors, std::int64_t size) {
  std::vector<double> scales;
  std::string data;
  const auto columns = static_cast<std::size_t>(size);
  for (std::size_t begin = 0; begin < vectors.size(); begin += columns)
    scales.push_back(append(vectors.subspan(begin, columns), 1, data));
  return {{"shape", {scales.size(), columns}},
          {"scales", std::move(scales)},
          {"data", std::move(data)}};
}

namespace {

/// With five digits after the point.
double rounded(double value) { return std::round(value * 1e5) / 1e5; }

/// The number of positions that the page draws.
constexpr std::int64_t kPositionsOfPage = 64;

/// Vectors of `size` numbers; 0: d_model.
Json vectors_json(const std::vector<float>& vectors, const ExplainedModel& model,
                  std::int64_t size = 0) {
  if (size == 0) size = model.weights->config.d_model;
  if (model.form == ExplanationForm::Page) return strips_block(vectors, size);
  if (model.form == ExplanationForm::Packed) return vectors_block(vectors, size);
  return number_rows(vectors, size);
}

/// The block of the learned vectors [positions, d_model] that an explained sentence may have, or
/// that the page draws.
Json positions_json(const std::vector<float>& learned, const ExplainedModel& model) {
  const std::int64_t most =
      model.form == ExplanationForm::Page ? kPositionsOfPage : Explainer::kMostPieces;
  const std::int64_t count = std::min(std::ssize(learned), most * model.weights->config.d_model);
  return vectors_json({learned.begin(), learned.begin() + count}, model);
}

Json model_json(const ExplainedModel& model) {
  const ModelConfig& config = model.weights->config;
  Json parameters = Json::array();
  for (const ParameterShape& parameter : parameter_shapes(config))
    parameters.push_back({{"name", parameter.name}, {"shape", parameter.shape}});
  const AttentionHeads heads = heads_of(model.search);
  Json json = {{"name", model.name},
               {"config", parse_json<Json>(to_json(config))},
               {"parameters", std::move(parameters)},
               {"begin", {{"piece", kBeginPiece}}},
               {"alignment",
                {{"layer", heads.layer_of(config.decoder_layers) - 1},
                 {"head", heads.head == 0 ? Json() : Json(heads.head - 1)}}}};
  if (config.positions == Positions::Learned)
    json["positions"] = {{"source", positions_json(model.weights->source_positions, model)},
                         {"target", positions_json(model.weights->target_positions, model)}};
  return json;
}

Json token_json(const ExplainedToken& token) {
  Json json = {
      {"piece", token.piece}, {"id", token.id}, {"word", token.word ? Json(*token.word) : Json()}};
  if (token.is_unseen) json["unseen"] = true;
  return json;
}

Json target_token_json(const ExplainedToken& token, const Tokenizer& target) {
  Json top = Json::array(), alternatives = Json::array();
  for (const Candidate& candidate : token.most_probable)
    top.push_back({{"piece", target.piece(candidate.token)},
                   {"probability", rounded(std::exp(candidate.log_probability))}});
  for (const Alternative& other : token.alternatives)
    alternatives.push_back({{"piece", target.piece(other.token)},
                            {"text", other.text},
                            {"log_probability", rounded(other.sum)}});
  Json json = token_json(token);
  json["log_probability"] = rounded(token.log_probability);
  json["top"] = std::move(top);
  json["alternatives"] = std::move(alternatives);
  return json;
}

Json weights_json(const std::vector<AttentionWeights>& layers, const ExplainedModel& model) {
  Json json = Json::array();
  for (const AttentionWeights& weights : layers)
    json.push_back(model.form == ExplanationForm::Page     ? scores_block(weights)
                   : model.form == ExplanationForm::Packed ? weights_block(weights)
                                                           : weights_of_heads(weights));
  return json;
}

Json attention_vectors_json(const std::vector<Activations::Attention>& layers,
                            const ExplainedModel& model) {
  Json json = Json::array();
  for (const Activations::Attention& layer : layers) {
    Json& blocks = json.emplace_back(Json{{"q", vectors_json(layer.query, model)},
                                          {"k", vectors_json(layer.key, model)},
                                          {"v", vectors_json(layer.value, model)},
                                          {"output", vectors_json(layer.output, model)}});
    if (model.form != ExplanationForm::Page) blocks["stream"] = vectors_json(layer.stream, model);
  }
  return json;
}

Json feed_forward_json(const std::vector<Activations::FeedForward>& layers,
                       const ExplainedModel& model) {
  Json json = Json::array();
  for (const Activations::FeedForward& layer : layers)
    json.push_back({{"stream", vectors_json(layer.stream, model)},
                    {"input", vectors_json(layer.input, model)},
                    {"hidden", vectors_json(layer.hidden, model, model.weights->config.d_ff)},
                    {"output", vectors_json(layer.output, model)}});
  return json;
}

/// The vectors of positions are left out if the page computes them by a formula.
Json embedding_json(const Activations::Embedding& embedding, const ExplainedModel& model) {
  Json json = {{"token", vectors_json(embedding.token, model)}};
  if (model.form != ExplanationForm::Page || model.weights->config.positions == Positions::Learned)
    json["position"] = vectors_json(embedding.position, model);
  return json;
}

/// Adds what the page does not draw.
void add_way_through_stacks(const Activations& activations, const ExplainedModel& model,
                            Json& json) {
  json["feed_forward"] = {{"encoder", feed_forward_json(activations.encoder_feed_forward, model)},
                          {"decoder", feed_forward_json(activations.decoder_feed_forward, model)}};
  json["stacks"] = {{"encoder", vectors_json(activations.memory, model)},
                    {"decoder", vectors_json(activations.decoded, model)}};
}

Json search_json(const TracedTranslation& search, const DecodeConfig& config,
                 const Tokenizer& target) {
  Json nodes = Json::array();
  for (const SearchNode& node : search.trace.nodes)
    nodes.push_back(
        {{"id", nodes.size()},
         {"parent", node.parent < 0 ? Json() : Json(node.parent)},
         {"step", node.step},
         {"piece", node.step == 0 ? std::string(kBeginPiece) : target.piece(node.token)},
         {"log_probability", rounded(node.sum)},
         {"score", rounded(node.score)},
         {"state", name_of(node.state)}});
  Json greedy = Json::array();
  for (const TokenId token : search.greedy_tokens) greedy.push_back(target.piece(token));
  return {{"beam_size", config.beam_size},
          {"length_penalty", config.length_penalty},
          {"nodes", std::move(nodes)},
          {"best", search.trace.best},
          {"greedy",
           {{"text", search.greedy},
            {"pieces", std::move(greedy)},
            {"log_probability", rounded(search.greedy_sum)},
            {"score", rounded(search.greedy_score)}}}};
}

/// Marks the pieces of characters that are not in the set. Tags are not text. If a character is
/// several byte pieces, the last one has its whole span, and those before it have empty spans.
void mark_unseen(SentenceExplanation& sentence, const Tokenizer& tokenizer,
                 const CharacterSet& seen) {
  const std::string& text = sentence.source;
  const std::vector<PieceSpan> pieces = tokenizer.encode_with_offsets(text);
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const bool is_mark_alone =  // in front of the text, which does not have it
        pieces[p].begin == pieces[p].end && sentence.source_tokens[p].piece == kSpaceMark;
    if (!sentence.source_tokens[p].word || is_mark_alone) continue;
    std::size_t at = pieces[p].begin;
    do
      if (at < text.size() && !seen.contains(next_code_point(text, at)))
        sentence.source_tokens[p].is_unseen = true;
    while (at < pieces[p].end);
  }
}

std::string_view format_name(ExplanationForm form) {
  return form == ExplanationForm::Page ? "dragoman explanation page" : "dragoman explanation";
}

}  // namespace

std::string sentence_json(const ExplainedModel& model, const SentenceExplanation& sentence) {
  const Tokenizer& target = *model.tokenizers.target;
  const Activations& activations = sentence.activations;
  Json source_tokens = Json::array(), target_tokens = Json::array();
  for (const ExplainedToken& token : sentence.source_tokens)
    source_tokens.push_back(token_json(token));
  for (const ExplainedToken& token : sentence.target_tokens)
    target_tokens.push_back(target_token_json(token, target));
  Json json = {{"source", sentence.source},
               {"target", sentence.target},
               {"given", !sentence.search},
               {"source_tokens", std::move(source_tokens)},
               {"target_tokens", std::move(target_tokens)},
               {"attention",
                {{"encoder", weights_json(sentence.encoder, model)},
                 {"decoder", weights_json(sentence.decoder, model)},
                 {"cross", weights_json(sentence.cross, model)}}},
               {"vectors",
                {{"encoder", attention_vectors_json(activations.encoder, model)},
                 {"decoder", attention_vectors_json(activations.decoder, model)},
                 {"cross", attention_vectors_json(activations.cross, model)}}},
               {"embedding",
                {{"source", embedding_json(activations.source, model)},
                 {"target", embedding_json(activations.target, model)}}}};
  if (model.form != ExplanationForm::Page) add_way_through_stacks(activations, model, json);
  if (sentence.search) json["search"] = search_json(*sentence.search, model.search, target);
  return json_text(json);
}

std::string explanation_json(const ExplainedModel& model,
                             const std::vector<std::string>& sentences) {
  std::string text = json_text(Json{{"format", format_name(model.form)},
                                    {"version", model.form == ExplanationForm::Numbers ? 3 : 2},
                                    {"dragoman", model.program_version},
                                    {"model", model_json(model)}});
  text.back() = ',';  // replaces the brace
  text += "\"sentences\":[";
  for (std::size_t i = 0; i < sentences.size(); ++i) text += (i > 0 ? "," : "") + sentences[i];
  return text + "]}";
}

Explanation explain_all(const ExplainedModel& model, const std::vector<GivenSentence>& sentences,
                        const OnStep& on_step, int threads) {
  std::atomic<std::int64_t> target_tokens = 0;
  // Each sentence becomes text at once, because its numbers take much more memory.
  std::vector<std::string> texts(sentences.size());
  parallel_for(std::ssize(sentences), threads, [&](std::int64_t i) {
    const auto& [source, target, line] = sentences[static_cast<std::size_t>(i)];
    try {
      SentenceExplanation explained =
          Explainer(model.weights, model.tokenizers, model.search, on_step).explain(source, target);
      if (model.characters)
        mark_unseen(explained, *model.tokenizers.source, model.characters->source);
      target_tokens += std::ssize(explained.target_tokens);
      texts[static_cast<std::size_t>(i)] = sentence_json(model, explained);
    } catch (const UnfitText& error) {
      if (sentences.size() == 1) throw;
      if (line > 0) throw UnfitText("line ", line, ": ", error.what());
      throw UnfitText("sentence ", i + 1, ": ", error.what());
    }
  });
  return {.json = explanation_json(model, texts), .target_tokens = target_tokens};
}

namespace {

/// The sentences of a text, without those that have no piece.
std::vector<GivenSentence> sentences_of(std::string_view text, const ExplainedModel& model) {
  const auto cuts = splits_sentences(model.search.split_sentences, model.several_sentences)
                        ? SentenceCuts::InAllLines
                        : SentenceCuts::InLongLines;
  // </s> is one more piece.
  const std::int64_t most = std::min({model.search.split_length, Explainer::kMostPieces - 1,
                                      CpuEngine(model.weights, {}).max_positions() - 1});
  const Encode encode = [&](std::string_view part) {
    return model.tokenizers.source->encode(part);
  };
  std::vector<GivenSentence> sentences;
  std::int64_t pieces = 0;
  for (LineCursor lines(text); !lines.at_end();) {
    const std::string_view line = lines.next();
    if (strip(line).empty()) continue;
    for (const LinePart& part : split_line(strip(line), cuts, most, encode))
      if (!part.tokens.empty()) {
        sentences.push_back({.source = std::string(part.text)});
        pieces += std::ssize(part.tokens);
      }
  }
  // The time and the size of the page grow with the square of the pieces.
  if (pieces > Explainer::kMostPieces)
    throw UnfitText("the text has ", with_separators(pieces), " pieces; an explanation takes ",
                    with_separators(Explainer::kMostPieces), " at most");
  return sentences;
}

}  // namespace

bool is_flag_of_explain(std::string_view name) {
  return name != "n-best" && name != "batch-size" && name != "seed" && name != "temperature" &&
         name != "translate-all" && !name.starts_with("sampling") && !name.starts_with("split") &&
         name != "unknown-words";
}

Explanation explain_text(ExplainedModel model, const std::string& text, ExplanationForm form,
                         const OnStep& on_step) {
  const std::vector<GivenSentence> sentences = sentences_of(text, model);
  if (sentences.empty()) throw UnfitText("the text has no sentence");
  model.form = form;
  model.search.sampling = false;
  model.search.n_best = 1;
  return explain_all(model, sentences, on_step);
}

}  // namespace dragoman
