#include "extras/corpus/corpus_survey.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/random.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "data/alignment/aligner.h"
#include "data/pair_selection.h"
#include "extras/corpus/likeness.h"

namespace dragoman {

namespace {

using Sketches = std::vector<LikenessSketch>;

/// What one pass keeps of the pairs.
struct SeenPairs {
  std::vector<FaultSet> faults;
  std::vector<std::uint64_t> hashes;  ///< pair_hash()
  std::array<Sketches, 2> sides;      ///< source, target
  Sketches both;
  std::vector<PairShape> shapes;

  void append(const SeenPairs& other) {
    const auto join = [](auto& all, const auto& more) {
      all.insert(all.end(), more.begin(), more.end());
    };
    join(faults, other.faults);
    join(hashes, other.hashes);
    join(sides[0], other.sides[0]);
    join(sides[1], other.sides[1]);
    join(both, other.both);
    join(shapes, other.shapes);
  }
};

void add_sketches(SeenPairs& seen, const LetterGroups& source, const LetterGroups& target) {
  seen.sides[0].push_back(sketch_of(source));
  seen.sides[1].push_back(sketch_of(target));
  seen.both.push_back(sketch_of(of_both(source, target)));
}

/// Adds a pair that cannot be compared, so it equals no other one.
void add_incomparable(SeenPairs& seen, std::int64_t pair) {
  const std::uint64_t hash = random_bits(static_cast<std::uint64_t>(pair), 0x5EED);
  seen.hashes.push_back(hash);
  seen.shapes.emplace_back();
  add_sketches(seen, {.text = hash}, {.text = hash});
}

SeenPairs see_pairs(const ParallelText& text, const UsualPair& usual, const CorpusFilters& filters,
                    const WorkContext& context) {
  SeenPairs all;
  for_each_block(
      text.pairs(), context,
      [&](std::int64_t first, std::int64_t last) {
        SeenPairs seen;
        text.for_each_pair(
            first, last, [&](std::int64_t pair, std::string_view source, std::string_view target) {
              FaultSet faults;
              const bool is_valid = text.is_valid(source, target);
              if (is_valid)
                faults = faults_in_lines(source, target, usual, filters);
              else
                faults.add(PairFault::Invalid);
              seen.faults.push_back(faults);
              if (!is_valid || faults.has(PairFault::Empty)) return add_incomparable(seen, pair);
              seen.hashes.push_back(pair_hash(source, target));
              add_sketches(seen, letter_groups(source), letter_groups(target));
              seen.shapes.push_back(shape_of(static_cast<std::int64_t>(count_code_points(source)),
                                             static_cast<std::int64_t>(count_code_points(target))));
            });
        return seen;
      },
      [&](const SeenPairs& seen) { all.append(seen); });
  return all;
}

/// A survey under way.
struct SurveyWork {
  const ParallelText& text;
  const CorpusFilters& filters;
  const WorkContext& context;
  SeenPairs seen;
};

// ---- copies ----

/// What two pairs are compared by.
enum class ComparedText { Source, Target, Both };

LetterGroups groups_of(const ParallelText& text, std::int64_t pair, ComparedText compared) {
  const auto [source, target] = text.lines(pair);
  if (compared == ComparedText::Source) return letter_groups(source);
  if (compared == ComparedText::Target) return letter_groups(target);
  return of_both(letter_groups(source), letter_groups(target));
}

/// Calls body(pair) for all pairs, on all threads.
void for_pairs(std::int64_t pairs, const WorkContext& context,
               const std::function<void(std::int64_t pair)>& body) {
  for_each_block(
      pairs, context,
      [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t pair = first; pair < last; ++pair) body(pair);
        return 0;
      },
      [](int) {});
}

/// For each pair the first one that it equals, or an earlier one that it nearly equals.
OtherPairs earlier_similar(const SurveyWork& work, const Sketches& sketches,
                           ComparedText compared) {
  const SimilarTexts index(sketches, work.context.threads);
  OtherPairs earlier(sketches.size(), kNoPair);
  for_pairs(std::ssize(sketches), work.context, [&](std::int64_t pair) {
    const LikenessSketch& sketch = sketches[static_cast<std::size_t>(pair)];
    std::int64_t& found = earlier[static_cast<std::size_t>(pair)];
    found = index.find_equal(sketch).value_or(kNoPair);
    if (found != pair) return;
    LetterGroups own;
    const auto is_like = [&](std::int64_t other) {
      if (own.groups.empty()) own = groups_of(work.text, pair, compared);
      return likeness(own, groups_of(work.text, other, compared)) >= work.filters.near_copy;
    };
    found = index.find_similar(sketch, pair, work.filters.near_copy, is_like).value_or(kNoPair);
  });
  return earlier;
}

/// Which pairs have the hash of an earlier pair.
std::vector<bool> copies_by_hash(const std::vector<std::uint64_t>& hashes) {
  std::vector<std::pair<std::uint64_t, std::int64_t>> sorted;
  sorted.reserve(hashes.size());
  for (std::size_t i = 0; i < hashes.size(); ++i)
    sorted.emplace_back(hashes[i], static_cast<std::int64_t>(i));
  std::ranges::sort(sorted);
  std::vector<bool> copies(hashes.size());
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i].first == sorted[i - 1].first)
      copies[static_cast<std::size_t>(sorted[i].second)] = true;
  return copies;
}

void find_copies(CorpusSurvey& survey, const SurveyWork& work) {
  survey.copy_of = earlier_similar(work, work.seen.both, ComparedText::Both);
  survey.repeats[0] = earlier_similar(work, work.seen.sides[0], ComparedText::Source);
  survey.repeats[1] = earlier_similar(work, work.seen.sides[1], ComparedText::Target);
  const std::vector<bool> is_copy = copies_by_hash(work.seen.hashes);
  for (std::size_t pair = 0; pair < survey.faults.size(); ++pair) {
    FaultSet& faults = survey.faults[pair];
    if (survey.copy_of[pair] != kNoPair) {
      faults.add(is_copy[pair] ? PairFault::Copy : PairFault::NearCopy);
      continue;
    }
    faults.add_if(survey.repeats[0][pair] != kNoPair, PairFault::RepeatedSource);
    faults.add_if(survey.repeats[1][pair] != kNoPair, PairFault::RepeatedTarget);
  }
}

/// Finds the pairs one of whose texts stands on its side in `least_copies` pairs or more. Copies of
/// a pair count once.
void find_boilerplate(CorpusSurvey& survey, const SeenPairs& seen, std::int64_t least_copies) {
  for (std::size_t side = 0; side < 2; ++side) {
    std::unordered_map<std::uint64_t, std::int64_t> counts;
    for (std::size_t pair = 0; pair < survey.faults.size(); ++pair)
      if (!survey.faults[pair].has(PairFault::Copy)) ++counts[seen.sides[side][pair].text];
    for (std::size_t pair = 0; pair < survey.faults.size(); ++pair)
      survey.faults[pair].add_if(counts[seen.sides[side][pair].text] >= least_copies,
                                 PairFault::Boilerplate);
  }
}

// ---- leaks ----

/// The held-out lines of a side.
struct HeldOutSide {
  Sketches sketches;
  std::vector<LetterGroups> groups;
};

std::array<HeldOutSide, 2> held_out_sides(const ParallelText& held_out) {
  std::array<HeldOutSide, 2> sides;
  const auto add = [](HeldOutSide& side, LetterGroups groups) {
    side.sketches.push_back(sketch_of(groups));
    side.groups.push_back(std::move(groups));
  };
  held_out.for_each_pair(
      0, held_out.pairs(),
      [&](std::int64_t pair, std::string_view source, std::string_view target) {
        const bool counts =
            held_out.is_valid(source, target) && !strip(source).empty() && !strip(target).empty();
        const LetterGroups none{.text = random_bits(static_cast<std::uint64_t>(pair), 0x1EA4)};
        add(sides[0], counts ? letter_groups(source) : none);
        add(sides[1], counts ? letter_groups(target) : none);
      });
  return sides;
}

/// A pair is a leak if both of its sides are held out, or one that is long.
void find_leaks(CorpusSurvey& survey, const SurveyWork& work, const ParallelText& held_out) {
  const double least = work.filters.near_copy;
  const std::array<HeldOutSide, 2> sides = held_out_sides(held_out);
  const SimilarTexts sources(sides[0].sketches, work.context.threads);
  const SimilarTexts targets(sides[1].sketches, work.context.threads);
  survey.leak_of.assign(survey.faults.size(), kNoPair);
  for_pairs(work.text.pairs(), work.context, [&](std::int64_t pair) {
    const auto place = static_cast<std::size_t>(pair);
    const auto find = [&](std::size_t side) {
      const SimilarTexts& index = side == 0 ? sources : targets;
      const LikenessSketch& sketch = work.seen.sides[side][place];
      if (const auto equal = index.find_equal(sketch)) return *equal;
      LetterGroups own;
      const auto compared = side == 0 ? ComparedText::Source : ComparedText::Target;
      const auto is_like = [&](std::int64_t line) {
        if (own.groups.empty()) own = groups_of(work.text, pair, compared);
        return likeness(own, sides[side].groups[static_cast<std::size_t>(line)]) >= least;
      };
      return index.find_similar(sketch, held_out.pairs(), least, is_like).value_or(kNoPair);
    };
    const std::int64_t source = find(0), target = find(1);
    const bool both = source != kNoPair && target != kNoPair;
    const bool long_one = (source != kNoPair && work.seen.sides[0][place].is_long) ||
                          (target != kNoPair && work.seen.sides[1][place].is_long);
    if (both || long_one) survey.leak_of[place] = source != kNoPair ? source : target;
  });
  for (std::size_t pair = 0; pair < survey.faults.size(); ++pair)
    survey.faults[pair].add_if(survey.leak_of[pair] != kNoPair, PairFault::Leak);
}

// ---- shifts ----

std::vector<ShiftedStretch> find_shifts(const UsualPair& usual, const SurveyWork& work) {
  std::vector<ShiftedStretch> stretches;
  const std::span<const PairShape> shapes(work.seen.shapes);
  const std::vector<std::int64_t>& first_pairs = work.text.first_pairs();
  for (std::size_t file = 0; file + 1 < first_pairs.size(); ++file) {
    const std::int64_t first = first_pairs[file], last = first_pairs[file + 1];
    const auto pairs =
        shapes.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
    for (ShiftedStretch stretch : shifted_stretches(pairs, usual, work.filters.shifted_lines)) {
      stretch.begin += first;
      stretch.end += first;
      stretches.push_back(stretch);
    }
  }
  return stretches;
}

// ---- what a word aligner says ----

/// All pairs as numbers of words; those that cannot be compared are empty.
NumberedPairs numbered_pairs(const ParallelText& text, const std::vector<FaultSet>& faults) {
  NumberedPairs pairs;
  WordNumbers source_words, target_words;
  text.for_each_pair(0, text.pairs(),
                     [&](std::int64_t pair, std::string_view source, std::string_view target) {
                       const FaultSet found = faults[static_cast<std::size_t>(pair)];
                       if (found.has(PairFault::Invalid) || found.has(PairFault::Empty))
                         return pairs.add({}, {});
                       pairs.add(source_words.add(source).ids, target_words.add(target).ids);
                     });
  return pairs;
}

/// Whether both sides write spaces between words, in a sample of the text; otherwise the aligner
/// takes half a sentence for a word.
bool writes_spaces(const ParallelText& text) {
  constexpr std::int64_t kSample = 1000;
  std::array<std::int64_t, 2> unspaced{}, all{};
  const auto count = [&](std::size_t side, std::string_view line) {
    for (std::size_t offset = 0; offset < line.size(); ++all[side])
      unspaced[side] += is_unspaced(next_code_point(line, offset)) ? 1 : 0;
  };
  for (std::int64_t pair = 0; pair < text.pairs(); pair += text.pairs() / kSample + 1) {
    const auto [source, target] = text.lines(pair);
    if (!text.is_valid(source, target)) continue;
    count(0, source);
    count(1, target);
  }
  return 3 * unspaced[0] < all[0] && 3 * unspaced[1] < all[1];
}

/// Whether an aligner knows enough words to judge pairs: not if most stand only once in the text.
bool has_learned(std::vector<float> evidence) {
  constexpr float kLeast = 0.5;
  const auto middle = evidence.begin() + std::ssize(evidence) / 2;
  std::ranges::nth_element(evidence, middle);
  return *middle >= kLeast;
}

/// The pairs as words, and the aligner that has learned from them.
struct LearnedWords {
  NumberedPairs pairs;
  Aligner aligner;

  bool is_judged(std::int64_t source, std::int64_t target) const {
    const std::size_t words = pairs.source(static_cast<std::size_t>(source)).size();
    const std::size_t others = pairs.target(static_cast<std::size_t>(target)).size();
    return words > 0 && others > 0 && std::max(words, others) <= kLongestAligned;
  }
  /// See AlignedPair; 0 for lines that are not judged.
  double evidence(std::int64_t source, std::int64_t target) const {
    if (!is_judged(source, target)) return 0;
    return aligner
        .align(pairs.source(static_cast<std::size_t>(source)),
               pairs.target(static_cast<std::size_t>(target)), Symmetrization::Intersection)
        .evidence;
  }
};

struct PairRange {
  std::int64_t begin, end;
};

/// Ranges of the pairs of each file in which many do not translate each other, or whose lengths
/// look shifted, with kMostShift pairs on each side.
std::vector<PairRange> doubtful_ranges(const std::vector<std::int64_t>& first_pairs,
                                       const std::vector<bool>& misaligned,
                                       const std::vector<ShiftedStretch>& by_length,
                                       std::int64_t least_lines) {
  std::vector<PairRange> ranges;  // sorted by begin
  for (std::size_t file = 0; file + 1 < first_pairs.size(); ++file) {
    const std::int64_t first = first_pairs[file], last = first_pairs[file + 1];
    const auto add = [&](std::int64_t begin, std::int64_t end) {
      begin = std::max(first, begin - kMostShift);
      end = std::min(last, end + kMostShift);
      if (!ranges.empty() && ranges.back().begin >= first && begin <= ranges.back().end)
        ranges.back().end = std::max(ranges.back().end, end);
      else
        ranges.push_back({begin, end});
    };
    auto stretch = std::ranges::lower_bound(by_length, first, {}, &ShiftedStretch::begin);
    std::int64_t doubtful = 0;  // of the window that ends with this pair
    for (std::int64_t pair = first; pair < last; ++pair) {
      doubtful += misaligned[static_cast<std::size_t>(pair)] ? 1 : 0;
      const std::int64_t before = pair - least_lines;
      if (before >= first) doubtful -= misaligned[static_cast<std::size_t>(before)] ? 1 : 0;
      if (5 * doubtful >= 3 * least_lines) add(std::max(first, before + 1), pair + 1);
      for (; stretch != by_length.end() && stretch->begin == pair; ++stretch)
        add(stretch->begin, stretch->end);
    }
  }
  return ranges;
}

/// Which shifts are to be looked at: in a long range those that fit best for some of its lines.
std::array<bool, kShifts> shifts_to_try(const LearnedWords& words, PairRange range) {
  constexpr std::int64_t kLong = 1000, kSample = 250;
  std::array<bool, kShifts> tried;
  tried.fill(range.end - range.begin <= kLong);
  tried[kMostShift] = true;
  if (tried[0]) return tried;
  std::array<std::int64_t, kShifts> best{};
  for (std::int64_t i = 0; i < kSample; ++i) {
    const std::int64_t line = range.begin + i * (range.end - range.begin) / kSample;
    double most = 0;  // what is 0 or less fits no better than any line
    std::size_t found = kShifts;
    for (std::size_t shift = 0; shift < kShifts; ++shift) {
      const std::int64_t other = line + static_cast<std::int64_t>(shift) - kMostShift;
      if (other < range.begin || other >= range.end) continue;
      const double evidence = words.evidence(line, other);
      if (evidence > most) most = evidence, found = shift;
    }
    if (found < kShifts) ++best[found];
  }
  constexpr std::int64_t kSome = kSample / 25;
  for (std::size_t shift = 0; shift < kShifts; ++shift)
    tried[shift] = tried[shift] || best[shift] >= kSome;
  return tried;
}

/// The stretches of a range that its words show.
std::vector<ShiftedStretch> stretches_in(const LearnedWords& words, PairRange range,
                                         std::int64_t least_lines, const WorkContext& context) {
  // The evidence is per word, and a line has several. A free translation must not decide.
  constexpr double kWeight = 2, kLeast = -3, kMost = 4;
  const std::array<bool, kShifts> tried = shifts_to_try(words, range);
  const std::int64_t lines = range.end - range.begin;
  std::vector<std::array<float, kShifts>> evidence(static_cast<std::size_t>(lines));
  parallel_for(lines, context.threads, [&](std::int64_t line) {
    for (std::size_t shift = 0; shift < kShifts; ++shift) {
      const std::int64_t other = line + static_cast<std::int64_t>(shift) - kMostShift;
      double found = kLeast;
      if (tried[shift] && other >= 0 && other < lines)
        found = std::clamp(kWeight * words.evidence(range.begin + line, range.begin + other),
                           kLeast, kMost);
      evidence[static_cast<std::size_t>(line)][shift] = static_cast<float>(found);
    }
  });
  std::vector<ShiftedStretch> stretches = likely_stretches(
      lines,
      [&](std::int64_t source, std::int64_t target) {
        return static_cast<double>(evidence[static_cast<std::size_t>(
            source)][static_cast<std::size_t>(target - source + kMostShift)]);
      },
      least_lines);
  for (ShiftedStretch& stretch : stretches) {
    stretch.begin += range.begin;
    stretch.end += range.begin;
  }
  return stretches;
}

struct WordVerdict {
  std::vector<bool> misaligned;           ///< [pairs]
  std::vector<ShiftedStretch> stretches;  ///< of the pairs of all files
};

/// Learns from the text itself which of its pairs do not translate each other, and where targets
/// stand some lines too early or too late. `faults` are those that the pairs are known to have;
/// invalid and empty ones are not judged. `by_length` are stretches that the lengths of the lines
/// show: these, and stretches of pairs that do not translate each other, are searched for shifts.
/// Nothing if there is too little to learn from, or a side writes no spaces between words. Throws
/// PreparationStopped.
std::optional<WordVerdict> judge_by_words(const SurveyWork& work,
                                          const std::vector<FaultSet>& faults,
                                          const std::vector<ShiftedStretch>& by_length) {
  constexpr std::int64_t kFewToLearnFrom = 2000;
  const ParallelText& text = work.text;
  const WorkContext& context = work.context;
  if (text.pairs() < kFewToLearnFrom || !writes_spaces(text)) return std::nullopt;
  NumberedPairs pairs = numbered_pairs(text, faults);
  Aligner aligner(pairs,
                  {.threads = context.threads, .stop = context.stop, .report = context.report});
  if (context.stop.stop_requested()) throw PreparationStopped();
  const LearnedWords words{std::move(pairs), std::move(aligner)};
  std::vector<float> evidence(faults.size());
  for_pairs(text.pairs(), context, [&](std::int64_t pair) {
    evidence[static_cast<std::size_t>(pair)] = static_cast<float>(words.evidence(pair, pair));
  });
  if (!has_learned(evidence)) return std::nullopt;
  WordVerdict verdict{std::vector<bool>(faults.size()), {}};
  for (std::int64_t pair = 0; pair < text.pairs(); ++pair)
    verdict.misaligned[static_cast<std::size_t>(pair)] =
        words.is_judged(pair, pair) &&
        evidence[static_cast<std::size_t>(pair)] < work.filters.min_evidence;
  for (const PairRange range : doubtful_ranges(text.first_pairs(), verdict.misaligned, by_length,
                                               work.filters.shifted_lines)) {
    if (context.stop.stop_requested()) throw PreparationStopped();
    const auto found = stretches_in(words, range, work.filters.shifted_lines, context);
    verdict.stretches.insert(verdict.stretches.end(), found.begin(), found.end());
  }
  return verdict;
}

void note_stretches(CorpusSurvey& survey, std::vector<ShiftedStretch> stretches) {
  for (const ShiftedStretch& stretch : stretches)
    for (std::int64_t pair = stretch.begin; pair < stretch.end; ++pair)
      survey.faults[static_cast<std::size_t>(pair)].add(PairFault::Shifted);
  survey.stretches = std::move(stretches);
}

/// Words say more than lengths about stretches, too.
void judge_words(CorpusSurvey& survey, const SurveyWork& work,
                 std::vector<ShiftedStretch>& stretches) {
  auto verdict = judge_by_words(work, survey.faults, stretches);
  if (!verdict) return;
  stretches = std::move(verdict->stretches);
  for (std::size_t pair = 0; pair < survey.faults.size(); ++pair)
    survey.faults[pair].add_if(verdict->misaligned[pair], PairFault::Misaligned);
}

}  // namespace

std::array<std::int64_t, kPairFaults> CorpusSurvey::counts() const {
  std::array<std::int64_t, kPairFaults> counts{};
  for (const FaultSet found : faults)
    for (std::size_t fault = 0; fault < kPairFaults; ++fault)
      counts[fault] += found.has(static_cast<PairFault>(fault)) ? 1 : 0;
  return counts;
}

CorpusSurvey survey_corpus(const ParallelText& text, const ParallelText* held_out,
                           const SurveySettings& settings, const WorkContext& context) {
  const CorpusFilters& filters = settings.filters;
  CorpusSurvey survey{.usual = usual_pair(text, settings.languages)};
  SurveyWork work{text, filters, context, see_pairs(text, survey.usual, filters, context)};
  survey.faults = std::move(work.seen.faults);
  find_copies(survey, work);
  find_boilerplate(survey, work.seen, filters.boilerplate_copies);
  if (held_out != nullptr) find_leaks(survey, work, *held_out);
  std::vector<ShiftedStretch> stretches = find_shifts(survey.usual, work);
  work.seen = {};  // the aligner needs memory, too
  if (settings.alignment == WordAlignment::Learned) judge_words(survey, work, stretches);
  note_stretches(survey, std::move(stretches));
  return survey;
}

}  // namespace dragoman
