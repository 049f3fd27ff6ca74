#include "data/random_batch.h"

#include "base/random.h"

namespace dragoman {

namespace {

void append_sentence(const RandomText& text, std::int64_t length, RandomStream& random,
                     PackedSide& side) {
  constexpr std::int64_t kFirstToken = 3;
  if (side.starts.empty()) side.starts.push_back(0);
  for (std::int64_t i = 0; i < length; ++i)
    side.tokens.push_back(static_cast<TokenId>(
        kFirstToken + static_cast<std::int64_t>(random.below(
                          static_cast<std::uint64_t>(text.vocabulary) - kFirstToken))));
  side.starts.push_back(static_cast<std::int32_t>(side.tokens.size()));
}

}  // namespace

PackedBatch random_batch(const RandomText& text, std::uint64_t seed, std::uint64_t number) {
  RandomStream random(seed, number);
  PackedBatch batch;
  while (batch.target.size() + text.length + text.spread <= text.batch_tokens) {
    const std::int64_t length =
        text.length - text.spread +
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * text.spread + 1)));
    append_sentence(text, length, random, batch.source);
    append_sentence(text, length, random, batch.target);
    batch.sentences.push_back(static_cast<std::int64_t>(batch.sentences.size()));
  }
  return batch;
}

}  // namespace dragoman
