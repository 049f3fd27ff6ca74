#include "extras/corpus/commands/measured_filters.h"

#include <algorithm>
#include <cmath>

#include "app/frame/child_program.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/lines.h"
#include "evaluation/evaluate.h"
#include "evaluation/significance.h"

namespace dragoman {

namespace {

using Lines = std::vector<std::string>;

/// The translations of the validation text by all runs on a text, one after the other; empty after
/// a stop.
Lines translations_of(const FilteredText& text, const Measurement& how) {
  Lines all;
  for (std::int64_t seed = 1; seed <= how.runs; ++seed) {
    const std::string run = join_text(how.folder, "/", text.name, "-", seed);
    const std::string log = run + "/messages.log", translation = run + "/translation.txt";
    create_folders(run);
    log_info(join_text(text.name, ", run ", seed, " of ", how.runs, ": ",
                       counted(text.pairs, "pair"), ", ", counted(how.updates, "update"), "; ",
                       log));
    Lines words = {"train", "-o", run, "--train-src"};
    for (const auto& sides : text.sides) words.push_back(sides[0]);
    words.push_back("--train-tgt");
    for (const auto& sides : text.sides) words.push_back(sides[1]);
    const std::string updates = std::to_string(how.updates);
    // Pairs that leaked into the training text would favour the text that still has them.
    words.insert(words.end(),
                 {"--valid-src", how.valid[0], "--valid-tgt", how.valid[1], "--valid-overlap",
                  "untrained", "--invalid", "skip", "--max-updates", updates, "--valid-every",
                  updates, "--patience", "0", "--seed", std::to_string(seed)});
    if (!run_child(words, {.messages = log})) return {};
    if (!run_child({"translate", "-m", run, "-i", how.valid[0], "-o", translation},
                   {.messages = log}))
      return {};
    const Lines lines = read_lines(translation);
    all.insert(all.end(), lines.begin(), lines.end());
  }
  return all;
}

std::string signed_text(double number) {
  return (number < 0 ? "-" : "+") + fixed_text(std::abs(number), 2);
}

/// "+0.15 (-0.30 to +0.61)"
std::string difference_text(double difference, const PairDifference& interval) {
  return join_text(signed_text(difference), " (", signed_text(interval.low), " to ",
                   signed_text(interval.high), ")");
}

std::string verdict_on(const FilteredText& text, const Measurement& how, double difference,
                       const PairDifference& interval) {
  const char* verdict = interval.low > 0    ? " is worth its cuts: BLEU "
                        : interval.high < 0 ? " costs more than it brings: BLEU "
                                            : " cannot be told from no filter: BLEU ";
  return join_text(text.name, verdict, difference_text(difference, interval), " after ",
                   counted(how.runs, "run"), " of ", counted(how.updates, "update"), " each\n");
}

void pad(std::string& line, std::size_t column) {
  line.resize(std::max(line.size() + 2, column), ' ');
}

}  // namespace

std::string measure_filters(const std::vector<FilteredText>& all, const Measurement& how) {
  // Each filter cuts what the one before it cuts, so equal numbers of pairs are equal texts.
  std::vector<FilteredText> texts;
  std::string same;
  for (const FilteredText& text : all) {
    const auto equal = std::ranges::find(texts, text.pairs, &FilteredText::pairs);
    if (equal == texts.end())
      texts.push_back(text);
    else if (equal == texts.begin())
      same += text.name + " cuts nothing\n";
    else
      same += join_text(text.name, " cuts no more than ", equal->name, "\n");
  }
  if (texts.size() == 1) return same;
  constexpr std::int64_t kSamples = 1000;
  std::vector<Lines> hypotheses;
  for (const FilteredText& text : texts) {
    hypotheses.push_back(translations_of(text, how));
    if (hypotheses.back().empty()) return "";
  }
  const Lines reference = read_lines(how.valid[1]);
  Lines references;  // of all runs
  for (std::int64_t run = 0; run < how.runs; ++run)
    references.insert(references.end(), reference.begin(), reference.end());
  const auto counts = count_systems(hypotheses, {references}, EvaluateConfig(), "");
  const ScoreTable scores = plain_scores(counts);
  const auto differences = paired_bootstrap_of_all(counts, kSamples, listen_for_stop());
  if (listen_for_stop().stop_requested()) return "";
  std::string table =
      "filter      pairs         BLEU    chrF    BLEU's difference, 95 % interval\n";
  std::string verdicts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::string line = texts[i].name;
    pad(line, 12);
    line += with_separators(texts[i].pairs);
    pad(line, 26);
    line += fixed_text(scores[0][i].score, 2);
    pad(line, 34);
    line += fixed_text(scores[1][i].score, 2);
    // The pairs of systems begin with those of the first one.
    if (i > 0) {
      const double difference = scores[0][i].score - scores[0][0].score;
      pad(line, 42);
      line += difference_text(difference, differences[0][i - 1]);
      verdicts += verdict_on(texts[i], how, difference, differences[0][i - 1]);
    }
    table += line + "\n";
  }
  return join_text(table, "\n", verdicts, same);
}

}  // namespace dragoman
