#include "inference/model_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <utility>

#include "base/error.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

TEST(DecodeDefaults, ASettingMayHaveSeveralValues) {
  DecodeConfig config;
  take_decode_defaults(config, {{"suppress", "a,\\,,b"}, {"beam-size", "7"}},
                       [](std::string_view name) { return name == "beam-size"; });
  EXPECT_THAT(config.suppress, ElementsAre("a", ",", "b"));
  EXPECT_EQ(config.beam_size, 5) << "was given";
}

TEST(DecodeDefaults, ABeamThatWasNotGivenIsAsWideAsTheNBestNeed) {
  const auto beam_size = [](DecodeConfig config, bool is_given) {
    take_decode_defaults(config, {{"beam-size", "2"}}, [is_given](std::string_view name) {
      return is_given && name == "beam-size";
    });
    return config.beam_size;
  };
  EXPECT_EQ(beam_size({}, false), 2);
  EXPECT_EQ(beam_size({.n_best = 5}, false), 5);
  EXPECT_EQ(beam_size({.beam_size = 3, .n_best = 5}, true), 3);
  EXPECT_EQ(beam_size({.n_best = 5, .sampling = true}, false), 2);
}

TEST(DecodeDefaults, AValueWithoutMeaningIsRefused) {
  DecodeConfig config;
  EXPECT_THROW(
      take_decode_defaults(config, {{"beam-size", "wide"}}, [](std::string_view) { return false; }),
      UsageError);
}

TEST(TuneSearch, ThePeakOfAScoreIsFoundAndNothingIsAskedForTwice) {
  std::set<std::pair<std::int64_t, double>> asked;
  const DecodeConfig best =
      tune_search({.beam_size = 5, .max_length = 77}, [&](const auto& search) {
        EXPECT_TRUE(asked.emplace(search.beam_size, search.length_penalty).second);
        EXPECT_EQ(search.max_length, 77);
        return -std::abs(static_cast<double>(search.beam_size) - 8) -
               std::abs(search.length_penalty - 0.6);
      });
  EXPECT_EQ(best.beam_size, 8);
  EXPECT_DOUBLE_EQ(best.length_penalty, 0.6);
  EXPECT_LT(asked.size(), 25U);
}

TEST(TuneSearch, EqualScoresGiveTheSmallestBeamAndKeepThePenalty) {
  const DecodeConfig best =
      tune_search({.beam_size = 5, .length_penalty = 0.7}, [](const auto&) { return 1.0; });
  EXPECT_EQ(best.beam_size, 1);
  EXPECT_DOUBLE_EQ(best.length_penalty, 0.7);
}

TEST(TuneSearch, ThePenaltyIsLookedForAgainIfTheBeamHasChanged) {
  const DecodeConfig best =
      tune_search({.beam_size = 5, .length_penalty = 1}, [](const auto& search) {
        const double wanted = search.beam_size == 5 ? 1.0 : 1.2;
        return (search.beam_size == 4 ? 10 : 0) - std::abs(search.length_penalty - wanted);
      });
  EXPECT_EQ(best.beam_size, 4);
  EXPECT_DOUBLE_EQ(best.length_penalty, 1.2);
}

}  // namespace
}  // namespace dragoman
