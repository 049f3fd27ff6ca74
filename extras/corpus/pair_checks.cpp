#include "extras/corpus/pair_checks.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "base/unicode.h"
#include "base/utf8.h"
#include "data/languages.h"
#include "tokenizer/sentence_splitter.h"
#include "tokenizer/translatable.h"

namespace dragoman {

double length_deviation(std::int64_t source, std::int64_t target, double ratio) {
  const double expected = ratio * static_cast<double>(source), found = static_cast<double>(target);
  return (found - expected) / std::sqrt(std::max((found + expected) / 2, 1.0));
}

namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// The script that most lines have; 0 if none has one.
Script most_common(const std::map<Script, int>& counts) {
  const auto most = std::ranges::max_element(
      counts, {}, [](const std::pair<const Script, int>& count) { return count.second; });
  return most == counts.end() ? Script{0} : most->first;
}

/// Lines of a sample of a text.
struct SampledSide {
  std::vector<double> lengths;
  std::map<Script, int> scripts;
  std::vector<std::string_view> lines;
  std::string text;

  void add(std::string_view line) {
    constexpr std::size_t kEnough = 200'000;  // bytes, for the language
    lines.push_back(line);
    lengths.push_back(static_cast<double>(count_code_points(line)));
    if (const Script script = script_of(line); script != 0) ++scripts[script];
    if (text.size() < kEnough) text.append(line).append("\n");
  }
};

std::shared_ptr<const KnownWords> words_of(const std::vector<std::string_view>& lines,
                                           const std::string& language) {
  if (language.empty()) return nullptr;
  const auto words = std::make_shared<KnownWords>();
  for (const std::string_view line : lines)
    words->add(line, other_language(line, language).empty());
  return words;
}

}  // namespace

void KnownWords::add(std::string_view line, bool is_in_usual_language) {
  for (const WordId word : words_.add(line).ids) {
    lines_.resize(words_.size());
    lines_[word] += is_in_usual_language ? 1 : -1;
  }
}

bool KnownWords::has_most(std::string_view line) const {
  constexpr std::int32_t kSeveral = 2;
  const std::vector<WordId> words = words_.find(line).ids;
  const auto known =
      std::ranges::count_if(words, [this](WordId word) { return lines_[word] >= kSeveral; });
  return 2 * known > std::ssize(words);
}

UsualPair usual_pair(const ParallelText& text, const std::array<std::string, 2>& languages) {
  constexpr std::int64_t kSample = 4000;
  std::array<SampledSide, 2> sides;
  const std::int64_t step = text.pairs() / kSample + 1;
  for (std::int64_t pair = 0; pair < text.pairs(); pair += step) {
    const auto [source, target] = text.lines(pair);
    if (!text.is_valid(source, target) || strip(source).empty() || strip(target).empty()) continue;
    sides[0].add(source);
    sides[1].add(target);
  }
  UsualPair usual{.languages = languages};
  for (std::size_t side = 0; side < 2; ++side) {
    if (usual.languages[side].empty()) usual.languages[side] = language_of_text(sides[side].text);
    usual.scripts[side] = most_common(sides[side].scripts);
    usual.words[side] = words_of(sides[side].lines, usual.languages[side]);
  }
  std::vector<double> ratios, deviations;
  const std::size_t count = sides[0].lengths.size();
  if (count == 0) return usual;
  for (std::size_t i = 0; i < count; ++i)
    ratios.push_back(sides[1].lengths[i] / sides[0].lengths[i]);
  usual.length_ratio = median(std::move(ratios));
  for (std::size_t i = 0; i < count; ++i)
    deviations.push_back(std::abs(length_deviation(static_cast<std::int64_t>(sides[0].lengths[i]),
                                                   static_cast<std::int64_t>(sides[1].lengths[i]),
                                                   usual.length_ratio)));
  constexpr double kOfNormal = 1.4826;  // standard deviation / median of the absolute values
  constexpr double kLeast = 0.3;        // texts of equal lengths, for example copies
  usual.length_spread = std::max(kOfNormal * median(std::move(deviations)), kLeast);
  return usual;
}

namespace {

// ---- numbers and links ----

/// The numbers of one side that the other lacks; both are sorted.
std::vector<std::string> lacking(const std::vector<std::string>& numbers,
                                 const std::vector<std::string>& others) {
  std::vector<std::string> found;
  std::ranges::set_difference(numbers, others, std::back_inserter(found));
  return found;
}

/// The value of a number without separators and zeros at its end; -1 if it is large.
int small_value(const std::string& number) {
  constexpr std::size_t kDigits = 2;
  return number.size() <= kDigits ? std::stoi(number) : -1;
}

/// Whether each of the numbers may be a word on the other side, or an hour that it counts to 12.
bool may_be_words(const std::vector<std::string>& numbers, const std::vector<std::string>& others) {
  constexpr int kMostWords = 12;
  return std::ranges::all_of(numbers, [&](const std::string& number) {
    const int value = small_value(number);
    const bool is_hour =
        value > kMostWords && value <= 2 * kMostWords &&
        std::ranges::find(others, std::to_string(value - kMostWords)) != others.end();
    return (value >= 0 && value <= kMostWords) || is_hour;
  });
}

bool numbers_differ(const LineFacts& source, const LineFacts& target) {
  // Dates and times may be cut in other ways: 12/05/2010 and 12.05.2010.
  if (source.digits == target.digits || source.numbers == target.numbers) return false;
  const std::vector<std::string> of_source = lacking(source.numbers, target.numbers);
  const std::vector<std::string> of_target = lacking(target.numbers, source.numbers);
  return !may_be_words(of_source, of_target) || !may_be_words(of_target, of_source);
}

// ---- the text of both sides ----

bool is_shouted(const LineFacts& side) { return side.capitals > 2 * side.small_letters; }

/// Whether most letters of the side have upper and lower case, and there are ten or more of them.
bool has_case(const LineFacts& side) {
  constexpr std::int64_t kFew = 10;
  const std::int64_t cased = side.capitals + side.small_letters;
  return cased >= kFew && 2 * cased > side.letters;
}

bool casing_differs(const LineFacts& source, const LineFacts& target) {
  if (!has_case(source) || !has_case(target)) return false;
  const auto is_quiet = [](const LineFacts& side) { return side.small_letters > side.capitals; };
  return (is_shouted(source) && is_quiet(target)) || (is_shouted(target) && is_quiet(source));
}

/// Whether the sides are the same text, or share most of their words. Names and titles of one or
/// two words are often the same in both languages.
bool is_untranslated(std::string_view source, std::string_view target) {
  const std::string from = folded(source), to = folded(target);
  const auto words_of = [](std::string_view text) {
    std::multiset<std::string_view> words;
    for (const ByteRange& word : words_between_spaces(text)) words.insert(word.of(text));
    return words;
  };
  const auto source_words = words_of(from), target_words = words_of(to);
  constexpr std::size_t kFewWords = 3, kFewForShares = 5, kFewLetters = 10;
  if (from == to)
    return source_words.size() >= kFewWords || count_code_points(from) >= 2 * kFewLetters ||
           (source_words.size() == 1 && is_unspaced(code_points(from)[0]) &&
            count_code_points(from) >= kFewLetters);
  const std::size_t most = std::max(source_words.size(), target_words.size());
  if (most < kFewForShares) return false;
  std::vector<std::string_view> shared;
  std::ranges::set_intersection(source_words, target_words, std::back_inserter(shared));
  constexpr std::size_t kOf = 5;  // four of five words
  return kOf * shared.size() >= (kOf - 1) * most;
}

void add_sentence_faults(std::string_view source, std::string_view target, FaultSet& faults) {
  const std::size_t of_source = split_sentences(source).size();
  const std::size_t of_target = split_sentences(target).size();
  faults.add_if(of_source != of_target, PairFault::SentenceCount);
  faults.add_if(of_source == of_target && of_source > 1, PairFault::SeveralSentences);
}

bool has_other_script(const LineFacts& facts, Script usual) {
  constexpr std::int64_t kFewLetters = 5;  // a unit or an abbreviation
  return facts.letters >= kFewLetters && facts.script != 0 && usual != 0 && facts.script != usual;
}

bool has_other_language(std::string_view line, const LineFacts& facts, const UsualPair& usual,
                        std::size_t side, const CorpusFilters& filters) {
  const std::string& language = usual.languages[side];
  return !language.empty() && facts.letters >= filters.language_letters &&
         !other_language(line, language).empty() &&
         (usual.words[side] == nullptr || !usual.words[side]->has_most(line));
}

bool has_odd_length(const LineFacts& source, const LineFacts& target, const UsualPair& usual,
                    const CorpusFilters& filters) {
  if (std::max(source.characters, target.characters) > filters.max_characters) return true;
  const double ratio = static_cast<double>(target.characters) /
                       static_cast<double>(source.characters) / usual.length_ratio;
  const double deviation =
      length_deviation(source.characters, target.characters, usual.length_ratio);
  return std::abs(deviation) > filters.max_length_deviation * usual.length_spread &&
         std::max(ratio, 1 / ratio) > filters.max_length_factor;
}

}  // namespace

FaultSet faults_in_lines(std::string_view source, std::string_view target, const UsualPair& usual,
                         const CorpusFilters& filters) {
  FaultSet faults;
  faults.add_if(strip(source).empty() || strip(target).empty(), PairFault::Empty);
  if (!faults.empty()) return faults;
  const LineFacts from = facts_of_line(source), to = facts_of_line(target);
  const auto either = [&](bool LineFacts::*fact) { return from.*fact || to.*fact; };
  faults.add_if(either(&LineFacts::has_lost_character), PairFault::ReplacedCharacters);
  faults.add_if(either(&LineFacts::has_mojibake), PairFault::Mojibake);
  faults.add_if(either(&LineFacts::has_control), PairFault::ControlCharacters);
  faults.add_if(either(&LineFacts::has_markup), PairFault::Markup);
  faults.add_if(either(&LineFacts::has_mixed_word), PairFault::MixedScripts);
  faults.add_if(has_other_script(from, usual.scripts[0]), PairFault::OtherScriptSource);
  faults.add_if(has_other_script(to, usual.scripts[1]), PairFault::OtherScriptTarget);
  faults.add_if(has_other_language(source, from, usual, 0, filters),
                PairFault::OtherLanguageSource);
  faults.add_if(has_other_language(target, to, usual, 1, filters), PairFault::OtherLanguageTarget);
  faults.add_if(numbers_differ(from, to), PairFault::Numbers);
  faults.add_if(from.links != to.links, PairFault::Links);
  faults.add_if(has_odd_length(from, to, usual, filters), PairFault::Length);
  faults.add_if(casing_differs(from, to), PairFault::Casing);
  constexpr std::int64_t kMenuSeparators = 3;
  faults.add_if(std::max(from.menu_separators, to.menu_separators) >= kMenuSeparators,
                PairFault::Boilerplate);
  add_sentence_faults(source, target, faults);
  const bool is_copied = copied_kind(source) && copied_kind(target);
  faults.add_if(is_copied, PairFault::NothingToTranslate);
  faults.add_if(!is_copied && is_untranslated(source, target), PairFault::Untranslated);
  return faults;
}

}  // namespace dragoman
