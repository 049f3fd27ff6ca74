#include "data/trained_pairs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/random.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "data/languages.h"

namespace dragoman {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PairsFound, pairs, lines);
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TextSurvey, pairs, copies, other_script_source,
                                   other_script_target, odd_length, near_copies, language_pairs,
                                   other_language_source, other_language_target, repeated_source,
                                   repeated_target);

namespace {

// With 20 bits for each hash and 12 bits set by it, 6.6e-5 of other hashes are found:
// (1 - e^(-12/20))^12.
constexpr std::uint64_t kBits = 20, kBitsOfHash = 12;
constexpr std::string_view kFilterMagic = "dragpair";

/// A number from 0 to `end` - 1 for a hash: the upper half of the product.
std::uint64_t scaled(std::uint64_t hash, std::uint64_t end) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(hash) * end) >> 64);
}

}  // namespace

std::uint64_t likeness_hash(std::string_view source, std::string_view target) {
  const std::string source_text = letters_and_digits(source);
  const std::string target_text = letters_and_digits(target);
  if (source_text.empty() && target_text.empty()) return xxh3(folded(target), xxh3(folded(source)));
  return xxh3(target_text, xxh3(source_text));
}

HashFilter::HashFilter(std::int64_t hashes)
    : words_((static_cast<std::size_t>(std::max<std::int64_t>(hashes, 1)) * kBits + 63) / 64) {}

HashFilter::HashFilter(std::string_view bytes, const std::string& name) {
  const std::string_view written = without_checksum(bytes).value_or("");
  const std::size_t words = written.size() - std::min(written.size(), kFilterMagic.size());
  if (!written.starts_with(kFilterMagic) || words == 0 || words % sizeof words_[0] != 0)
    throw Error(name, ": is damaged, or not a filter of trained pairs");
  words_.resize(words / sizeof words_[0]);
  std::memcpy(words_.data(), written.data() + kFilterMagic.size(), words);
}

template <class Visit>
void HashFilter::for_each_bit(std::uint64_t hash, Visit&& visit) const {
  const std::uint64_t step = mix64(hash) | 1;
  for (std::uint64_t i = 0; i < kBitsOfHash; ++i) {
    const std::uint64_t bit = scaled(hash + i * step, words_.size() * 64);
    visit(static_cast<std::size_t>(bit / 64), std::uint64_t{1} << (bit % 64));
  }
}

bool HashFilter::add(std::uint64_t hash) {
  bool was_found = true;
  for_each_bit(hash, [&](std::size_t word, std::uint64_t bit) {
    was_found = was_found && (words_[word] & bit) != 0;
    words_[word] |= bit;
  });
  return was_found;
}

bool HashFilter::contains(std::uint64_t hash) const {
  bool found = true;
  for_each_bit(hash, [&](std::size_t word, std::uint64_t bit) {
    found = found && (words_[word] & bit) != 0;
  });
  return found;
}

std::string HashFilter::bytes() const {
  std::string bytes(kFilterMagic);
  bytes.append(reinterpret_cast<const char*>(words_.data()), words_.size() * sizeof words_[0]);
  return with_checksum(std::move(bytes));
}

Script script_of(char32_t c) {
  constexpr Script kEastAsian = 4, kHangul = 5;
  const auto in = [c](char32_t first, char32_t last) { return c >= first && c <= last; };
  if (c < 0x0370 || in(0x1E00, 0x1EFF) || in(0xFF21, 0xFF5A)) return kLatinScript;
  if (c < 0x0400 || in(0x1F00, 0x1FFF)) return kGreekScript;
  if (c < 0x0530 || in(0x1C80, 0x1C8F) || in(0x2DE0, 0x2DFF)) return kCyrillicScript;
  if (in(0x1100, 0x11FF) || in(0x3130, 0x318F) || in(0xAC00, 0xD7FF)) return kHangul;
  if (in(0x2E80, 0x9FFF) || in(0xF900, 0xFAFF) || in(0xFF66, 0xFF9F) || c >= 0x1B000)
    return kEastAsian;
  // Arabic and its supplements are one block of the table, as are most scripts of 128 characters.
  if (in(0x0600, 0x06FF) || in(0x0750, 0x077F) || in(0x08A0, 0x08FF) || in(0xFB50, 0xFDFF) ||
      in(0xFE70, 0xFEFF))
    return 6;
  return static_cast<Script>(16 + (c / 128) % 240);
}

Script script_of(std::string_view line) {
  std::array<std::int32_t, 256> counts{};
  std::int32_t letters = 0;
  for (std::size_t offset = 0; offset < line.size();) {
    const char32_t c = next_code_point(line, offset);
    const bool is_letter =
        c < 0x80 ? (c | 0x20) >= 'a' && (c | 0x20) <= 'z' : general_category(c)[0] == 'L';
    if (!is_letter) continue;
    ++letters;
    ++counts[script_of(c)];
  }
  constexpr std::int32_t kFewLetters = 3;
  if (letters < kFewLetters) return 0;
  return static_cast<Script>(std::ranges::max_element(counts) - counts.begin());
}

namespace {

/// log(target characters / source characters). Neither side may be empty.
double log_ratio(std::int64_t source, std::int64_t target) {
  return std::log(static_cast<double>(target) / static_cast<double>(source));
}

/// What is usual in a text, by pairs that are evenly spaced.
struct UsualText {
  double ratio = 0;                      ///< log_ratio(), the median
  std::array<std::string, 2> languages;  ///< of source and target; "": not known
};

UsualText usual_pair(const ParallelText& text, const Corpus& corpus) {
  constexpr std::int64_t kSample = 2000;
  constexpr std::size_t kEnough = 100'000;  // bytes, for the language
  std::vector<double> ratios;
  std::array<std::string, 2> samples;
  const auto add = [](std::string& sample, std::string_view line) {
    if (sample.size() < kEnough) sample.append(line).append("\n");
  };
  const std::int64_t step = corpus.pairs() / kSample + 1;
  for (std::int64_t pair = 0; pair < corpus.pairs(); pair += step) {
    const auto [source, target] = text.lines(corpus.line(pair));
    if (source.empty() || target.empty()) continue;
    ratios.push_back(log_ratio(static_cast<std::int64_t>(count_code_points(source)),
                               static_cast<std::int64_t>(count_code_points(target))));
    add(samples[0], source);
    add(samples[1], target);
  }
  if (ratios.empty()) return {};
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::ranges::nth_element(ratios, middle);
  return {*middle, {language_of_text(samples[0]), language_of_text(samples[1])}};
}

/// Whether a line that is long enough to be judged is in another language.
bool is_in_other_language(std::string_view line, std::int64_t characters,
                          const std::string& usual) {
  constexpr std::int64_t kFew = 30;
  return !usual.empty() && characters >= kFew && !other_language(line, usual).empty();
}

struct PairLook {
  std::int64_t line;
  std::uint64_t likeness, source, target;  ///< hashes
  Script source_script, target_script;
  bool is_copy, is_odd;
  bool has_language = false;  ///< was looked at for its languages
  bool has_other_source = false, has_other_target = false;
};

enum class Languages { Ignored, LookedAt };

PairLook look_at(std::int64_t line, std::string_view source, std::string_view target,
                 const UsualText& usual, Languages languages) {
  constexpr std::int64_t kShort = 20;
  constexpr double kOddRatio = 2.5;
  const auto source_length = static_cast<std::int64_t>(count_code_points(source));
  const auto target_length = static_cast<std::int64_t>(count_code_points(target));
  const bool is_odd =
      source_length > 0 && target_length > 0 && std::max(source_length, target_length) >= kShort &&
      std::abs(log_ratio(source_length, target_length) - usual.ratio) > std::log(kOddRatio);
  PairLook look{.line = line + 1,
                .likeness = likeness_hash(source, target),
                .source = xxh3(source),
                .target = xxh3(target),
                .source_script = script_of(source),
                .target_script = script_of(target),
                .is_copy = source == target,
                .is_odd = is_odd};
  if (languages == Languages::Ignored) return look;
  look.has_language = true;
  look.has_other_source = is_in_other_language(source, source_length, usual.languages[0]);
  look.has_other_target = is_in_other_language(target, target_length, usual.languages[1]);
  return look;
}

/// The lines of one side by their scripts.
class Scripts {
 public:
  void add(Script script, std::int64_t line) { found_[script].add(line); }

  /// The lines that have a script, but not that of most lines.
  PairsFound others() const {
    const auto most =
        std::ranges::max_element(found_.begin() + 1, found_.end(), {}, &PairsFound::pairs);
    PairsFound others;
    for (auto script = found_.begin() + 1; script != found_.end(); ++script) {
      if (script == most) continue;
      others.pairs += script->pairs;
      others.lines.insert(others.lines.end(), script->lines.begin(), script->lines.end());
    }
    std::ranges::sort(others.lines);
    others.lines.resize(std::min(others.lines.size(), kListedLines));
    return others;
  }

 private:
  std::array<PairsFound, 256> found_;
};

/// Takes the pairs in the order of the text.
class Surveyor {
 public:
  explicit Surveyor(std::int64_t pairs)
      : result_{.survey = {.pairs = pairs}, .trained = HashFilter(pairs)},
        sources_(pairs),
        targets_(pairs) {}

  void take(const PairLook& pair) {
    TextSurvey& survey = result_.survey;
    const bool is_near_copy = result_.trained.add(pair.likeness);
    if (is_near_copy) survey.near_copies.add(pair.line);
    if (pair.is_copy) survey.copies.add(pair.line);
    if (pair.is_odd) survey.odd_length.add(pair.line);
    survey.language_pairs += pair.has_language ? 1 : 0;
    if (pair.has_other_source) survey.other_language_source.add(pair.line);
    if (pair.has_other_target) survey.other_language_target.add(pair.line);
    source_scripts_.add(pair.source_script, pair.line);
    target_scripts_.add(pair.target_script, pair.line);
    const bool has_source = sources_.add(pair.source), has_target = targets_.add(pair.target);
    if (is_near_copy) return;
    if (has_source && !has_target) survey.repeated_source.add(pair.line);
    if (has_target && !has_source) survey.repeated_target.add(pair.line);
  }

  SurveyedText take_result() {
    result_.survey.other_script_source = source_scripts_.others();
    result_.survey.other_script_target = target_scripts_.others();
    return std::move(result_);
  }

 private:
  SurveyedText result_;
  HashFilter sources_, targets_;
  Scripts source_scripts_, target_scripts_;
};

}  // namespace

SurveyedText survey_text(const ParallelText& text, const Corpus& corpus,
                         const WorkContext& context) {
  constexpr std::int64_t kLanguageSample = 4000;  // a line takes as long as to encode it
  const std::int64_t step = corpus.pairs() / kLanguageSample + 1;
  const UsualText usual = usual_pair(text, corpus);
  Surveyor surveyor(corpus.pairs());
  for_each_block(
      text.pairs(), context,
      [&](std::int64_t first, std::int64_t last) {
        std::vector<PairLook> looks;
        std::int64_t kept = corpus.first_pair_from(first);
        text.for_each_pair(first, last, [&](std::int64_t line, auto source, auto target) {
          if (kept == corpus.pairs() || corpus.line(kept) != line) return;
          const bool is_sampled = kept++ % step == 0;
          looks.push_back(look_at(line, source, target, usual,
                                  is_sampled ? Languages::LookedAt : Languages::Ignored));
        });
        return looks;
      },
      [&](const std::vector<PairLook>& looks) {
        for (const PairLook& look : looks) surveyor.take(look);
      });
  return surveyor.take_result();
}

std::string to_bytes(const SurveyedText& surveyed) {
  const std::string text = json_text(nlohmann::json(surveyed.survey));
  return with_checksum(little_endian(std::uint64_t{text.size()}) + text + surveyed.trained.bytes());
}

SurveyedText surveyed_from_bytes(std::string_view bytes, const std::string& name) {
  std::string_view rest = without_checksum(bytes).value_or("");
  std::uint64_t json_size = 0;
  const std::size_t number = std::min(rest.size(), sizeof json_size);
  std::memcpy(&json_size, rest.data(), number);
  rest.remove_prefix(number);
  if (number < sizeof json_size || json_size > rest.size()) throw Error(name, ": is damaged");
  const auto json = parse_json(rest.substr(0, json_size));
  return {.survey = json.get<TextSurvey>(), .trained = HashFilter(rest.substr(json_size), name)};
}

}  // namespace dragoman
