#include "inference/device/device_search.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <cmath>

namespace dragoman {

namespace {

/// [V] bool, true for these tokens; undefined if there are none.
template <class Tokens>
torch::Tensor set_of(const Tokens& tokens, std::int64_t vocabulary, torch::Device device) {
  if (tokens.empty()) return {};
  auto set = torch::zeros({vocabulary}, torch::kBool);
  for (const TokenId token : tokens) set.mutable_data_ptr<bool>()[token] = true;
  return set.to(device);
}

/// The same as a bit for each token [ceil(V / 8)].
torch::Tensor bits_of(std::span<const TokenId> tokens, std::int64_t vocabulary,
                      torch::Device device) {
  auto bits = torch::zeros({(vocabulary + 7) / 8}, torch::kUInt8);
  for (const TokenId token : tokens)
    bits.mutable_data_ptr<std::uint8_t>()[token / 8] |= std::uint8_t(1U << token % 8);
  return bits.to(device);
}

/// Whether the `tail.size()` tokens before the end of each row's history are `tail` [R].
torch::Tensor ends_with(const DeviceRuledRows& rows, std::span<const TokenId> tail) {
  const auto size = static_cast<std::int64_t>(tail.size());
  auto matches = rows.length.ge(size);
  for (std::int64_t i = 0; i < size; ++i) {
    const auto place = (rows.length - size + i).clamp_min(0).unsqueeze(1);  // [R, 1]
    matches = matches & rows.history.gather(1, place).squeeze(1).eq(tail[static_cast<size_t>(i)]);
  }
  return matches;
}

}  // namespace

DeviceRules::DeviceRules(const DecodeConfig& config, const TargetTokens& tokens,
                         std::span<const TokenId> never_emitted, std::int64_t vocabulary,
                         torch::Device device)
    : vocabulary_(vocabulary),
      eos_(tokens.eos),
      min_length_(config.min_length),
      ngram_(config.no_repeat_ngram_size),
      repetition_penalty_(config.repetition_penalty),
      looks_back_(rules_look_back(config, tokens)),
      avoided_(tokens.avoided) {
  std::vector<TokenId> never(tokens.suppressed);
  never.insert(never.end(), never_emitted.begin(), never_emitted.end());
  never_ = set_of(never, vocabulary, device);
  if (never_.defined()) never_bits_ = bits_of(never, vocabulary, device);
  std::vector<TokenId> lengthens;
  for (std::size_t token = 0; token < tokens.edges.size(); ++token)
    if (tokens.edges[token].lengthens_word) lengthens.push_back(static_cast<TokenId>(token));
  lengthens_ = set_of(lengthens, vocabulary, device);
}

torch::Tensor DeviceRules::adjust(const torch::Tensor& log_probabilities,
                                  const DeviceRuledRows& rows) const {
  torch::Tensor adjusted = log_probabilities;
  if (repetition_penalty_ != 1) {
    // Tokens after the end of a history count as token V, which is cut off.
    const auto places = torch::arange(rows.history.size(1), rows.length.options());
    const auto tokens =
        torch::where(places.lt(rows.length.unsqueeze(1)), rows.history, vocabulary_);
    const auto seen =
        torch::zeros({tokens.size(0), vocabulary_ + 1}, adjusted.options().dtype(torch::kBool))
            .scatter_(1, tokens, true)
            .narrow(1, 0, vocabulary_);
    const auto factor = static_cast<float>(repetition_penalty_);
    adjusted = torch::where(seen, adjusted * factor, adjusted);
  }
  if (never_.defined()) adjusted = adjusted.masked_fill(never_, -INFINITY);
  if (min_length_ > 0) {
    const auto is_eos = torch::arange(vocabulary_, rows.length.options()).eq(eos_);
    adjusted = adjusted.masked_fill(rows.length.lt(min_length_).unsqueeze(1) & is_eos, -INFINITY);
  }
  if (lengthens_.defined() && rows.must_begin_word.defined())
    adjusted = adjusted.masked_fill(rows.must_begin_word.unsqueeze(1) & lengthens_, -INFINITY);
  if (ngram_ > 0 || !avoided_.empty())
    adjusted = adjusted.masked_fill(excluded_by_history(rows), -INFINITY);
  return adjusted;
}

/// [R, V] bool.
torch::Tensor DeviceRules::excluded_by_history(const DeviceRuledRows& rows) const {
  // Column V takes what is not excluded.
  auto excluded = torch::zeros({rows.length.size(0), vocabulary_ + 1},
                               rows.length.options().dtype(torch::kBool));
  if (ngram_ > 0) exclude_repeats(rows, excluded);
  exclude_avoided(rows, excluded);
  return excluded.narrow(1, 0, vocabulary_);
}

void DeviceRules::exclude_repeats(const DeviceRuledRows& rows, torch::Tensor& excluded) const {
  const std::int64_t capacity = rows.history.size(1), windows = capacity - ngram_ + 1;
  if (windows <= 0) return;
  // Window w has the ngram - 1 tokens from w on; the token after it must not follow them again.
  const auto first = torch::arange(windows, rows.length.options());
  auto matches = (first + (ngram_ - 1)).lt(rows.length.unsqueeze(1));  // [R, windows]
  for (std::int64_t i = 0; i + 1 < ngram_; ++i) {
    const auto place = (rows.length - (ngram_ - 1) + i).clamp_min(0).unsqueeze(1);
    const auto last = rows.history.gather(1, place);  // [R, 1]
    matches = matches & rows.history.narrow(1, i, windows).eq(last);
  }
  const auto next = rows.history.narrow(1, ngram_ - 1, windows);
  excluded.scatter_(1, torch::where(matches, next, vocabulary_), true);
}

void DeviceRules::exclude_avoided(const DeviceRuledRows& rows, torch::Tensor& excluded) const {
  for (const std::vector<TokenId>& sequence : avoided_) {
    const auto matches = ends_with(rows, std::span(sequence).first(sequence.size() - 1));
    excluded.select(1, sequence.back()).logical_or_(matches);
  }
}

}  // namespace dragoman
