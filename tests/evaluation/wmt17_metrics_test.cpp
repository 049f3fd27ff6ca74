// The sixteen systems of WMT 2017 en-de against sacreBLEU's scores for them. Runs where
// DRAGOMAN_DATA names a folder that has wmt17-metrics/ with the systems' outputs and scores.tsv
// (columns: system, BLEU, chrF2, chrF2++, TER).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/amounts.h"
#include "base/text_lines.h"
#include "evaluation/evaluate.h"

namespace dragoman {
namespace {

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  return read_lines(path.string(), ByteOrderMark::Text);
}

TEST(Wmt17Metrics, ScoresOfAllSystemsAreThoseOfSacreBleuToFourDecimals) {
  const char* data = std::getenv("DRAGOMAN_DATA");
  const auto folder = std::filesystem::path(data == nullptr ? "" : data) / "wmt17-metrics";
  if (data == nullptr || !std::filesystem::exists(folder))
    GTEST_SKIP() << "DRAGOMAN_DATA names no folder with wmt17-metrics/";
  EvaluateConfig config;
  config.metrics = {"bleu", "chrf", "chrf++", "ter"};
  const References references = {lines_of(folder / "reference")};
  const auto table = lines_of(folder / "scores.tsv");
  ASSERT_EQ(table.size(), 17u);
  for (std::size_t i = 1; i < table.size(); ++i) {
    std::istringstream row(table[i]);
    std::string system;
    row >> system;
    for (const NamedScore& score :
         evaluate_lines(lines_of(folder / system), references, config, "")) {
      std::string expected;
      row >> expected;
      EXPECT_EQ(fixed_text(score.score, 4), expected) << system << " " << score.name;
    }
  }
}

}  // namespace
}  // namespace dragoman
