#include "extras/explanation/explainer.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>
#include <span>
#include <utility>

#include "base/formatted_text.h"
#include "base/utf8.h"
#include "inference/search/token_rules.h"

namespace dragoman {

namespace {

double dot(const float* a, const float* b, std::int64_t size) {
  double sum = 0;
  for (std::int64_t i = 0; i < size; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

void softmax(std::span<const double> scores, float* weights) {
  const double most = *std::ranges::max_element(scores);
  double sum = 0;
  for (const double score : scores) sum += std::exp(score - most);
  for (std::size_t i = 0; i < scores.size(); ++i)
    weights[i] = static_cast<float>(std::exp(scores[i] - most) / sum);
}

}  // namespace

AttentionWeights attention_weights(const Activations::Attention& attention, std::int64_t heads,
                                   std::int64_t d_model, KeyMask mask) {
  const auto queries = static_cast<std::int64_t>(attention.query.size()) / d_model;
  const auto keys = static_cast<std::int64_t>(attention.key.size()) / d_model;
  const std::int64_t d_k = d_model / heads;
  AttentionWeights weights{
      .heads = heads, .queries = queries, .keys = keys, .mask = mask, .values = {}, .scores = {}};
  weights.values.resize(static_cast<std::size_t>(heads * queries * keys));
  std::vector<double> row;
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t q = 0; q < queries; ++q) {
      const float* query = attention.query.data() + q * d_model + h * d_k;
      const std::int64_t seen = mask == KeyMask::Causal ? q + 1 : keys;
      row.clear();
      for (std::int64_t k = 0; k < seen; ++k)
        row.push_back(dot(query, attention.key.data() + k * d_model + h * d_k, d_k) /
                      std::sqrt(static_cast<double>(d_k)));
      softmax(row, weights.values.data() + (h * queries + q) * keys);
      weights.scores.insert(weights.scores.end(), row.begin(), row.end());
    }
  return weights;
}

namespace {

/// What the ends of a piece say about words.
struct Ends {
  bool continues;  ///< the character before: a mark, or a byte that is not its first
  bool is_first_unspaced, is_last_unspaced;
};

Ends ends_of(std::string_view piece) {
  if (const auto byte = byte_of_piece(piece)) {
    // The first byte of a character from U+3000 to U+9FFF (three bytes), or of four bytes.
    const bool unspaced = (*byte >= 0xE3 && *byte <= 0xE9) || *byte >= 0xF0;
    return {.continues = *byte >= 0x80 && *byte < 0xC0,
            .is_first_unspaced = unspaced,
            .is_last_unspaced = unspaced};
  }
  const std::u32string characters = code_points(piece);
  return {.continues = general_category(characters.front()).front() == 'M',
          .is_first_unspaced = is_unspaced(characters.front()),
          .is_last_unspaced = is_unspaced(characters.back())};
}

}  // namespace

bool WordStarts::next(std::string_view piece) {
  const bool has_space = piece.starts_with(kSpaceMark);
  const bool is_first = !std::exchange(has_begun_, true);
  if (has_space) piece.remove_prefix(kSpaceMark.size());
  if (piece.empty()) {
    is_after_space_ = has_space;
    is_after_unspaced_ = false;
    return is_first || has_space;
  }
  const Ends ends = ends_of(piece);
  const bool is_after_space = std::exchange(is_after_space_, false);
  const bool is_after_unspaced = is_after_unspaced_;
  if (!ends.continues) is_after_unspaced_ = ends.is_last_unspaced;
  if (is_first || has_space) return true;
  return !is_after_space && !ends.continues && (ends.is_first_unspaced || is_after_unspaced);
}

namespace {

constexpr std::size_t kMostProbable = 10;
constexpr std::size_t kAlternatives = 3;
const float kLeastLogProbability = std::log(0.01F);  // of an alternative's first token

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

/// The best hypothesis of each sentence. Their line numbers are 0, 1, ...
std::vector<Hypothesis> search_all(HostEngine& engine, std::deque<SourceSentence> waiting) {
  std::vector<Hypothesis> best(waiting.size());
  Scheduler scheduler(engine);
  while (!waiting.empty() || !scheduler.idle()) {
    std::vector<SourceSentence> admitted;
    for (std::int64_t n = scheduler.count_admissible(waiting); n > 0; --n) {
      admitted.push_back(std::move(waiting.front()));
      waiting.pop_front();
    }
    scheduler.admit(admitted);
    for (SourceSentence& finished : scheduler.step()) {
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
    throw UnfitText("the ", name, " is not valid UTF-8");
  std::vector<TokenId> pieces = tokenizer.encode(text);
  if (pieces.empty()) throw UnfitText("the ", name, " has no text");
  const auto length = static_cast<std::int64_t>(pieces.size()) + 1;
  const std::int64_t most = std::min(kMostPieces, engine_.max_positions());
  if (length > most)
    throw UnfitText("the ", name, " has ", with_separators(length), " pieces; explain looks at ",
                    with_separators(most), " at most");
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
  std::vector<Place> places;  // one for each sentence
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
