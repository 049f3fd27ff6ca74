#include "inference/search/required_phrases.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace dragoman {

namespace {

/// Of the longest spelling.
std::int64_t length(const RequiredPhrase& phrase) {
  std::size_t most = 0;
  for (const PhraseSpelling& spelling : phrase.spellings)
    most = std::max(most, spelling.tokens.size());
  return static_cast<std::int64_t>(most);
}

}  // namespace

double RequiredPhrase::attention(std::span<const float> all) const {
  if (!has_positions() || end > source_pieces || source_pieces > all.size()) return 1;
  constexpr double kLeast = 0.01;
  double total = 0, of_phrase = 0;
  for (std::size_t position = 0; position < source_pieces; ++position) {
    total += all[position];
    if (position >= begin && position < end) of_phrase += all[position];
  }
  return of_phrase / std::max(total, kLeast);
}

bool RequiredPhrase::begins_with(TokenId token) const {
  return std::ranges::any_of(
      spellings, [&](const PhraseSpelling& spelling) { return spelling.tokens.front() == token; });
}

RequiredPhrases::RequiredPhrases(std::vector<RequiredPhrase> phrases)
    : phrases_(std::move(phrases)) {
  for (RequiredPhrase& phrase : phrases_)
    std::erase_if(phrase.spellings, [](const PhraseSpelling& s) { return s.tokens.empty(); });
  std::erase_if(phrases_, [](const RequiredPhrase& phrase) { return phrase.spellings.empty(); });
  if (phrases_.size() > kMost) phrases_.resize(kMost);
  for (const RequiredPhrase& phrase : phrases_) tokens_ += length(phrase);
}

std::int64_t RequiredPhrases::phrases_left(const PhraseProgress& progress) const {
  return count() - std::popcount(progress.begun);
}

std::int64_t RequiredPhrases::tokens_left(const PhraseProgress& progress) const {
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < phrases_.size(); ++i)
    if (!is_begun(progress, i)) tokens += length(phrases_[i]);
  if (progress.phrase < 0) return tokens;
  return tokens + static_cast<std::int64_t>(spelling_of(progress).size()) - progress.position;
}

const std::vector<TokenId>& RequiredPhrases::spelling_of(const PhraseProgress& progress) const {
  return phrases_[static_cast<std::size_t>(progress.phrase)]
      .spellings[static_cast<std::size_t>(progress.spelling)]
      .tokens;
}

TokenId RequiredPhrases::next(const PhraseProgress& progress) const {
  return spelling_of(progress)[static_cast<std::size_t>(progress.position)];
}

PhraseProgress RequiredPhrases::start(PhraseProgress progress, std::size_t phrase,
                                      std::size_t spelling) const {
  progress.begun |= std::uint64_t{1} << phrase;
  progress.phrase = static_cast<std::int32_t>(phrase);
  progress.spelling = static_cast<std::int32_t>(spelling);
  progress.position = 0;
  return advance(progress);
}

PhraseProgress RequiredPhrases::advance(PhraseProgress progress) const {
  const bool completed =
      static_cast<std::size_t>(++progress.position) == spelling_of(progress).size();
  progress.at_word_end = completed && phrases_[static_cast<std::size_t>(progress.phrase)].ends_word;
  if (completed) progress.phrase = -1;
  return progress;
}

}  // namespace dragoman
