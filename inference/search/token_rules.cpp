#include "inference/search/token_rules.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

constexpr char32_t kWordStart = 0x2581;  // stands for the white space before a piece

bool ends_with(std::span<const TokenId> history, std::span<const TokenId> tail) {
  return history.size() >= tail.size() && std::ranges::equal(history.last(tail.size()), tail);
}

/// Calls exclude(token) for tokens that would repeat an n-gram.
template <class Exclude>
void find_repeats(std::span<const TokenId> history, std::int64_t n, Exclude&& exclude) {
  const auto size = static_cast<std::size_t>(n);
  if (size == 0 || history.size() < size) return;
  const auto tail = history.last(size - 1);
  for (std::size_t end = size; end <= history.size(); ++end)
    if (ends_with(history.first(end - 1), tail)) exclude(history[end - 1]);
}

bool opens_word(char32_t c) {
  const std::string_view category = general_category(c);
  return category == "Ps" || category == "Pi" || category == "Sc" || c == '"' || c == '\'';
}

TokenEdges edges_of(const std::string& piece) {
  if (piece.empty() || find_invalid_utf8(piece) != std::string::npos) return {};
  const std::u32string characters = code_points(piece);
  const auto begin = characters.begin() + 1;
  return {.lengthens_word = is_word_character(characters.front()),
          .opens =
              characters.front() == kWordStart && std::all_of(begin, characters.end(), opens_word)};
}

}  // namespace

std::vector<TokenEdges> token_edges(const Tokenizer& target) {
  std::vector<TokenEdges> edges;
  for (TokenId id = 0; id < target.size(); ++id) edges.push_back(edges_of(target.piece(id)));
  return edges;
}

TargetTokens target_tokens(const Tokenizer& target, const DecodeConfig& config,
                           std::span<const std::string> avoided) {
  TargetTokens tokens{.eos = target.eos_id()};
  for (const std::string& piece : config.suppress) {
    tokens.suppressed.push_back(target.id(piece));
    if (target.piece(tokens.suppressed.back()) != piece)
      throw UsageError("--suppress ", piece, ": the model has no such piece");
  }
  for (const std::string& text : avoided)
    if (auto sequence = target.encode(text); !sequence.empty())
      tokens.avoided.push_back(std::move(sequence));
  return tokens;
}

bool has_excluded(std::span<const TokenId> tokens, const TargetTokens& rules) {
  const auto has = [tokens](std::span<const TokenId> sequence) {
    return !std::ranges::search(tokens, sequence).empty();
  };
  return std::ranges::any_of(rules.suppressed,
                             [&](TokenId token) {
                               return has({&token, 1});
                             }) ||
         std::ranges::any_of(rules.avoided, has);
}

bool rules_look_back(const DecodeConfig& config, const TargetTokens& tokens) {
  return config.repetition_penalty != 1 || config.no_repeat_ngram_size > 0 ||
         !tokens.avoided.empty();
}

void append_adjustments(const RuledRow& row, const DecodeConfig& config, const TargetTokens& tokens,
                        std::vector<Adjustment>& adjustments) {
  const auto first = static_cast<std::ptrdiff_t>(adjustments.size());
  const auto exclude = [&](TokenId token) { adjustments.push_back({row.number, token, kExclude}); };
  for (const TokenId token : tokens.suppressed) exclude(token);
  if (row.must_continue) exclude(tokens.eos);
  find_repeats(row.history, config.no_repeat_ngram_size, exclude);
  for (const std::vector<TokenId>& sequence : tokens.avoided)
    if (ends_with(row.history, std::span(sequence).first(sequence.size() - 1)))
      exclude(sequence.back());
  if (config.repetition_penalty != 1)
    for (const TokenId token : row.history)
      adjustments.push_back({row.number, token, static_cast<float>(config.repetition_penalty)});

  // Keeps one adjustment of each token, which excludes it if any of them does.
  const auto begin = adjustments.begin() + first;
  std::sort(begin, adjustments.end(), [](const Adjustment& a, const Adjustment& b) {
    return a.token != b.token ? a.token < b.token : a.factor > b.factor;
  });
  const auto same = [](const Adjustment& a, const Adjustment& b) { return a.token == b.token; };
  adjustments.erase(std::unique(begin, adjustments.end(), same), adjustments.end());
}

void exclude_longer_word(std::int32_t row, const TargetTokens& tokens,
                         std::vector<Adjustment>& adjustments) {
  if (tokens.edges.empty()) return;
  const auto lengthens = [&tokens](TokenId token) {
    return tokens.edges[static_cast<std::size_t>(token)].lengthens_word;
  };
  std::erase_if(adjustments, [&](const Adjustment& adjustment) {
    return adjustment.row == row && lengthens(adjustment.token);
  });
  for (TokenId token = 0; token < static_cast<TokenId>(tokens.edges.size()); ++token)
    if (lengthens(token)) adjustments.push_back({row, token, kExclude});
}

}  // namespace dragoman
