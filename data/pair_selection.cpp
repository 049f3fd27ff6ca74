#include "data/pair_selection.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

#include "base/bytes.h"
#include "base/random.h"
#include "base/unicode.h"
#include "base/utf8.h"

namespace dragoman {

void SortedHashes::add(std::span<const std::uint64_t> hashes) {
  for (const std::uint64_t hash : hashes) {
    if (hashes_.size() == space_.most_in_memory) write_run();
    hashes_.push_back(hash);
  }
}

void SortedHashes::write_run() {
  if (!file_) file_ = std::make_unique<UnnamedFile>(space_.folder);
  std::ranges::sort(hashes_);
  file_->append(hashes_.data(), hashes_.size() * sizeof hashes_[0]);
  run_ends_.push_back((run_ends_.empty() ? 0 : run_ends_.back()) + hashes_.size());
  hashes_.clear();
}

void SortedHashes::for_each(const std::function<void(std::uint64_t)>& visit) {
  std::ranges::sort(hashes_);
  std::vector<std::span<const std::uint64_t>> runs = {hashes_};  // what is left of each
  MappedFile mapped;
  if (file_) mapped = file_->map();
  const auto* stored = reinterpret_cast<const std::uint64_t*>(mapped.data());
  for (std::size_t begin = 0; const std::size_t end : run_ends_) {
    runs.push_back({stored + begin, stored + end});
    begin = end;
  }
  for (;;) {
    std::erase_if(runs, [](const auto& run) { return run.empty(); });
    if (runs.empty()) return;
    auto& least = *std::ranges::min_element(runs, {}, [](const auto& run) { return run.front(); });
    visit(least.front());
    least = least.subspan(1);
  }
}

namespace {

constexpr std::int64_t kFewestHeldOut = 100, kMostHeldOut = 2000;
constexpr std::uint64_t kHoldOutOrder = 0x686F6C64;  ///< random numbers for this use of the seed

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t") == line.npos || strip(line).empty();
}

/// For each file whether to hold pairs out: only those without a tag, if there are any.
std::vector<bool> files_to_hold_out_of(const DataConfig& data) {
  const std::vector<std::string> tags = data.tags();
  const bool all = std::ranges::find(tags, "") == tags.end();
  std::vector<bool> files;
  for (const std::string& tag : tags) files.push_back(all || tag.empty());
  return files;
}

/// The last bit of a hash here says whether the pair must not be held out.
constexpr std::uint64_t kStays = 1;

/// Keeps the hashes with the `count` smallest keys.
class Smallest {
 public:
  explicit Smallest(std::size_t count) : count_(count) {}
  void add(std::uint64_t key, std::uint64_t hash) {
    if (heap_.size() == count_ && key >= heap_.top().first) return;
    heap_.emplace(key, hash);
    if (heap_.size() > count_) heap_.pop();
  }
  /// The hashes of the `count` smallest keys, sorted.
  std::vector<std::uint64_t> hashes(std::size_t count) {
    for (; heap_.size() > count; heap_.pop()) {
    }
    std::vector<std::uint64_t> result;
    for (; !heap_.empty(); heap_.pop()) result.push_back(heap_.top().second);
    std::ranges::sort(result);
    return result;
  }

 private:
  std::size_t count_;
  std::priority_queue<std::pair<std::uint64_t, std::uint64_t>> heap_;
};

std::int64_t held_out_count(std::int64_t pairs, double fraction) {
  if (fraction == 0) return 0;
  const auto wanted =
      static_cast<std::int64_t>(std::llround(static_cast<double>(pairs) * fraction));
  const std::int64_t of_few = std::max(pairs / 10, std::min(wanted, pairs / 2));
  return std::min(std::clamp(wanted, kFewestHeldOut, kMostHeldOut), of_few);
}

}  // namespace

std::uint64_t pair_hash(std::string_view source, std::string_view target) {
  return std::max<std::uint64_t>(2, xxh3(folded(target), xxh3(folded(source))) & ~kStays);
}

PairSelection::PairSelection(const ParallelText& text, const DataConfig& data, std::uint64_t seed,
                             const WorkContext& context, const SortSpace& space)
    : text_(text),
      keep_duplicates_(data.keep_duplicates),
      hold_out_file_(files_to_hold_out_of(data)) {
  const double fraction = data.valid_source.empty() ? data.valid_fraction : 0;
  if (keep_duplicates_ && fraction == 0) return;
  SortedHashes sorted(space);
  for_each_block(
      text.pairs(), context,
      [&](std::int64_t first, std::int64_t last) {
        std::vector<std::uint64_t> hashes;
        text.for_each_pair(first, last, [&](std::int64_t pair, auto source, auto target) {
          const bool is_empty = is_blank(source) || is_blank(target);
          if (text.is_valid(source, target) && (data.keep_empty || !is_empty))
            hashes.push_back(pair_hash(source, target) | (may_be_held_out(pair) ? 0 : kStays));
        });
        return hashes;
      },
      [&](const std::vector<std::uint64_t>& hashes) { sorted.add(hashes); });
  find_copies_and_held_out(sorted, fraction, seed);
}

void PairSelection::find_copies_and_held_out(SortedHashes& hashes, double fraction,
                                             std::uint64_t seed) {
  Smallest held_out(kMostHeldOut);
  std::int64_t different = 0;
  std::uint64_t last = 0;
  hashes.for_each([&](std::uint64_t marked) {
    const std::uint64_t hash = marked & ~kStays;
    if (hash == last) {
      if (copied_.empty() || copied_.back() != hash) copied_.push_back(hash);
      return;
    }
    last = hash;
    if ((marked & kStays) != 0) return;
    ++different;
    if (fraction > 0) held_out.add(random_bits(seed, kHoldOutOrder, hash), hash);
  });
  copied_.shrink_to_fit();
  seen_.resize(copied_.size());
  held_out_ = held_out.hashes(static_cast<std::size_t>(held_out_count(different, fraction)));
}

bool PairSelection::may_be_held_out(std::int64_t pair) const {
  return hold_out_file_[text_.file_of(pair)];
}

bool PairSelection::seen_before(std::uint64_t hash) {
  const auto place = std::lower_bound(copied_.begin(), copied_.end(), hash);
  if (place == copied_.end() || *place != hash) return false;
  auto seen = seen_[static_cast<std::size_t>(place - copied_.begin())];
  const bool before = seen;
  seen = true;
  return before;
}

Fate PairSelection::next(std::int64_t pair, std::uint64_t hash) {
  if (std::ranges::binary_search(held_out_, hash))
    return may_be_held_out(pair) && !seen_before(hash) ? Fate::HoldOut : Fate::Duplicate;
  return seen_before(hash) && !keep_duplicates_ ? Fate::Duplicate : Fate::Train;
}

}  // namespace dragoman
