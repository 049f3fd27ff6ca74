#include "evaluation/evaluate.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/json.h"
#include "base/lines.h"
#include "tests/evaluation/corpus_scores.h"

namespace dragoman {

namespace {

std::string report_of(const EvaluateConfig& config) {
  const auto scores = evaluate_lines(kHypotheses, first_references(1), config, "dragoman-1");
  return report(scores, config.format, static_cast<int>(config.width));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(ScoreReport, TheTextIsSacreBleusWithTheEqualsSignsInOneColumn) {
  EvaluateConfig config;
  config.width = 1;
  EXPECT_EQ(report_of(config),
            "  BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:dragoman-1 = 23.6 "
            "69.2/52.4/27.8/6.7 (BP = 0.825 ratio = 0.839 hyp_len = 26 ref_len = 31)\n"
            "chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:dragoman-1 = 51.5\n");
}

TEST(ScoreReport, JsonHasSacreBleusKeys) {
  EvaluateConfig config;
  config.metrics = {"bleu", "chrf++"};
  config.format = ReportFormat::Json;
  config.width = 4;
  const auto list = parse_json<nlohmann::ordered_json>(report_of(config));
  ASSERT_EQ(list.size(), 2u);
  std::vector<std::string> keys;
  for (const auto& [key, value] : list[0].items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"name", "score", "signature", "verbose_score", "nrefs",
                                            "case", "eff", "tok", "smooth", "version"}));
  EXPECT_EQ(list[0]["nrefs"], "1");
  EXPECT_EQ(list[0]["tok"], "13a");
  EXPECT_EQ(list[0]["version"], "dragoman-1");
  EXPECT_EQ(list[1]["name"], "chrF2++");
  EXPECT_FALSE(list[1].contains("verbose_score"));
  EXPECT_EQ(list[1]["nw"], "2");
}

TEST(ScoreReport, IntervalsStandBesideTheScores) {
  EvaluateConfig config;
  config.confidence = true;
  config.confidence_n = 50;
  EXPECT_EQ(report_of(config),
            "  BLEU|nrefs:1|bs:50|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|"
            "version:dragoman-1 = 23.62 (μ = 22.99 ± 14.36) "
            "69.2/52.4/27.8/6.7 (BP = 0.825 ratio = 0.839 hyp_len = 26 ref_len = 31)\n"
            "chrF2|nrefs:1|bs:50|seed:12345|case:mixed|eff:yes|nc:6|nw:0|space:no|"
            "version:dragoman-1 = 51.50 (μ = 51.58 ± 8.43)\n");
  config.format = ReportFormat::Json;
  const auto list = parse_json<nlohmann::ordered_json>(report_of(config));
  EXPECT_EQ(list[0]["confidence_mean"], 22.99);
  EXPECT_EQ(list[0]["confidence_var"], 14.36);
  EXPECT_EQ(list[0]["confidence"], "μ = 22.99 ± 14.36");
  EXPECT_EQ(list[0]["bs"], "50");
}

Comparison two_systems() {
  return {.systems = {"old_1.de", "new&2.de"},
          .metrics = {"BLEU", "TER"},
          .signatures = {"nrefs:1|x", "nrefs:1|y"},
          .scores = {{{26.318, 26.3, 0.55}, {28, 27.95, 0.5, 0.001}},
                     {{50, 50.1, 1}, {49.5, 49.6, 0.9, 0.25}}},
          .paired = true};
}

TEST(ScoreReport, SystemsStandInOneTableWithTheBaselineMarked) {
  const auto lines = lines_of(report(two_systems(), ReportFormat::Text, 1));
  ASSERT_GE(lines.size(), 6U);
  EXPECT_EQ(lines[0], "System              BLEU (μ ± 95% CI)                TER (μ ± 95% CI)");
  EXPECT_EQ(lines[1], "Baseline: old_1.de  26.3 (26.3 ± 0.6)                50.0 (50.1 ± 1.0)");
  EXPECT_EQ(lines[2],
            "new&2.de            28.0 (27.9 ± 0.5) (p = 0.0010)*  49.5 (49.6 ± 0.9) (p = 0.2500)");
  EXPECT_EQ(lines[4], "BLEU|nrefs:1|x");
}

TEST(ScoreReport, ASystemWithTheBaselinesOutputIsMarked) {
  Comparison systems = two_systems();
  systems.same_output = {false, true};
  for (auto& metric : systems.scores) metric[1].p_value.reset();
  EXPECT_EQ(lines_of(report(systems, ReportFormat::Text, 1))[2],
            "new&2.de            28.0 (27.9 ± 0.5) (the same output)  49.5 (49.6 ± 0.9) (the same "
            "output)");
  const auto list = parse_json<nlohmann::ordered_json>(report(systems, ReportFormat::Json, 1));
  EXPECT_FALSE(list[0].contains("same_output"));
  EXPECT_EQ(list[1]["same_output"], true);
  EXPECT_TRUE(list[1]["BLEU"]["p_value"].is_null());
}

TEST(ScoreReport, AStarIsExplainedIfThereIsOne) {
  Comparison systems = two_systems();
  const std::string note =
      "* If the systems were equally good, chance would give such a difference";
  EXPECT_NE(report(systems, ReportFormat::Text, 1).find(note), std::string::npos);
  systems.scores[0][1].p_value = 0.06;
  EXPECT_EQ(report(systems, ReportFormat::Text, 1).find('*'), std::string::npos);
}

TEST(ScoreReport, TablesForDocumentsEscapeCharactersThatWouldBreakThem) {
  const std::string latex = report(two_systems(), ReportFormat::Latex, 1);
  EXPECT_NE(latex.find("System & BLEU ($\\mu$ $\\pm$ 95\\% CI) & TER"), std::string::npos) << latex;
  EXPECT_NE(latex.find("Baseline: old\\_1.de & 26.3 (26.3 $\\pm$ 0.6)"), std::string::npos)
      << latex;
  EXPECT_NE(latex.find("new\\&2.de & "), std::string::npos) << latex;
  Comparison systems = two_systems();
  systems.systems[0] = "~out^2\\a.de";
  EXPECT_NE(report(systems, ReportFormat::Latex, 1)
                .find("\\textasciitilde{}out\\textasciicircum{}2\\textbackslash{}a.de"),
            std::string::npos);
  const auto markdown = lines_of(report(two_systems(), ReportFormat::Markdown, 1));
  EXPECT_EQ(markdown[1], "|---|---|---|");
  EXPECT_EQ(markdown[3],
            "| new&2.de | 28.0 (27.9 ± 0.5) (p = 0.0010)* | 49.5 (49.6 ± 0.9) (p = 0.2500) |");
}

TEST(ScoreReport, JsonOfSystemsHasSacreBleusKeys) {
  const auto list =
      parse_json<nlohmann::ordered_json>(report(two_systems(), ReportFormat::Json, 1));
  EXPECT_EQ(list[0]["system"], "old_1.de");
  EXPECT_TRUE(list[0]["BLEU"]["p_value"].is_null());
  EXPECT_EQ(list[1]["BLEU"]["score"], 28.0);
  EXPECT_EQ(list[1]["BLEU"]["p_value"], 0.001);
  EXPECT_EQ(list[1]["TER"]["mean"], 49.6);
  EXPECT_EQ(list[1]["TER"]["ci"], 0.9);
}

TEST(ScoreReport, MarkdownIsATableWhoseCellsKeepTheirBars) {
  EvaluateConfig config;
  config.format = ReportFormat::Markdown;
  const auto lines = lines_of(report_of(config));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "| Metric | Score | Details | Signature |");
  for (const std::string& line : lines) {
    int bars = 0;
    for (std::size_t i = 0; i < line.size(); ++i)
      bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    EXPECT_EQ(bars, 5) << line;
  }
}

TEST(ScoreReport, SentenceLevelGivesEachMetricForEachLineInOrder) {
  EvaluateConfig config;
  config.sentence_level = true;
  const auto scores = evaluate_lines(kHypotheses, first_references(2), config, "v");
  ASSERT_EQ(scores.size(), 2 * kHypotheses.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const std::vector<std::string> references = {kReferences[0][i / 2], kReferences[1][i / 2]};
    const std::string& hypothesis = kHypotheses[i / 2];
    EXPECT_EQ(scores[i].line, static_cast<std::int64_t>(i / 2) + 1);
    EXPECT_EQ(scores[i].name, i % 2 == 0 ? "BLEU" : "chrF2");
    EXPECT_EQ(scores[i].score, i % 2 == 0 ? sentence_bleu(hypothesis, references).score
                                          : sentence_chrf(hypothesis, references));
  }
  EXPECT_EQ(parse_json(report(scores, ReportFormat::Json, 2))[2]["line"], 2);
}

TEST(ScoreReport, ScoresOfLinesHaveNumbersAndOneSignature) {
  std::vector<NamedScore> scores;
  for (std::int64_t line = 1; line <= 2; ++line)
    for (const char* name : {"BLEU", "TER"})
      scores.push_back({{.score = 5.0 * static_cast<double>(line)}, name, "nrefs:1", "", line});
  EXPECT_EQ(report(scores, ReportFormat::Text, 1),
            "1 BLEU = 5.0\n1 TER = 5.0\n2 BLEU = 10.0\n2 TER = 10.0\n\n"
            "BLEU|nrefs:1\nTER|nrefs:1\n");
}

std::vector<std::string> lines_of_file(const std::filesystem::path& path) {
  return read_lines(path.string(), ByteOrderMark::Text);
}

/// The sixteen systems of WMT 2017 en-de against sacreBLEU's scores for them. Runs if DRAGOMAN_DATA
/// names a folder that has wmt17-metrics/ with the systems' outputs and scores.tsv (columns:
/// system, BLEU, chrF2, chrF2++, TER).
TEST(Wmt17Metrics, ScoresOfAllSystemsAreThoseOfSacreBleuToFourDecimals) {
  const char* data = std::getenv("DRAGOMAN_DATA");
  const auto folder = std::filesystem::path(data == nullptr ? "" : data) / "wmt17-metrics";
  if (data == nullptr || !std::filesystem::exists(folder))
    GTEST_SKIP() << "DRAGOMAN_DATA names no folder with wmt17-metrics/";
  EvaluateConfig config;
  config.metrics = {"bleu", "chrf", "chrf++", "ter"};
  const References references = {lines_of_file(folder / "reference")};
  const auto table = lines_of_file(folder / "scores.tsv");
  ASSERT_EQ(table.size(), 17u);
  for (std::size_t i = 1; i < table.size(); ++i) {
    std::istringstream row(table[i]);
    std::string system;
    row >> system;
    for (const NamedScore& score :
         evaluate_lines(lines_of_file(folder / system), references, config, "")) {
      std::string expected;
      row >> expected;
      EXPECT_EQ(fixed_text(score.score, 4), expected) << system << " " << score.name;
    }
  }
}

}  // namespace

}  // namespace dragoman
