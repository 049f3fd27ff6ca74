#include "data/alignment/lexical_table.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/random.h"
#include "base/threads.h"

namespace dragoman {

namespace {

constexpr std::uint32_t kRare = 4;  // occurrences

/// The pairs in which each source word occurs.
struct Occurrences {
  std::vector<std::uint64_t> begins;  ///< [words + 1]
  std::vector<std::uint32_t> pairs;
};

Occurrences occurrences_of(const NumberedPairs& pairs, std::span<const std::uint32_t> chosen,
                           const std::vector<std::uint32_t>& times) {
  Occurrences result;
  result.begins.assign(times.size() + 1, 0);
  for (std::size_t word = 0; word < times.size(); ++word)
    result.begins[word + 1] = result.begins[word] + times[word];
  std::vector<std::uint64_t> next(result.begins.begin(), result.begins.end() - 1);
  result.pairs.resize(result.begins.back());
  for (const std::uint32_t pair : chosen)
    for (const WordId word : pairs.source(pair)) result.pairs[next[word]++] = pair;
  return result;
}

std::vector<float> frequencies(const std::vector<std::uint32_t>& times) {
  double all = 1;
  for (const std::uint32_t count : times) all += count;
  std::vector<float> result;
  for (const std::uint32_t count : times)
    result.push_back(static_cast<float>(std::max(0.5, static_cast<double>(count)) / all));
  return result;
}

/// The target words that a source word meets.
class Meetings {
 public:
  explicit Meetings(std::size_t targets) : times_(targets, 0), links_(targets, 0) {}

  void add(std::span<const WordId> targets, float links) {
    for (const WordId target : targets) {
      if (times_[target]++ == 0) met_.push_back(target);
      links_[target] += links;
    }
  }

  /// The entries in the order of the targets. Forgets them.
  template <class Keep>
  std::vector<LexicalEntry> take(Keep&& keep) {
    std::ranges::sort(met_);
    std::vector<LexicalEntry> entries;
    for (const WordId target : met_) {
      if (target != kUnknownWord && keep(target, times_[target]))
        entries.push_back({target, links_[target], 0});
      times_[target] = 0;
      links_[target] = 0;
    }
    met_.clear();
    return entries;
  }

 private:
  std::vector<std::uint32_t> times_;
  std::vector<float> links_;
  std::vector<WordId> met_;
};

}  // namespace

void NumberedPairs::Side::add(std::span<const WordId> words) {
  ids.insert(ids.end(), words.begin(), words.end());
  ends.push_back(ids.size());
  for (const WordId word : words) numbers = std::max(numbers, word + 1);
}

void NumberedPairs::add(std::span<const WordId> source, std::span<const WordId> target) {
  sides_[0].add(source);
  sides_[1].add(target);
}

LexicalTable::LexicalTable(const NumberedPairs& pairs, std::span<const std::uint32_t> chosen,
                           int threads)
    : source_times_(pairs.source_numbers(), 0), target_times_(pairs.target_numbers(), 0) {
  for (const std::uint32_t pair : chosen) {
    for (const WordId word : pairs.source(pair)) ++source_times_[word];
    for (const WordId word : pairs.target(pair)) ++target_times_[word];
  }
  source_frequency_ = frequencies(source_times_);
  target_frequency_ = frequencies(target_times_);
  const std::uint32_t most =
      std::max(std::ranges::max(source_times_), std::ranges::max(target_times_));
  unit_ =
      std::max(0x1p-16F, std::exp2(std::ceil(std::log2(static_cast<float>(most) + 1))) * 0x1p-31F);
  build_rows(pairs, chosen, threads);
  add_up(threads);
}

void LexicalTable::build_rows(const NumberedPairs& pairs, std::span<const std::uint32_t> chosen,
                              int threads) {
  constexpr std::uint64_t kBlocks = 256;
  const Occurrences occurrences = occurrences_of(pairs, chosen, source_times_);
  rows_.resize(source_times_.size());
  storage_.resize(kBlocks);
  const std::uint64_t all = occurrences.pairs.size();
  const auto first_row = [&](std::uint64_t block) {  // blocks have about as many occurrences each
    const auto begin = std::ranges::lower_bound(occurrences.begins, all * block / kBlocks);
    return static_cast<std::size_t>(begin - occurrences.begins.begin());
  };
  parallel_for(kBlocks, threads, [&](std::int64_t number) {
    const auto block = static_cast<std::uint64_t>(number);
    const std::size_t begin = first_row(block);
    const std::size_t end = block + 1 == kBlocks ? rows_.size() : first_row(block + 1);
    Meetings meetings(target_times_.size());
    std::vector<LexicalEntry>& storage = storage_[block];
    std::vector<std::size_t> offsets;
    for (std::size_t word = begin; word < end; ++word) {
      for (std::uint64_t at = occurrences.begins[word]; at < occurrences.begins[word + 1]; ++at) {
        const std::uint32_t pair = occurrences.pairs[at];
        const std::size_t cells = (pairs.source(pair).size() + 1) * (pairs.target(pair).size() + 1);
        meetings.add(pairs.target(pair), 1 / static_cast<float>(cells));
      }
      const auto entries = meetings.take([&](WordId target, std::uint32_t times) {
        return word != kUnknownWord &&
               (times > 1 || source_times_[word] <= kRare || target_times_[target] <= kRare);
      });
      offsets.push_back(storage.size());
      const std::size_t size = entries.empty() ? 0 : entries.size() + entries.size() / 2 + 1;
      Row row{.places = nullptr, .size = static_cast<std::uint32_t>(size)};
      storage.resize(storage.size() + size, {kUnknownWord, 0, 0});
      rows_[word] = row;
      LexicalEntry* places = storage.data() + offsets.back();
      for (const LexicalEntry& entry : entries) {
        std::size_t place = first_place(row, entry.target);
        while (places[place].target != kUnknownWord) place = place + 1 == size ? 0 : place + 1;
        places[place] = entry;
      }
    }
    storage.shrink_to_fit();
    for (std::size_t word = begin; word < end; ++word)
      rows_[word].places = storage.data() + offsets[word - begin];
  });
}

std::size_t LexicalTable::first_place(const Row& row, WordId target) {
  return static_cast<std::size_t>((mix64(target) >> 32) * row.size >> 32);
}

void LexicalTable::prefetch(WordId source, WordId target) const {
  if (source >= rows_.size() || rows_[source].size == 0) return;
  const Row& row = rows_[source];
  __builtin_prefetch(row.places + first_place(row, target));
}

const LexicalEntry* LexicalTable::find(WordId source, WordId target) const {
  if (source >= rows_.size() || rows_[source].size == 0 || target == kUnknownWord) return nullptr;
  const Row& row = rows_[source];
  for (std::size_t place = first_place(row, target);;) {
    const LexicalEntry& entry = row.places[place];
    if (entry.target == target) return &entry;
    if (entry.target == kUnknownWord) return nullptr;
    if (++place == row.size) place = 0;
  }
}

void LexicalTable::count(const LexicalEntry& entry, float links) {
  const auto units = static_cast<std::uint32_t>(std::lround(links / unit_));
  if (units > 0)
    std::atomic_ref<std::uint32_t>(entry.counted).fetch_add(units, std::memory_order_relaxed);
}

void LexicalTable::finish_round(int threads) {
  parallel_for(std::ssize(storage_), threads, [this](std::int64_t block) {
    for (LexicalEntry& entry : storage_[static_cast<std::size_t>(block)]) {
      entry.links = static_cast<float>(entry.counted) * unit_;
      entry.counted = 0;
    }
  });
  add_up(threads);
}

void LexicalTable::add_up(int threads) {
  source_links_.resize(rows_.size());
  constexpr std::int64_t kRows = 1024;
  parallel_for(divide_up(std::ssize(rows_), kRows), threads, [this](std::int64_t block) {
    const auto begin = static_cast<std::size_t>(block * kRows);
    for (std::size_t word = begin; word < std::min(rows_.size(), begin + kRows); ++word) {
      double sum = 0;
      for (std::uint32_t i = 0; i < rows_[word].size; ++i) sum += rows_[word].places[i].links;
      source_links_[word] = static_cast<float>(sum);
    }
  });
  std::vector<double> sums(target_times_.size(), 0);
  for (const auto& block : storage_)
    for (const LexicalEntry& entry : block) sums[entry.target] += entry.links;
  target_links_.assign(sums.begin(), sums.end());
}

std::vector<LexicalEntry> LexicalTable::entries(WordId source) const {
  std::vector<LexicalEntry> result;
  for (std::uint32_t i = 0; i < rows_[source].size; ++i)
    if (rows_[source].places[i].target != kUnknownWord) result.push_back(rows_[source].places[i]);
  std::ranges::sort(result, {}, &LexicalEntry::target);
  return result;
}

}  // namespace dragoman
