#include "inference/sentence_cache.h"

#include <new>
#include <utility>

#include "base/bytes.h"

namespace dragoman {

namespace {

template <class T>
std::int64_t bytes_of(const std::vector<T>& values) {
  return static_cast<std::int64_t>(values.size() * sizeof(T));
}

/// An estimate: allocators and the table count as a fixed amount for each sentence.
std::int64_t bytes_of(const SentenceCache::Key& key, const std::vector<Hypothesis>& hypotheses) {
  constexpr std::int64_t kForEach = 256;
  std::int64_t bytes = kForEach + bytes_of(key.tokens) + bytes_of(hypotheses);
  for (const Hypothesis& hypothesis : hypotheses)
    bytes += bytes_of(hypothesis.tokens) + bytes_of(hypothesis.log_probabilities) +
             bytes_of(hypothesis.attention);
  return bytes;
}

}  // namespace

std::size_t SentenceCache::Hash::operator()(const Key* key) const {
  const auto seed = reinterpret_cast<std::uintptr_t>(key->settings.get()) + key->has_attention;
  return xxh3(key->tokens.data(), key->tokens.size() * sizeof(TokenId), seed);
}

std::optional<SentenceCache::Key> SentenceCache::key_of(const SourceSentence& sentence) const {
  if (most_bytes_ == 0 || sentence.settings->config.sampling ||
      !sentence.required.prefix.tokens.empty() || !sentence.required.phrases.empty())
    return std::nullopt;
  return Key{.settings = sentence.settings,
             .has_attention = sentence.needs_attention,
             .tokens = sentence.tokens};
}

std::optional<std::vector<Hypothesis>> SentenceCache::find(const Key& key) {
  const MutexLock lock(mutex_);
  const auto place = places_.find(&key);
  if (place == places_.end()) {
    ++counts_.missed;
    return std::nullopt;
  }
  ++counts_.found;
  order_.splice(order_.begin(), order_, place->second);
  return place->second->hypotheses;
}

void SentenceCache::keep(Key key, const std::vector<Hypothesis>& hypotheses) noexcept {
  try {
    insert(std::move(key), hypotheses);
  } catch (const std::bad_alloc&) {
  }
}

void SentenceCache::insert(Key key, const std::vector<Hypothesis>& hypotheses) {
  const std::int64_t bytes = bytes_of(key, hypotheses);
  if (bytes > most_bytes_ / 8) return;
  Order kept;  // made before anything changes, as memory may run out
  kept.push_back({.key = std::move(key), .hypotheses = hypotheses, .bytes = bytes});
  const MutexLock lock(mutex_);
  if (!places_.try_emplace(&kept.front().key, kept.begin()).second) return;
  order_.splice(order_.begin(), kept);
  counts_.bytes += bytes;
  while (counts_.bytes > most_bytes_) {
    counts_.bytes -= order_.back().bytes;
    places_.erase(&order_.back().key);
    order_.pop_back();
  }
}

SentenceCache::Counts SentenceCache::counts() const {
  const MutexLock lock(mutex_);
  return counts_;
}

}  // namespace dragoman
