#include "data/fresh_encoder.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "tokenizer/sentence_splitter.h"

namespace dragoman {

namespace {

/// The text with change() applied between the occurrences of `kept`.
template <class Change>
std::string change_around(std::string_view text, std::span<const std::string> kept,
                          Change&& change) {
  std::string changed;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t longest = 0;
    for (const std::string& word : kept)
      if (text.substr(at).starts_with(word)) longest = std::max(longest, word.size());
    if (longest == 0) {
      ++at;
      continue;
    }
    changed += change(text.substr(begin, at - begin));
    changed += text.substr(at, longest);
    begin = at += longest;
  }
  return changed + change(text.substr(begin));
}

std::string_view without_end_punctuation(std::string_view text) {
  constexpr std::u32string_view kMarks =
      U".!?\u2026\u3002\uFF01\uFF1F\uFF0E\uFF61\u061F\u06D4\u0964\u0965";
  std::size_t end = 0;
  for (std::size_t offset = 0; offset < text.size();) {
    const char32_t c = next_code_point(text, offset);
    if (!is_one_of(c, kMarks) && !is_space(c)) end = offset;
  }
  return text.substr(0, end);
}

}  // namespace

std::optional<TextPair> change_case(const TextPair& pair, CaseChange change,
                                    std::span<const std::string> kept) {
  const auto changed = [&](const std::string& text) {
    return change_around(text, kept, [change](std::string_view part) {
      return change == CaseChange::Upper ? upper_case(part) : title_case(part);
    });
  };
  TextPair result{changed(pair.source), changed(pair.target)};
  if (result.source == pair.source) return std::nullopt;
  return result;
}

std::optional<TextPair> drop_end_punctuation(const TextPair& pair) {
  const TextPair result{std::string(without_end_punctuation(pair.source)),
                        std::string(without_end_punctuation(pair.target))};
  if (result.source.empty() || result.target.empty() || strip(result.source) == strip(pair.source))
    return std::nullopt;
  return result;
}

TextPair concatenated(const TextPair& first, const TextPair& second) {
  const auto join = [](std::string_view before, std::string_view after) {
    before = strip(before);
    after = strip(after);
    std::size_t offset = 0;
    const bool spaced =
        !before.empty() && !after.empty() && !is_unspaced(next_code_point(after, offset));
    return join_text(before, spaced ? " " : "", after);
  };
  return {join(first.source, second.source), join(first.target, second.target)};
}

namespace {

/// Gives each use of a key its own random numbers.
enum Use : std::uint64_t { kFreshEncoding = 0x6672657368, kText = 1, kSource = 2, kTarget = 3 };

}  // namespace

bool FreshEncoder::is_wanted(const DataConfig& data) {
  return data.subword_sampling > 0 || data.augment_upper_case > 0 || data.augment_title_case > 0 ||
         data.augment_drop_end_punctuation > 0 || data.augment_join > 0 ||
         !data.train_terms.empty();
}

FreshEncoder::FreshEncoder(std::shared_ptr<const ParallelText> text,
                           const TokenizerPair& tokenizers, const DataConfig& data,
                           std::uint64_t seed)
    : text_(std::move(text)),
      tokenizers_(tokenizers),
      data_(data),
      seed_(seed),
      tags_(data, *tokenizers.source),
      terms_(data.train_terms.empty() ? Terms() : Terms(std::filesystem::path(data.train_terms))),
      kept_(tokenizers.source->user_symbols()) {
  for (std::string& symbol : tokenizers.target->user_symbols()) kept_.push_back(std::move(symbol));
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
  if (const auto text = changed_text(corpus, pair, key)) {
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

std::optional<TextPair> FreshEncoder::changed_text(const Corpus& corpus, std::int64_t pair,
                                                   std::uint64_t key) const {
  RandomStream random(key, kText);
  const double which = random.uniform();
  const bool drop = random.chance(data_.augment_drop_end_punctuation);
  const bool change = which < data_.augment_upper_case + data_.augment_title_case;
  const bool join = random.chance(data_.augment_join);
  const bool write_terms = !terms_.empty() && random.chance(data_.train_terms_share) && !change;
  if (!drop && !change && !join && !write_terms) return std::nullopt;
  const auto text_of = [&](std::int64_t line) {
    const auto [source, target] = text_->lines(line);
    return TextPair{std::string(source), std::string(target)};
  };
  const std::int64_t line = corpus.line(pair);
  TextPair text = text_of(line);
  bool changed = false;
  const auto take = [&](std::optional<TextPair> other) {
    if (!other) return;
    text = std::move(*other);
    changed = true;
  };
  if (join)
    take(concatenated(text, text_of(corpus.line(another_of_the_file(corpus, pair, random)))));
  if (change)
    take(change_case(text, which < data_.augment_upper_case ? CaseChange::Upper : CaseChange::Title,
                     kept_));
  if (drop) take(drop_end_punctuation(text));
  if (write_terms)
    if (auto source = with_terms(text, random)) take(TextPair{std::move(*source), text.target});
  return changed ? std::optional(std::move(text)) : std::nullopt;
}

/// Another pair of the same file; the pair itself if there is no other.
std::int64_t FreshEncoder::another_of_the_file(const Corpus& corpus, std::int64_t pair,
                                               RandomStream& random) const {
  const std::size_t file = text_->file_of(corpus.line(pair));
  const std::int64_t first = corpus.first_pair_from(text_->first_pairs()[file]);
  const std::int64_t others = corpus.first_pair_from(text_->first_pairs()[file + 1]) - first - 1;
  if (others <= 0) return pair;
  const auto drawn =
      first + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(others)));
  return drawn < pair ? drawn : drawn + 1;
}

/// The source with the translations of some of its terms, one at least, written after them. Takes
/// only terms whose translations the target has; returns nothing if there are none.
std::optional<std::string> FreshEncoder::with_terms(const TextPair& pair,
                                                    RandomStream& random) const {
  std::vector<RequiredText> terms = terms_.find(pair.source);
  for (const RequiredText& missing : unmet_texts(terms, pair.target)) std::erase(terms, missing);
  if (terms.empty()) return std::nullopt;
  const auto sure = static_cast<std::size_t>(random.uniform() * static_cast<double>(terms.size()));
  std::vector<RequiredText> written;
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (random.chance(0.5) || i == sure) written.push_back(terms[i]);
  return MarkedText(pair.source, marks_of(written)).text();
}

}  // namespace dragoman
