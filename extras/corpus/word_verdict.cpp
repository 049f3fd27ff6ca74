#include "extras/corpus/word_verdict.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/threads.h"
#include "base/utf8.h"
#include "data/alignment/aligner.h"

namespace dragoman {

namespace {

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

// ---- shifts ----

struct PairRange {
  std::int64_t begin, end;
};

/// Ranges of the pairs of each file in which many do not translate each other, or whose lengths
/// look shifted, with kMostShift pairs on each side.
std::vector<PairRange> doubtful_ranges(const std::vector<std::int64_t>& first_pairs,
                                       const std::vector<bool>& misaligned,
                                       const std::vector<ShiftedStretch>& by_length,
                                       std::int64_t least_lines) {
  std::vector<PairRange> ranges;  // by rising begin
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

}  // namespace

std::optional<WordVerdict> judge_by_words(const ParallelText& text,
                                          const std::vector<FaultSet>& faults,
                                          const std::vector<ShiftedStretch>& by_length,
                                          const CorpusFilters& filters,
                                          const WorkContext& context) {
  if (text.pairs() < kFewToLearnFrom || !writes_spaces(text)) return std::nullopt;
  NumberedPairs pairs = numbered_pairs(text, faults);
  Aligner aligner(pairs,
                  {.threads = context.threads, .stop = context.stop, .report = context.report});
  if (context.stop.stop_requested()) throw PreparationStopped();
  const LearnedWords words{std::move(pairs), std::move(aligner)};
  std::vector<float> evidence(faults.size());
  for_each_block(
      text.pairs(), context,
      [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t pair = first; pair < last; ++pair)
          evidence[static_cast<std::size_t>(pair)] = static_cast<float>(words.evidence(pair, pair));
        return 0;
      },
      [](int) {});
  if (!has_learned(evidence)) return std::nullopt;
  WordVerdict verdict{std::vector<bool>(faults.size()), {}};
  for (std::int64_t pair = 0; pair < text.pairs(); ++pair)
    verdict.misaligned[static_cast<std::size_t>(pair)] =
        words.is_judged(pair, pair) &&
        evidence[static_cast<std::size_t>(pair)] < filters.min_evidence;
  for (const PairRange range :
       doubtful_ranges(text.first_pairs(), verdict.misaligned, by_length, filters.shifted_lines)) {
    if (context.stop.stop_requested()) throw PreparationStopped();
    const auto found = stretches_in(words, range, filters.shifted_lines, context);
    verdict.stretches.insert(verdict.stretches.end(), found.begin(), found.end());
  }
  return verdict;
}

}  // namespace dragoman
