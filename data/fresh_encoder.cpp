#include "data/fresh_encoder.h"

#include <utility>

#include "base/random.h"
#include "tokenizer/model_facts.h"

namespace dragoman {

namespace {

/// Tells the uses of one key apart.
enum Use : std::uint64_t { kFreshEncoding = 0x6672657368, kText = 1, kSource = 2, kTarget = 3 };

std::vector<std::string> user_symbols(const Tokenizer& tokenizer) {
  const TokenizerFacts facts = tokenizer_facts(tokenizer.model_bytes(), "the tokenizer");
  std::vector<std::string> symbols;
  for (std::size_t id = 0; id < facts.kinds.size(); ++id)
    if (facts.kinds[id] == PieceKind::UserDefined)
      symbols.push_back(tokenizer.piece(static_cast<TokenId>(id)));
  return symbols;
}

}  // namespace

bool FreshEncoder::is_wanted(const DataConfig& data) {
  return data.subword_sampling > 0 || data.augment_upper_case > 0 || data.augment_title_case > 0 ||
         data.augment_drop_end_punctuation > 0;
}

FreshEncoder::FreshEncoder(std::shared_ptr<const ParallelText> text, const Tokenizers& tokenizers,
                           const DataConfig& data, std::uint64_t seed)
    : text_(std::move(text)),
      tokenizers_(tokenizers),
      data_(data),
      seed_(seed),
      tags_(data, *tokenizers.source),
      kept_(user_symbols(*tokenizers.source)) {
  for (std::string& symbol : user_symbols(*tokenizers.target)) kept_.push_back(std::move(symbol));
  if (data.subword_sampling == 0) return;
  if (data.subword_sampling_side != SamplingSide::Target)
    source_sampler_.emplace(tokenizers.source, data.subword_sampling);
  if (data.subword_sampling_side != SamplingSide::Source)
    target_sampler_.emplace(tokenizers.target, data.subword_sampling);
}

std::optional<EncodedSides> FreshEncoder::encode(const Corpus& corpus, std::int64_t pair,
                                                 Turn turn) const {
  const std::uint64_t key = random_bits(seed_, kFreshEncoding, turn.epoch, turn.round, pair);
  const std::int64_t line = corpus.line(pair);
  EncodedSides sides;
  if (const auto text = changed_text(line, key)) {
    sides.source = tokenizers_.source->encode(tags_.tagged(text_->file_of(line), text->source));
    sides.target = tokenizers_.target->encode(text->target);
  } else if (source_sampler_ || target_sampler_) {
    sides = {corpus.source(pair), corpus.target(pair)};
  } else {
    return std::nullopt;
  }
  if (source_sampler_) sides.source = source_sampler_->sample(sides.source, mix64(key + kSource));
  if (target_sampler_) sides.target = target_sampler_->sample(sides.target, mix64(key + kTarget));
  const auto longer = static_cast<std::int64_t>(std::max(sides.source.size(), sides.target.size()));
  if (data_.max_length > 0 && longer > data_.max_length) return std::nullopt;
  return sides;
}

std::optional<TextPair> FreshEncoder::changed_text(std::int64_t line, std::uint64_t key) const {
  RandomStream random(key, kText);
  const double which = random.uniform();
  const bool drop = random.chance(data_.augment_drop_end_punctuation);
  const bool change = which < data_.augment_upper_case + data_.augment_title_case;
  if (!drop && !change) return std::nullopt;
  const auto [source, target] = text_->lines(line);
  TextPair pair{std::string(source), std::string(target)};
  std::optional<TextPair> result;
  if (change)
    result = change_case(
        pair, which < data_.augment_upper_case ? CaseChange::Upper : CaseChange::Title, kept_);
  if (drop)
    if (auto dropped = drop_end_punctuation(result.value_or(pair))) result = std::move(dropped);
  return result;
}

}  // namespace dragoman
