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

/// Tokens that would repeat an n-gram.
void append_repeats(std::span<const TokenId> history, std::int64_t n,
                    std::vector<TokenId>& excluded) {
  const auto size = static_cast<std::size_t>(n);
  if (size == 0 || history.size() < size) return;
  const auto tail = history.last(size - 1);
  for (std::size_t end = size; end <= history.size(); ++end)
    if (ends_with(history.first(end - 1), tail)) excluded.push_back(history[end - 1]);
}

bool is_cjk(char32_t c) { return c >= 0x2E80 && c < 0xE0000 && !(c >= 0xA000 && c < 0xF900); }

void keep_one_of_each(std::vector<TokenId>& tokens) {
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
}

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
  std::vector<TokenId> excluded = tokens.suppressed;
  if (excludes_eos) excluded.push_back(tokens.eos);
  append_repeats(history, config.no_repeat_ngram_size, excluded);
  for (const std::vector<TokenId>& sequence : tokens.avoided)
    if (ends_with(history, std::span(sequence).first(sequence.size() - 1)))
      excluded.push_back(sequence.back());
  keep_one_of_each(excluded);
  for (const TokenId token : excluded) adjustments.push_back({row, token, kExclude});
  if (config.repetition_penalty == 1) return;

  std::vector<TokenId> known(history.begin(), history.end());
  keep_one_of_each(known);
  const auto factor = static_cast<float>(config.repetition_penalty);
  for (const TokenId token : known)
    if (!std::binary_search(excluded.begin(), excluded.end(), token))
      adjustments.push_back({row, token, factor});
}

}  // namespace dragoman
