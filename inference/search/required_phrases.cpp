#include "inference/search/required_phrases.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

namespace dragoman {

namespace {

/// The number of tokens of the longest spelling.
std::int64_t length(const RequiredPhrase& phrase) {
  std::size_t most = 0;
  for (const PhraseSpelling& spelling : phrase.spellings)
    most = std::max(most, spelling.tokens.size());
  return static_cast<std::int64_t>(most);
}

}  // namespace

double RequiredPhrase::attention(std::span<const float> all) const {
  if (!has_positions() || end > source_pieces || source_pieces > all.size()) return 1;
  double total = 0, of_phrase = 0;
  for (std::size_t position = 0; position < source_pieces; ++position) {
    total += all[position];
    if (position >= begin && position < end) of_phrase += all[position];
  }
  return of_phrase / std::max(total, phrase_weights::kLeastAttention);
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

namespace {

/// The most probable token, or -1.
TokenId likeliest(const PhraseRow& row) {
  const auto best = std::ranges::max_element(row.candidates, {}, &Candidate::log_probability);
  return best == row.candidates.end() || !is_possible(*best) ? -1 : best->token;
}

double log_probability_of(const PhraseRow& row, TokenId token) {
  const auto found = std::ranges::find(row.reported, token, &RowToken::token);
  return row.reported_log_probabilities[static_cast<std::size_t>(found - row.reported.begin())];
}

}  // namespace

void PhraseBeam::append_reported(const PhraseProgress& progress, std::int32_t row,
                                 std::vector<RowToken>& reported) const {
  if (progress.phrase >= 0) {
    reported.push_back({row, phrases_.next(progress)});
    return;
  }
  const auto first = static_cast<std::ptrdiff_t>(reported.size());
  if (progress.at_word_end) reported.push_back({row, tokens_.eos});
  const auto add = [&](const std::vector<TokenId>& tokens) {
    if (std::none_of(reported.begin() + first, reported.end(),
                     [&](RowToken w) { return w.token == tokens.front(); }))
      reported.push_back({row, tokens.front()});
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(phrases_.count()); ++i) {
    if (phrases_.is_begun(progress, i)) continue;
    for (const PhraseSpelling& spelling : phrases_[i].spellings) add(spelling.tokens);
  }
}

bool PhraseBeam::lengthens_word(TokenId token) const {
  return token >= 0 && !tokens_.edges.empty() &&
         tokens_.edges[static_cast<std::size_t>(token)].lengthens_word;
}

bool PhraseBeam::may_begin(const PhraseRow& row, const RequiredPhrase& phrase,
                           PhraseStart start) const {
  const bool at_start = row.previous == tokens_.eos;
  if (start == PhraseStart::Sentence) return at_start;
  if (start == PhraseStart::Attached)
    return !at_start && !tokens_.edges.empty() &&
           tokens_.edges[static_cast<std::size_t>(row.previous)].opens;
  if (at_start)
    return std::ranges::none_of(phrase.spellings, [](const PhraseSpelling& spelling) {
      return spelling.start == PhraseStart::Sentence;
    });
  // It does not begin within a word, as far as the model sees one.
  return !lengthens_word(likeliest(row));
}

void PhraseBeam::append_begun(const PhraseRow& row, std::size_t phrase, std::size_t spelling,
                              std::vector<PhraseExtension>& pool) const {
  const RequiredPhrase& required = phrases_[phrase];
  const TokenId token = required.spellings[spelling].tokens.front();
  const double cost = log_probability_of(row, token);
  if (!is_possible({token, static_cast<float>(cost)})) return;
  PhraseProgress progress = phrases_.start(row.progress, phrase, spelling);
  const double attention = required.attention(row.attention);
  progress.bonus +=
      phrase_weights::kPlacing * std::log(std::max(attention, phrase_weights::kLeastAttention));
  progress.bonus += std::max(-cost - phrase_weights::kMostFirst, 0.0);
  pool.push_back({{row.number, token, row.sum + cost}, progress});
}

/// The penalty for a token of no phrase. `attention` has the attention to each phrase's positions.
double PhraseBeam::penalty(const PhraseRow& row, std::span<const double> attention,
                           TokenId token) const {
  double sum = 0;
  for (std::size_t i = 0; i < attention.size(); ++i) {
    const RequiredPhrase& phrase = phrases_[i];
    sum += phrase_weights::kCovering * attention[i];
    const bool is_again = phrases_.is_begun(row.progress, i) && phrase.begins_with(token);
    if (token != phrase.instead && !is_again) continue;
    const double usual =
        token == phrase.instead ? phrase.instead_attention : phrase_weights::kUsualAttention;
    sum += phrase_weights::kRepeating * (usual > 0 ? std::min(1.0, attention[i] / usual) : 1.0);
  }
  return sum;
}

void PhraseBeam::append_plain(const PhraseRow& row, std::vector<PhraseExtension>& pool) const {
  std::vector<double> attention;
  for (std::size_t i = 0; i < static_cast<std::size_t>(phrases_.count()); ++i)
    attention.push_back(phrases_[i].has_positions() ? phrases_[i].attention(row.attention) : 0);
  const std::int64_t phrases_left = phrases_.phrases_left(row.progress);
  const bool ends = likeliest(row) == tokens_.eos;
  const std::size_t before = pool.size();
  for (const Candidate& candidate : row.candidates) {
    if (!is_possible(candidate)) continue;
    const bool is_end = candidate.token == tokens_.eos;
    if (ends && !is_end) continue;
    if (is_end && phrases_left > 0 && policy_ == PhrasePolicy::Always) continue;
    if (row.progress.at_word_end && lengthens_word(candidate.token)) continue;
    PhraseProgress progress = row.progress;
    progress.at_word_end = false;
    progress.bonus -= is_end ? phrase_weights::kLacking * static_cast<double>(phrases_left)
                             : penalty(row, attention, candidate.token);
    pool.push_back({{row.number, candidate.token, row.sum + candidate.log_probability}, progress});
  }
  if (pool.size() > before || !row.progress.at_word_end || phrases_left > 0) return;
  // If all likely tokens lengthen the phrase's word, the sentence ends.
  const double cost = log_probability_of(row, tokens_.eos);
  if (is_possible({tokens_.eos, static_cast<float>(cost)}))
    pool.push_back({{row.number, tokens_.eos, row.sum + cost}, row.progress});
}

void PhraseBeam::extend(const PhraseRow& row, std::int64_t room,
                        std::vector<PhraseExtension>& pool) const {
  if (row.progress.phrase >= 0) {
    const TokenId token = phrases_.next(row.progress);
    const double cost = log_probability_of(row, token);
    if (!is_possible({token, static_cast<float>(cost)})) return;
    PhraseProgress progress = phrases_.advance(row.progress);
    progress.bonus -= cost;
    pool.push_back({{row.number, token, row.sum + cost}, progress});
    return;
  }
  const std::int64_t tokens_left = phrases_.tokens_left(row.progress);
  const bool ends = likeliest(row) == tokens_.eos;
  // room - 1: without </s>. If the phrases that are left fill it, each token must be one of theirs.
  const bool is_tight = tokens_left > 0 && tokens_left >= room - 1;
  if (!is_tight || policy_ == PhrasePolicy::Fluent) append_plain(row, pool);
  // Fluent forces no phrase if the model would end here, or if nothing else fits.
  if ((ends || is_tight) && policy_ == PhrasePolicy::Fluent) return;
  for (std::size_t i = 0; i < static_cast<std::size_t>(phrases_.count()); ++i) {
    if (phrases_.is_begun(row.progress, i)) continue;
    for (std::size_t spelling = 0; spelling < phrases_[i].spellings.size(); ++spelling) {
      const PhraseStart start = phrases_[i].spellings[spelling].start;
      if ((is_tight && start == PhraseStart::Word) || may_begin(row, phrases_[i], start))
        append_begun(row, i, spelling, pool);
    }
  }
}

void PhraseBeam::keep(std::vector<PhraseExtension>& pool, std::int64_t beam) const {
  const auto is_better = [](const PhraseExtension& a, const PhraseExtension& b) {
    if (a.merit() != b.merit()) return a.merit() > b.merit();
    return a.extension.row != b.extension.row ? a.extension.row < b.extension.row
                                              : a.extension.token < b.extension.token;
  };
  std::ranges::stable_sort(pool, is_better);
  std::map<std::int64_t, std::vector<PhraseExtension>> banks;  // best first
  for (const PhraseExtension& extension : pool)
    banks[phrases_.phrases_left(extension.progress)].push_back(extension);
  pool.clear();
  std::int64_t open = 0, ended = 0;
  for (std::size_t rank = 0; open < beam; ++rank) {
    bool any = false;
    for (const auto& [left, bank] : banks) {
      if (rank >= bank.size() || open == beam) continue;
      any = true;
      const bool ends = bank[rank].extension.token == tokens_.eos;
      if (ends && ended++ >= beam) continue;
      pool.push_back(bank[rank]);
      if (!ends) ++open;
    }
    if (!any) break;
  }
}

}  // namespace dragoman
