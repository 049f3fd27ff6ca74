#include "data/fresh_encoder.h"

#include <algorithm>
#include <iterator>
#include <map>
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

/// A letter of a script that has spaces between words.
bool can_be_mistyped(char32_t c) { return general_category(c)[0] == 'L' && !is_unspaced(c); }

/// One letter is mistyped. Returns false if there are no two letters side by side.
bool mistype(std::u32string& text, RandomStream& random) {
  std::vector<std::size_t> places;  // of letters that have a letter after them
  for (std::size_t i = 0; i + 1 < text.size(); ++i)
    if (can_be_mistyped(text[i]) && can_be_mistyped(text[i + 1])) places.push_back(i);
  if (places.empty()) return false;
  const std::size_t at = random.choice(places);
  switch (random.below(4)) {
    case 0:
      std::swap(text[at], text[at + 1]);
      break;
    case 1:
      text.erase(at, 1);
      break;
    case 2:
      text.insert(at, 1, text[at]);
      break;
    default:
      text[at] = text[random.choice(places)];
  }
  return true;
}

/// The words that occur once in a text, in order of their bytes.
std::vector<std::string_view> words_met_once(std::string_view text) {
  std::map<std::string_view, int> times;
  for (const ByteRange& word : words_between_spaces(text)) ++times[word.of(text)];
  std::vector<std::string_view> words;
  for (const auto& [word, count] : times)
    if (count == 1) words.push_back(word);
  return words;
}

}  // namespace

std::optional<std::string> mistyped(std::string_view text, std::span<const std::string> kept,
                                    RandomStream& random) {
  constexpr std::size_t kCharactersPerFault = 40;
  std::string result = change_around(text, kept, [&](std::string_view part) {
    std::u32string characters = code_points(part);
    for (std::size_t faults = 1 + characters.size() / kCharactersPerFault; faults > 0; --faults)
      if (!mistype(characters, random)) break;
    return to_utf8(characters);
  });
  return result == text ? std::nullopt : std::optional(std::move(result));
}

TextPair with_inline_tag(const TextPair& pair, RandomStream& random) {
  static const std::vector<std::string> names = {"a",    "b",    "code",   "em", "i",
                                                 "mark", "span", "strong", "u"};
  const std::string_view source = strip(pair.source), target = strip(pair.target);
  if (source.empty() || target.empty()) return pair;
  const auto of_source = words_met_once(source), of_target = words_met_once(target);
  std::vector<std::string_view> shared;
  std::ranges::set_intersection(of_source, of_target, std::back_inserter(shared));
  const std::string_view word = shared.empty() ? "" : random.choice(shared);
  const std::string& name = random.choice(names);
  const auto tagged = [&](std::string_view text) {
    ByteRange marked{0, text.size()};
    for (const ByteRange& range : words_between_spaces(text))
      if (range.of(text) == word) marked = range;
    return join_text(text.substr(0, marked.begin), "<", name, ">", marked.of(text), "</", name, ">",
                     text.substr(marked.end));
  };
  return {tagged(source), tagged(target)};
}

TextPair with_copied_text(const TextPair& pair, RandomStream& random) {
  constexpr std::string_view kCharacters =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::string code;
  for (std::size_t left = 3 + random.below(8); left > 0; --left)
    code += kCharacters[random.below(kCharacters.size())];
  if (random.chance(0.5)) return {pair.source + " " + code, pair.target + " " + code};
  return {code + " " + pair.source, code + " " + pair.target};
}

namespace {

/// Gives each use of a key its own random numbers.
enum Use : std::uint64_t {
  kFreshEncoding = 0x6672657368,
  kText = 1,
  kSource = 2,
  kTarget = 3,
  kNoise = 4
};

}  // namespace

bool FreshEncoder::is_wanted(const DataConfig& data) {
  return data.subword_sampling > 0 || data.augment_upper_case > 0 || data.augment_title_case > 0 ||
         data.augment_drop_end_punctuation > 0 || data.augment_join > 0 || data.augment_typos > 0 ||
         data.augment_inline_tags > 0 || data.augment_copied_text > 0 || !data.train_terms.empty();
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
  RandomStream random(key, kText), noise(key, kNoise);
  const double which = random.uniform();
  const bool drop = random.chance(data_.augment_drop_end_punctuation);
  const bool change = which < data_.augment_upper_case + data_.augment_title_case;
  const bool join = random.chance(data_.augment_join);
  const bool write_terms = !terms_.empty() && random.chance(data_.train_terms_share) && !change;
  const bool mistype_source = noise.chance(data_.augment_typos);
  const bool tag = noise.chance(data_.augment_inline_tags);
  const bool copy = noise.chance(data_.augment_copied_text);
  if (!drop && !change && !join && !write_terms && !mistype_source && !tag && !copy)
    return std::nullopt;
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
  const auto take_source = [&](std::optional<std::string> source) {
    if (source) take(TextPair{std::move(*source), text.target});
  };
  if (mistype_source) take_source(mistyped(text.source, kept_, noise));
  if (write_terms) take_source(with_terms(text, random));
  if (tag) take(with_inline_tag(text, noise));
  if (copy) take(with_copied_text(text, noise));
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

/// The source with the translations of some of its terms, at least one, written after them. Takes
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
