// A step of beam search with required phrases for one group: what PhraseBeam
// (inference/search/required_phrases.h) does for a sentence.
#pragma once

#include "kernels/cuda/search_group.cuh"

namespace dragoman::search_step {

// The numbers of inference/search/required_phrases.h, which this room may not include.
constexpr double kLacking = 8, kPlacing = 2, kCovering = 2, kRepeating = 6, kUsualAttention = 0.5;
constexpr double kMostFirst = 4, kLeastAttention = 0.01;

/// The phrases of a group's sentence.
struct Phrases {
  DRAGOMAN_ON_DEVICE explicit Phrases(const Group& group)
      : g(group),
        phrases(group.all.phrases + group.number * group.all.phrase_columns),
        spellings(group.all.spellings + group.number * group.all.spelling_columns),
        tokens(group.all.phrase_tokens + group.number * group.all.phrase_token_columns),
        pool(group.all.pool + group.number * group.all.pool_columns) {}

  DRAGOMAN_ON_DEVICE int count() const { return g.state.phrases; }
  DRAGOMAN_ON_DEVICE const SearchSpelling& spelling_of(const SearchProgress& progress) const {
    return spellings[phrases[progress.phrase].first_spelling + progress.spelling];
  }
  DRAGOMAN_ON_DEVICE int first_token(const SearchSpelling& spelling) const {
    return tokens[spelling.first_token];
  }
  DRAGOMAN_ON_DEVICE bool is_begun(const SearchProgress& progress, int phrase) const {
    return (progress.begun >> phrase & 1) != 0;
  }
  DRAGOMAN_ON_DEVICE int tokens_left(const SearchProgress& progress) const {
    int left = 0;
    for (int i = 0; i < count(); ++i)
      if (!is_begun(progress, i)) left += phrases[i].longest;
    return progress.phrase < 0 ? left : left + spelling_of(progress).count - progress.position;
  }
  /// The progress after the next token of the phrase that is begun.
  DRAGOMAN_ON_DEVICE SearchProgress advanced(SearchProgress progress) const {
    const bool completed = ++progress.position == spelling_of(progress).count;
    progress.at_word_end = completed && phrases[progress.phrase].ends_word;
    if (completed) progress.phrase = -1;
    return progress;
  }
  DRAGOMAN_ON_DEVICE SearchProgress started(SearchProgress progress, int phrase,
                                            int spelling) const {
    progress.begun |= 1ULL << phrase;
    ++progress.phrases_begun;
    progress.phrase = phrase;
    progress.spelling = spelling;
    progress.position = 0;
    return advanced(progress);
  }
  /// The fraction of a row's attention that goes to the phrase's source; 1 if that is unknown.
  DRAGOMAN_ON_DEVICE double attention(int row, const SearchPhrase& phrase) const {
    const int all = g.all.attention == nullptr ? 0 : g.state.source_length;
    if (phrase.begin >= phrase.end || phrase.end > phrase.source_pieces ||
        phrase.source_pieces > all)
      return 1;
    double total = 0, of_phrase = 0;
    for (int s = 0; s < phrase.source_pieces; ++s) {
      const double weight = static_cast<double>(g.attention(row, s));
      total += weight;
      if (s >= phrase.begin && s < phrase.end) of_phrase += weight;
    }
    return of_phrase / (total > kLeastAttention ? total : kLeastAttention);
  }
  DRAGOMAN_ON_DEVICE bool lengthens_word(int token) const {
    return token >= 0 && g.all.edges != nullptr && (g.all.edges[token] & kLengthensWord) != 0;
  }
  /// A row's most probable token, or -1.
  DRAGOMAN_ON_DEVICE int likeliest(int row) const {
    const long long at = (g.first_row + row) * g.all.candidates;
    return is_possible(g.all.log_probabilities[at]) ? static_cast<int>(g.all.tokens[at]) : -1;
  }

  /// Adds an extension of a row, if the token is possible.
  DRAGOMAN_ON_DEVICE void append(int row, int token, double cost, const SearchProgress& progress) {
    pool[size++] = {g.rows[row].sum + cost, progress, row, token, false};
  }
  DRAGOMAN_ON_DEVICE void extend(int row);
  DRAGOMAN_ON_DEVICE void append_plain(int row);
  DRAGOMAN_ON_DEVICE void append_begun(int row, int phrase, int spelling);
  DRAGOMAN_ON_DEVICE bool may_begin(int row, int phrase, SearchSpelling::Start start) const;
  DRAGOMAN_ON_DEVICE double penalty(int row, int token) const;
  DRAGOMAN_ON_DEVICE int best_of_bank(int left) const;

  const Group& g;
  const SearchPhrase* phrases;
  const SearchSpelling* spellings;
  const int* tokens;
  SearchExtension* pool;
  int size = 0;
};

/// PhraseBeam::may_begin()
DRAGOMAN_ON_DEVICE inline bool Phrases::may_begin(int row, int phrase,
                                                  SearchSpelling::Start start) const {
  const bool at_start = g.state.length == 0;
  if (start == SearchSpelling::Start::Sentence) return at_start;
  if (start == SearchSpelling::Start::Attached)
    return !at_start && g.all.edges != nullptr && (g.all.edges[g.rows[row].token] & kOpens) != 0;
  return at_start ? !phrases[phrase].begins_sentence : !lengthens_word(likeliest(row));
}

/// PhraseBeam::append_begun()
DRAGOMAN_ON_DEVICE inline void Phrases::append_begun(int row, int phrase, int spelling) {
  const int token = first_token(spellings[phrases[phrase].first_spelling + spelling]);
  const float value = g.log_probability(row, token);
  if (!is_possible(value)) return;
  const double cost = static_cast<double>(value);
  SearchProgress progress = started(g.rows[row].progress, phrase, spelling);
  const double weight = attention(row, phrases[phrase]);
  progress.bonus += kPlacing * log_of(weight > kLeastAttention ? weight : kLeastAttention);
  progress.bonus += -cost > kMostFirst ? -cost - kMostFirst : 0.0;
  append(row, token, cost, progress);
}

/// PhraseBeam::penalty()
DRAGOMAN_ON_DEVICE inline double Phrases::penalty(int row, int token) const {
  double sum = 0;
  for (int i = 0; i < count(); ++i) {
    const SearchPhrase& phrase = phrases[i];
    const double weight = phrase.begin < phrase.end ? attention(row, phrase) : 0;
    sum += kCovering * weight;
    bool is_again = false;
    if (is_begun(g.rows[row].progress, i))
      for (int s = 0; s < phrase.spellings; ++s)
        is_again = is_again || first_token(spellings[phrase.first_spelling + s]) == token;
    if (token != phrase.instead && !is_again) continue;
    const double usual = token == phrase.instead ? phrase.instead_attention : kUsualAttention;
    const double relative = usual > 0 ? weight / usual : 1.0;
    sum += kRepeating * (relative < 1 ? relative : 1.0);
  }
  return sum;
}

/// PhraseBeam::append_plain()
DRAGOMAN_ON_DEVICE inline void Phrases::append_plain(int row) {
  const SearchProgress& before = g.rows[row].progress;
  const int left = count() - before.phrases_begun, eos = g.all.eos, old_size = size;
  const bool ends = likeliest(row) == eos;
  for (int c = 0; c < g.all.candidates; ++c) {
    const long long at = (g.first_row + row) * g.all.candidates + c;
    const float value = g.all.log_probabilities[at];
    const int token = static_cast<int>(g.all.tokens[at]);
    const bool is_end = token == eos;
    if (!is_possible(value) || (ends && !is_end)) continue;
    if (is_end && left > 0 && !g.state.is_fluent) continue;
    if (before.at_word_end && lengthens_word(token)) continue;
    SearchProgress progress = before;
    progress.at_word_end = false;
    progress.bonus -= is_end ? kLacking * static_cast<double>(left) : penalty(row, token);
    append(row, token, static_cast<double>(value), progress);
  }
  if (size > old_size || !before.at_word_end || left > 0) return;
  // If all likely tokens lengthen the phrase's word, the sentence ends.
  const float value = g.log_probability(row, eos);
  if (is_possible(value)) append(row, eos, static_cast<double>(value), before);
}

/// PhraseBeam::extend()
DRAGOMAN_ON_DEVICE inline void Phrases::extend(int row) {
  const SearchProgress& before = g.rows[row].progress;
  if (before.phrase >= 0) {
    const int token = tokens[spelling_of(before).first_token + before.position];
    const float value = g.log_probability(row, token);
    if (!is_possible(value)) return;
    SearchProgress progress = advanced(before);
    progress.bonus -= static_cast<double>(value);
    append(row, token, static_cast<double>(value), progress);
    return;
  }
  const int left = tokens_left(before), room = g.state.max_length - g.state.length;
  // room - 1: without </s>. If the phrases that are left fill it, each token must be one of theirs.
  const bool is_tight = left > 0 && left >= room - 1, is_fluent = g.state.is_fluent;
  if (!is_tight || is_fluent) append_plain(row);
  // A fluent translation gets no phrase if the model would end here, or if nothing else fits.
  if ((is_tight || likeliest(row) == g.all.eos) && is_fluent) return;
  for (int i = 0; i < count(); ++i) {
    if (is_begun(before, i)) continue;
    for (int s = 0; s < phrases[i].spellings; ++s) {
      const SearchSpelling::Start start = spellings[phrases[i].first_spelling + s].start;
      if ((is_tight && start == SearchSpelling::Start::Word) || may_begin(row, i, start))
        append_begun(row, i, s);
    }
  }
}

/// The place of the best extension that lacks `left` phrases, and that has not been taken; or -1.
DRAGOMAN_ON_DEVICE inline int Phrases::best_of_bank(int left) const {
  int best = -1;
  for (int i = 0; i < size; ++i) {
    const SearchExtension& x = pool[i];
    if (x.is_taken || count() - x.progress.phrases_begun != left) continue;
    if (best >= 0) {
      const SearchExtension& b = pool[best];
      if (x.merit() < b.merit()) continue;
      if (x.merit() == b.merit() && (x.row > b.row || (x.row == b.row && x.token >= b.token)))
        continue;
    }
    best = i;
  }
  return best;
}

/// SentenceSearch::extend_beam_with_phrases(), with PhraseBeam::keep().
DRAGOMAN_ON_DEVICE inline Extensions extend_beam_with_phrases(Group& g) {
  Phrases phrases(g);
  for (int row = 0; row < g.all.width; ++row)
    if (g.rows[row].is_open) phrases.extend(row);
  if (phrases.size == 0 && g.state.ended == 0) cut_all(g, g.state.length);
  int open = 0, ended = 0;
  for (bool any = true; any && open < g.all.width;) {
    any = false;
    for (int left = 0; left <= phrases.count() && open < g.all.width; ++left) {
      const int best = phrases.best_of_bank(left);
      if (best < 0) continue;
      any = true;
      SearchExtension& x = phrases.pool[best];
      x.is_taken = true;
      const bool ends = x.token == g.all.eos;
      if (ends && ended++ >= g.all.width) continue;
      extend(g, x, open);
      if (!ends) ++open;
    }
  }
  return {};
}

}  // namespace dragoman::search_step
