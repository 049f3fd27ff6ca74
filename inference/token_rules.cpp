#include "inference/token_rules.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

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

bool is_cjk(char32_t c) { return c >= 0x2E80 && c < 0xE0000 && !(c >= 0xA000 && c < 0xF900); }

}  // namespace

bool is_word_character(char32_t c) {
  const char kind = general_category(c)[0];
  return (kind == 'L' || kind == 'N' || kind == 'M') && !is_cjk(c);
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
  if (config.requires_phrases)
    for (TokenId id = 0; id < target.size(); ++id) {
      const std::string piece = target.piece(id);
      std::size_t offset = 0;
      tokens.lengthens_word.push_back(!piece.empty() &&
                                      find_invalid_utf8(piece) == std::string::npos &&
                                      is_word_character(next_code_point(piece, offset)));
    }
  return tokens;
}

void append_adjustments(std::span<const TokenId> history, bool excludes_eos, std::int32_t row,
                        const DecodeConfig& config, const TargetTokens& tokens,
                        std::vector<Adjustment>& adjustments) {
  const auto first = static_cast<std::ptrdiff_t>(adjustments.size());
  const auto exclude = [&](TokenId token) { adjustments.push_back({row, token, kExclude}); };
  for (const TokenId token : tokens.suppressed) exclude(token);
  if (excludes_eos) exclude(tokens.eos);
  find_repeats(history, config.no_repeat_ngram_size, exclude);
  for (const std::vector<TokenId>& sequence : tokens.avoided)
    if (ends_with(history, std::span(sequence).first(sequence.size() - 1)))
      exclude(sequence.back());
  if (config.repetition_penalty != 1)
    for (const TokenId token : history)
      adjustments.push_back({row, token, static_cast<float>(config.repetition_penalty)});

  // One of each token, excluded if any says so.
  const auto begin = adjustments.begin() + first;
  std::sort(begin, adjustments.end(), [](const Adjustment& a, const Adjustment& b) {
    return a.token != b.token ? a.token < b.token : a.factor > b.factor;
  });
  const auto same = [](const Adjustment& a, const Adjustment& b) { return a.token == b.token; };
  adjustments.erase(std::unique(begin, adjustments.end(), same), adjustments.end());
}

}  // namespace dragoman
