#include "inference/cpu/key_value_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/random.h"

namespace dragoman {
namespace {

constexpr std::int64_t kLayers = 2;
using Record = std::uint64_t;

/// The records that a row and the rows that it continues have written, one for each place.
struct Row {
  std::int32_t slot;
  std::vector<Record> written[kLayers];
};

/// Random beams: each slot continues with one to four of its rows, or is released and begins again.
class Beams {
 public:
  explicit Beams(std::uint64_t seed) : random_(seed) {}

  void step() {
    std::vector<RowOrigin> origins;
    std::vector<Row> next;
    for (std::int32_t slot = 0; slot < 3; ++slot) {
      std::vector<std::int32_t> of_slot;
      for (std::size_t r = 0; r < rows_.size(); ++r)
        if (rows_[r].slot == slot) of_slot.push_back(static_cast<std::int32_t>(r));
      if (!of_slot.empty() && random_.chance(0.01)) {
        cache_.release(slot);
        of_slot.clear();
      }
      const std::uint64_t count = of_slot.empty() ? 1 : 1 + random_.below(4);
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::int32_t parent = of_slot.empty() ? -1 : random_.choice(of_slot);
        origins.push_back({parent, slot});
        next.push_back(parent < 0 ? Row{slot, {}} : rows_[static_cast<std::size_t>(parent)]);
      }
    }
    cache_.select(origins);
    cache_.begin_step();
    rows_ = next;
    for (std::size_t r = 0; r < rows_.size(); ++r)
      for (std::int64_t l = 0; l < kLayers; ++l) {
        const Record record = random_();
        rows_[r].written[l].push_back(record);
        std::memcpy(cache_.current(l, static_cast<std::int64_t>(r)), &record, sizeof(record));
      }
  }

  void expect_what_was_written() const {
    ASSERT_EQ(cache_.rows(), static_cast<std::int64_t>(rows_.size()));
    for (std::int64_t r = 0; r < cache_.rows(); ++r) {
      const Row& row = rows_[static_cast<std::size_t>(r)];
      EXPECT_EQ(cache_.slot(r), row.slot);
      for (std::int64_t l = 0; l < kLayers; ++l) {
        ASSERT_EQ(cache_.length(r), static_cast<std::int64_t>(row.written[l].size()));
        for (std::int64_t j = 0; j < cache_.length(r); ++j) {
          Record record = 0;
          std::memcpy(&record, cache_.layer(l) + cache_.records(r)[j] * sizeof(record),
                      sizeof(record));
          ASSERT_EQ(record, row.written[l][static_cast<std::size_t>(j)]) << r << ", " << j;
        }
      }
    }
  }

  std::int64_t longest() const {
    std::int64_t most = 0;
    for (std::int64_t r = 0; r < cache_.rows(); ++r) most = std::max(most, cache_.length(r));
    return most;
  }

 private:
  RandomStream random_;
  KeyValueCache cache_{kLayers, sizeof(Record)};
  std::vector<Row> rows_;
};

TEST(KeyValueCache, ARowReadsWhatItAndTheRowsThatItContinuesWrote) {
  std::int64_t longest = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Beams beams(seed);
    for (int i = 0; i < 300; ++i) {
      beams.step();
      beams.expect_what_was_written();
      if (testing::Test::HasFatalFailure()) return;
      longest = std::max(longest, beams.longest());
    }
  }
  EXPECT_GT(longest, 128);  // rows have several blocks
}

TEST(KeyValueCache, AReleasedSlotGivesItsRecordsToOthers) {
  KeyValueCache cache(1, sizeof(Record));
  for (std::int32_t slot = 0; slot < 100; ++slot) {
    const std::vector<RowOrigin> fresh = {{-1, slot}, {-1, slot}};
    cache.select(fresh);
    cache.begin_step();
    EXPECT_LT(std::max(cache.records(0)[0], cache.records(1)[0]), 8 * 64);  // the first blocks
    cache.release(slot);
  }
}

TEST(KeyValueCache, ALongRowTakesNoMemoryForTheOthers) {
  constexpr std::int32_t kSlots = 30;
  KeyValueCache cache(1, sizeof(Record));
  std::int64_t records = 0;
  for (std::int32_t length = 0; length < 1000; ++length) {
    std::vector<RowOrigin> origins = {{length == 0 ? -1 : 0, 0}};
    for (std::int32_t slot = 1; slot <= kSlots; ++slot) {
      const bool begins = length % 20 == 0;
      if (begins && length > 0) cache.release(slot);
      origins.push_back({begins ? -1 : slot, slot});
    }
    cache.select(origins);
    cache.begin_step();
    for (std::int64_t r = 0; r < cache.rows(); ++r)
      records = std::max<std::int64_t>(records, cache.records(r)[cache.length(r) - 1] + 1);
  }
  EXPECT_LE(records, 64 * (1000 / 64 + 1 + kSlots));
}

}  // namespace
}  // namespace dragoman
