#include "extras/explanation/explanation_json.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "extras/explanation/number_blocks.h"
#include "extras/explanation/page_blocks.h"

namespace dragoman {

namespace {

using Json = nlohmann::ordered_json;

/// Five digits behind the point.
double rounded(double value) { return std::round(value * 1e5) / 1e5; }

/// The page draws so many positions.
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
               {"config", Json::parse(to_json(config))},
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

/// The page computes the vectors of positions that a formula gives.
Json embedding_json(const Activations::Embedding& embedding, const ExplainedModel& model) {
  Json json = {{"token", vectors_json(embedding.token, model)}};
  if (model.form != ExplanationForm::Page || model.weights->config.positions == Positions::Learned)
    json["position"] = vectors_json(embedding.position, model);
  return json;
}

/// What the page does not draw.
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

/// Marks the pieces of characters that are not in the set. Of a character's bytes all but the last
/// stand for nothing, in front of it.
void mark_unseen(SentenceExplanation& sentence, const Tokenizer& tokenizer,
                 const CharacterSet& seen) {
  const std::string& text = sentence.source;
  const std::vector<PieceSpan> pieces = tokenizer.encode_with_offsets(text);
  for (std::size_t p = 0; p < pieces.size(); ++p) {
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

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string sentence_json(const ExplainedModel& model, const SentenceExplanation& sentence,
                          const Tokenizer& target) {
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
  return text_of(json);
}

std::string explanation_json(const ExplainedModel& model,
                             const std::vector<std::string>& sentences) {
  std::string text = text_of({{"format", format_name(model.form)},
                              {"version", model.form == ExplanationForm::Numbers ? 3 : 2},
                              {"dragoman", model.program_version},
                              {"model", model_json(model)}});
  text.back() = ',';  // instead of the brace
  text += "\"sentences\":[";
  for (std::size_t i = 0; i < sentences.size(); ++i) text += (i > 0 ? "," : "") + sentences[i];
  return text + "]}";
}

Explanation explain_all(const ExplainedModel& model, const TokenizerPair& tokenizers,
                        const std::vector<GivenSentence>& sentences, const OnStep& on_step,
                        int threads) {
  std::atomic<std::int64_t> target_tokens = 0;
  // Texts at once, as the numbers of a sentence take much more memory.
  std::vector<std::string> texts(sentences.size());
  parallel_for(std::ssize(sentences), threads, [&](std::int64_t i) {
    const auto& [source, target, line] = sentences[static_cast<std::size_t>(i)];
    try {
      SentenceExplanation explained =
          Explainer(model.weights, tokenizers, model.search, on_step).explain(source, target);
      if (model.characters) mark_unseen(explained, *tokenizers.source, model.characters->source);
      target_tokens += std::ssize(explained.target_tokens);
      texts[static_cast<std::size_t>(i)] = sentence_json(model, explained, *tokenizers.target);
    } catch (const UnfitText& error) {
      if (sentences.size() == 1) throw;
      if (line > 0) throw UnfitText("line ", line, ": ", error.what());
      throw UnfitText("sentence ", i + 1, ": ", error.what());
    }
  });
  return {.json = explanation_json(model, texts), .target_tokens = target_tokens};
}

}  // namespace dragoman
