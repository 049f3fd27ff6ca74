#include "data/pair_selection.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "base/random.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "data/prepare.h"

namespace dragoman {

namespace {

constexpr std::int64_t kFewestHeldOut = 100, kMostHeldOut = 2000;
constexpr std::uint64_t kHoldOutOrder = 0x686F6C64;  ///< tells this use of the seed apart

std::uint64_t hold_out_key(std::uint64_t seed, std::uint64_t hash) {
  return random_bits(seed, kHoldOutOrder, hash);
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t") == line.npos || strip(line).empty();
}

/// Of all pairs that may be trained on, as far as the text alone tells; sorted.
std::vector<std::uint64_t> sorted_hashes(const ParallelText& text, const DataConfig& data,
                                         const WorkContext& context) {
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(text.pairs()));
  const auto hash_block = [&](std::int64_t, std::int64_t first, std::int64_t last) {
    text.for_each_pair(
        first, last, [&](std::int64_t pair, std::string_view source, std::string_view target) {
          const bool valid = text.all_valid() || (is_valid_line(source) && is_valid_line(target));
          if (valid && (data.keep_empty || !(is_blank(source) || is_blank(target))))
            hashes[static_cast<std::size_t>(pair)] = pair_hash(source, target);
        });
  };
  for_each_block(text.pairs(), context, hash_block, [](std::int64_t) {});
  std::erase(hashes, 0);
  std::sort(hashes.begin(), hashes.end());
  return hashes;
}

std::int64_t held_out_count(std::size_t different, double fraction) {
  const auto pairs = static_cast<std::int64_t>(different);
  if (fraction == 0) return 0;
  const auto wanted =
      static_cast<std::int64_t>(std::llround(static_cast<double>(pairs) * fraction));
  return std::min(std::clamp(wanted, kFewestHeldOut, kMostHeldOut), pairs / 2);
}

}  // namespace

std::int64_t blocks_at_once(const WorkContext& context) {
  return std::int64_t{8} * context.threads;
}

void for_each_block(std::int64_t pairs, const WorkContext& context,
                    const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& block,
                    const std::function<void(std::int64_t)>& done) {
  const std::int64_t blocks = (pairs + kLinesPerBlock - 1) / kLinesPerBlock;
  const std::int64_t at_once = blocks_at_once(context);
  for (std::int64_t begin = 0; begin < blocks; begin += at_once) {
    if (context.stop.stop_requested()) throw PreparationStopped();
    const std::int64_t end = std::min(begin + at_once, blocks);
    parallel_for(end - begin, context.threads, [&](std::int64_t i) {
      const std::int64_t first = (begin + i) * kLinesPerBlock;
      block(begin + i, first, std::min(first + kLinesPerBlock, pairs));
    });
    for (std::int64_t number = begin; number < end; ++number) done(number);
    context.report(std::min(end * kLinesPerBlock, pairs), pairs);
  }
}

std::uint64_t pair_hash(std::string_view source, std::string_view target) {
  return std::max<std::uint64_t>(1, xxh3(target, xxh3(source)));
}

PairSelection::PairSelection(const ParallelText& text, const DataConfig& data, std::uint64_t seed,
                             const WorkContext& context)
    : keep_duplicates_(data.keep_duplicates), seed_(seed) {
  const double fraction = data.valid_source.empty() ? data.valid_fraction : 0;
  if (keep_duplicates_ && fraction == 0) return;
  std::vector<std::uint64_t> hashes = sorted_hashes(text, data, context);
  for (std::size_t i = 1; i < hashes.size(); ++i)
    if (hashes[i] == hashes[i - 1] && (copied_.empty() || copied_.back() != hashes[i]))
      copied_.push_back(hashes[i]);
  copied_.shrink_to_fit();
  seen_.resize(copied_.size());

  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  const std::int64_t count = held_out_count(hashes.size(), fraction);
  if (count == 0) return;
  for (std::uint64_t& hash : hashes) hash = hold_out_key(seed_, hash);
  std::nth_element(hashes.begin(), hashes.begin() + (count - 1), hashes.end());
  hold_out_ = true;
  last_held_out_ = hashes[static_cast<std::size_t>(count - 1)];
}

bool PairSelection::held_out(std::uint64_t hash) const {
  return hold_out_ && hold_out_key(seed_, hash) <= last_held_out_;
}

bool PairSelection::seen_before(std::uint64_t hash) {
  const auto place = std::lower_bound(copied_.begin(), copied_.end(), hash);
  if (place == copied_.end() || *place != hash) return false;
  auto seen = seen_[static_cast<std::size_t>(place - copied_.begin())];
  const bool before = seen;
  seen = true;
  return before;
}

Fate PairSelection::next(std::uint64_t hash) {
  const bool before = seen_before(hash);
  if (held_out(hash)) return before ? Fate::Duplicate : Fate::HoldOut;
  return before && !keep_duplicates_ ? Fate::Duplicate : Fate::Train;
}

}  // namespace dragoman
