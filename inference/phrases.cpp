#include "inference/phrases.h"

#include <algorithm>
#include <utility>

namespace dragoman {

RequiredPhrases::RequiredPhrases(std::vector<RequiredPhrase> phrases)
    : phrases_(std::move(phrases)) {
  std::erase_if(phrases_, [](const RequiredPhrase& phrase) { return phrase.tokens.empty(); });
  if (phrases_.size() > kMost) phrases_.resize(kMost);
  for (const RequiredPhrase& phrase : phrases_)
    tokens_ += static_cast<std::int64_t>(phrase.tokens.size());
}

PhraseProgress RequiredPhrases::after(PhraseProgress progress, TokenId token) const {
  progress.at_word_end = false;
  const auto goes_on = [&](std::int16_t phrase, std::int16_t position) {
    return phrases_[static_cast<std::size_t>(phrase)].tokens[static_cast<std::size_t>(position)] ==
           token;
  };
  if (progress.phrase >= 0 && !goes_on(progress.phrase, progress.position)) progress.phrase = -1;
  if (progress.phrase < 0) {
    progress.position = 0;
    for (std::size_t i = 0; i < phrases_.size() && progress.phrase < 0; ++i)
      if (!is_met(progress, i) && goes_on(static_cast<std::int16_t>(i), 0))
        progress.phrase = static_cast<std::int16_t>(i);
    if (progress.phrase < 0) return progress;
  }
  const RequiredPhrase& phrase = phrases_[static_cast<std::size_t>(progress.phrase)];
  if (static_cast<std::size_t>(++progress.position) < phrase.tokens.size()) return progress;
  progress.met |= std::uint64_t{1} << progress.phrase;
  progress.phrase = -1;
  progress.position = 0;
  progress.at_word_end = phrase.ends_word;
  return progress;
}

std::int64_t RequiredPhrases::missing(const PhraseProgress& progress) const {
  std::int64_t count = -progress.position;
  for (std::size_t i = 0; i < phrases_.size(); ++i)
    if (!is_met(progress, i)) count += static_cast<std::int64_t>(phrases_[i].tokens.size());
  return count;
}

void RequiredPhrases::next_tokens(const PhraseProgress& progress,
                                  std::vector<TokenId>& tokens) const {
  if (progress.phrase >= 0) {
    tokens.push_back(phrases_[static_cast<std::size_t>(progress.phrase)]
                         .tokens[static_cast<std::size_t>(progress.position)]);
    return;
  }
  for (std::size_t i = 0; i < phrases_.size(); ++i) {
    const TokenId first = phrases_[i].tokens.front();
    if (!is_met(progress, i) && std::find(tokens.begin(), tokens.end(), first) == tokens.end())
      tokens.push_back(first);
  }
}

}  // namespace dragoman
