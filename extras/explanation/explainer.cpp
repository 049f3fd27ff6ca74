#include "extras/explanation/explainer.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "extras/explanation/word_starts.h"
#include "inference/scheduler.h"
#include "inference/search/token_rules.h"

namespace dragoman {

namespace {

constexpr std::size_t kMostProbable = 10;
constexpr std::size_t kAlternatives = 3;
const float kLeastLogProbability = std::log(0.01F);  // of an alternative

/// The tokens with their pieces. `tags` belong to no word.
std::vector<ExplainedToken> explained(const std::vector<TokenId>& tokens,
                                      const std::vector<std::string>& pieces,
                                      const Tokenizer& tokenizer) {
  const std::vector<std::string> symbols = tokenizer.user_symbols();
  const std::set<std::string, std::less<>> tags(symbols.begin(), symbols.end());
  std::vector<ExplainedToken> all;
  std::int64_t word = -1;
  WordStarts starts;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool is_known = i < pieces.size();
    ExplainedToken token{.id = tokens[i],
                         .piece = is_known ? pieces[i] : tokenizer.piece(tokens[i]),
                         .word = std::nullopt};
    if (tokens[i] != tokenizer.eos_id() && !tags.contains(token.piece)) {
      if (starts.next(token.piece)) ++word;
      token.word = word;
    }
    all.push_back(std::move(token));
  }
  return all;
}

/// The best hypotheses of sentences, by their line numbers 0, 1, ...
std::vector<Hypothesis> search_all(Engine& engine, std::deque<SourceSentence> waiting) {
  std::vector<Hypothesis> best(waiting.size());
  Scheduler scheduler(engine);
  while (!waiting.empty() || !scheduler.idle()) {
    std::vector<SourceSentence> admitted;
    for (std::int64_t n = scheduler.count_admissible(waiting); n > 0; --n) {
      admitted.push_back(std::move(waiting.front()));
      waiting.pop_front();
    }
    scheduler.admit(admitted);
    for (FinishedSentence& finished : scheduler.step()) {
      if (finished.error) std::rethrow_exception(finished.error);
      best[static_cast<std::size_t>(finished.line)] = std::move(finished.hypotheses.front());
    }
  }
  return best;
}

std::shared_ptr<const SearchSettings> settings_of(const DecodeConfig& config,
                                                  const Tokenizer& target) {
  return std::make_shared<const SearchSettings>(
      SearchSettings{.config = config, .tokens = target_tokens(target, config)});
}

DecodeConfig greedy_of(DecodeConfig config) {
  config.beam_size = config.n_best = 1;
  return config;
}

}  // namespace

Explainer::ObservedEngine::ObservedEngine(std::shared_ptr<const CpuModel> model,
                                          std::vector<TokenId> never_emitted, OnStep on_step)
    : CpuEngine(std::move(model), std::move(never_emitted)), on_step_(std::move(on_step)) {}

void Explainer::ObservedEngine::step(const StepRequest& step) {
  if (on_step_) on_step_();
  CpuEngine::step(step);
}

Explainer::Explainer(std::shared_ptr<const CpuModel> model, TokenizerPair tokenizers,
                     const DecodeConfig& search, OnStep on_step)
    : model_(std::move(model)),
      tokenizers_(std::move(tokenizers)),
      settings_(settings_of(search, *tokenizers_.target)),
      greedy_(settings_of(greedy_of(search), *tokenizers_.target)),
      engine_(model_, tokenizers_.target->never_emitted(), std::move(on_step)) {
  engine_.check(heads_of(search));
}

std::vector<TokenId> Explainer::pieces_of(const Tokenizer& tokenizer, std::string_view text,
                                          std::string_view name) const {
  if (find_invalid_utf8(text) != std::string_view::npos)
    throw UnfitText("the ", name, " is no valid UTF-8");
  std::vector<TokenId> pieces = tokenizer.encode(text);
  if (pieces.empty()) throw UnfitText("the ", name, " has no text");
  const auto length = static_cast<std::int64_t>(pieces.size()) + 1;
  const std::int64_t most = std::min(kMostPieces, engine_.max_positions());
  if (length > most)
    throw UnfitText("the ", name, " has ", length, " pieces; explain looks at ", most, " at most");
  return pieces;
}

SourceSentence Explainer::sentence_of(std::string_view source) const {
  std::vector<TokenId> pieces = pieces_of(*tokenizers_.source, source, "sentence");
  const bool has_end = end_ids(tokenizers_).ends_source(pieces.size());
  return {.line = 0,
          .part = 0,
          .tokens = tokenizers_.source_tokens(std::move(pieces)),
          .settings = settings_,
          .has_end = has_end};
}

SentenceExplanation Explainer::explain(std::string_view source,
                                       std::optional<std::string_view> target) {
  const SourceSentence sentence = sentence_of(source);
  SentenceExplanation explanation;
  explanation.source = source;
  explanation.source_tokens =
      explained(sentence.tokens, tokenizers_.source->pieces(source), *tokenizers_.source);
  std::vector<TokenId> translation;
  if (target) {
    explanation.target = *target;
    translation = tokenizers_.target_tokens(pieces_of(*tokenizers_.target, *target, "translation"));
  } else {
    explanation.search = search(sentence);
    const std::vector<TokenId>& pieces = explanation.search->trace.translation.tokens;
    explanation.target = tokenizers_.target->decode(pieces);
    translation = tokenizers_.target_tokens(pieces);
  }
  explanation.target_tokens = explained(
      translation, target ? tokenizers_.target->pieces(*target) : std::vector<std::string>(),
      *tokenizers_.target);
  force(sentence, explanation);
  find_alternatives(sentence, explanation);
  return explanation;
}

TracedTranslation Explainer::search(const SourceSentence& source) {
  SearchTrace trace = trace_search(engine_, source);
  SourceSentence again = source;
  again.settings = greedy_;
  const Hypothesis greedy = trace_search(engine_, again).translation;
  return {.trace = std::move(trace),
          .greedy = tokenizers_.target->decode(greedy.tokens),
          .greedy_tokens = tokenizers_.target_tokens(greedy.tokens),
          .greedy_sum = greedy.sum,
          .greedy_score = greedy.score};
}

void Explainer::force(const SourceSentence& source, SentenceExplanation& explanation) {
  engine_.observe(&explanation.activations);
  const std::int32_t slot = engine_.admit({&source.tokens, 1}).front();
  const std::int64_t per_row = std::min<std::int64_t>(kMostProbable, engine_.vocabulary());
  TokenId previous = 0;
  for (std::size_t t = 0; t < explanation.target_tokens.size(); ++t) {
    ExplainedToken& token = explanation.target_tokens[t];
    const RowOrigin origin{.parent = t == 0 ? -1 : 0, .slot = slot};
    const RowToken reported{0, token.id};
    token.most_probable.resize(static_cast<std::size_t>(per_row));
    engine_.step({.rows = {&origin, 1},
                  .previous = {&previous, 1},
                  .adjustments = {},
                  .candidates_per_row = per_row,
                  .candidates = token.most_probable,
                  .reported = {&reported, 1},
                  .reported_log_probabilities = {&token.log_probability, 1}});
    std::erase_if(token.most_probable, [](const Candidate& c) { return !is_possible(c); });
    previous = token.id;
  }
  engine_.release({&slot, 1});
  engine_.observe(nullptr);
  const auto weights = [&](const std::vector<Activations::Attention>& layers, KeyMask mask) {
    std::vector<AttentionWeights> all;
    for (const Activations::Attention& layer : layers)
      all.push_back(attention_weights(layer, model_->config.heads, model_->config.d_model, mask));
    return all;
  };
  explanation.encoder = weights(explanation.activations.encoder, KeyMask::None);
  explanation.decoder = weights(explanation.activations.decoder, KeyMask::Causal);
  explanation.cross = weights(explanation.activations.cross, KeyMask::None);
}

void Explainer::find_alternatives(const SourceSentence& source, SentenceExplanation& explanation) {
  struct Place {
    std::size_t position;
    TokenId token;
  };
  std::vector<Place> places;  // of each sentence that is searched
  std::deque<SourceSentence> sentences;
  std::vector<TokenId> prefix;
  double sum = 0;
  for (std::size_t t = 0; t < explanation.target_tokens.size(); ++t) {
    ExplainedToken& token = explanation.target_tokens[t];
    std::size_t found = 0;
    for (const Candidate& other : token.most_probable) {
      if (other.token == token.id) continue;
      if (++found > kAlternatives || other.log_probability < kLeastLogProbability) break;
      if (other.token == tokenizers_.target->eos_id()) {
        token.alternatives.push_back({.token = other.token,
                                      .text = tokenizers_.target->decode(prefix),
                                      .sum = sum + other.log_probability});
        continue;
      }
      std::vector<TokenId> required = prefix;
      required.push_back(other.token);
      sentences.push_back({.line = static_cast<std::int64_t>(places.size()),
                           .part = 0,
                           .tokens = source.tokens,
                           .settings = greedy_,
                           .required = {.prefix = {.tokens = std::move(required)}},
                           .has_end = source.has_end});
      places.push_back({t, other.token});
    }
    sum += token.log_probability;
    prefix.push_back(token.id);
  }
  const std::vector<Hypothesis> found = search_all(engine_, std::move(sentences));
  for (std::size_t i = 0; i < found.size(); ++i)
    explanation.target_tokens[places[i].position].alternatives.push_back(
        {.token = places[i].token,
         .text = tokenizers_.target->decode(found[i].tokens),
         .sum = found[i].sum});
}

}  // namespace dragoman
