#include "extras/corpus/like_texts.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "base/error.h"
#include "base/threads.h"

namespace dragoman {

LikeTexts::LikeTexts(std::span<const LikenessSketch> sketches, int threads) : sketches_(sketches) {
  if (sketches.size() >= std::numeric_limits<std::uint32_t>::max())
    throw Error("more than ", std::numeric_limits<std::uint32_t>::max(),
                " lines; look at a part of the text");
  texts_.reserve(sketches.size());
  for (std::size_t i = 0; i < sketches.size(); ++i)
    texts_.emplace_back(sketches[i].text, static_cast<std::uint32_t>(i));
  std::ranges::sort(texts_);
  std::vector<std::uint32_t> first_ones;  // of each text
  for (std::size_t i = 0; i < texts_.size(); ++i)
    if ((i == 0 || texts_[i].first != texts_[i - 1].first) && sketches[texts_[i].second].is_long)
      first_ones.push_back(texts_[i].second);
  parallel_for(std::ssize(bands_), threads, [&](std::int64_t number) {
    const auto band = static_cast<std::size_t>(number);
    std::vector<Entry>& entries = bands_[band];
    entries.reserve(first_ones.size());
    for (const std::uint32_t text : first_ones)
      entries.emplace_back(sketches[text].bands[band], text);
    std::ranges::sort(entries);
  });
}

std::optional<std::int64_t> LikeTexts::find_equal(const LikenessSketch& sketch) const {
  const auto found = std::ranges::lower_bound(texts_, std::pair(sketch.text, std::uint32_t{0}));
  if (found == texts_.end() || found->first != sketch.text) return std::nullopt;
  return found->second;
}

std::optional<std::int64_t> LikeTexts::find_like(
    const LikenessSketch& sketch, std::int64_t end, double least,
    const std::function<bool(std::int64_t)>& is_like) const {
  constexpr int kMostOfGroup = 8;
  constexpr double kDoubt = 0.15;  // two standard errors of the estimate
  if (!sketch.is_long) return std::nullopt;
  std::vector<std::uint32_t> tried;
  for (std::size_t band = 0; band < bands_.size(); ++band) {
    auto entry = std::ranges::lower_bound(bands_[band], Entry(sketch.bands[band], 0));
    for (int i = 0; i < kMostOfGroup && entry != bands_[band].end(); ++i, ++entry) {
      if (entry->first != sketch.bands[band] || entry->second >= end) break;
      if (std::ranges::find(tried, entry->second) != tried.end()) continue;
      tried.push_back(entry->second);
      if (estimated_likeness(sketch, sketches_[entry->second]) >= least - kDoubt &&
          is_like(entry->second))
        return entry->second;
    }
  }
  return std::nullopt;
}

}  // namespace dragoman
