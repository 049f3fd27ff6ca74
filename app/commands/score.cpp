// dragoman score: the probability that a model gives to translations that are already there.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "app/commands/commands.h"
#include "app/commands/input_output.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "app/frame/terminal.h"
#include "base/error.h"
#include "base/formatted_text.h"
#include "base/lines.h"
#include "base/machine.h"
#include "inference/line_preparer.h"
#include "inference/search/decode_config.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

namespace {

constexpr std::size_t kWindow = 2'000;  // lines that are sorted by length and written together

struct ScoreConfig {
  ScorerChoice model;
  std::string source, target;
  bool normalize = false;
  bool per_token = false;
  SplitSentences split_sentences = SplitSentences::Auto;
  std::int64_t max_length = 2'048;

  void for_each_field(const auto& visit) {
    model.for_each_field(visit);
    const auto field = fields_under("Files", visit);
    field("src", source, "sentences, one per line; - for standard input",
          {.aliases = "source", .placeholder = "FILE"});
    field("tgt", target, "their translations, line for line; - for standard input",
          {.aliases = "target,trg,hyp", .placeholder = "FILE"});
    const auto scoring = fields_under("Scores", visit);
    scoring("normalize", normalize,
            "divide each line's log-probability by its number of pieces, </s> included");
    scoring("per-token", per_token,
            "add a tab and the log-probability of each piece, </s> as the last",
            {.aliases = "with-tokens-score"});
    scoring("split-sentences", split_sentences,
            "score the sentences of a line one by one, if both sides have the same number of them; "
            "auto: only if the model was trained on single sentences");
    fields_under("Hardware", visit)(
        "max-length", max_length,
        "longest line, in pieces; attention's memory grows with its square");
  }

  void check() const {
    model.check();
    if (source.empty()) throw UsageError("--src: name the file of sentences");
    if (target.empty()) throw UsageError("--tgt: name the file of translations");
    check_standard_input({{"--src", source}, {"--tgt", target}});
    if (max_length < 1) throw UsageError("--max-length: must be at least 1");
  }
};

struct Totals {
  std::int64_t lines = 0, tokens = 0;  ///< target pieces, </s> among them
  double log_probability = 0;

  double perplexity() const {
    return tokens == 0 ? 1 : std::exp(-log_probability / static_cast<double>(tokens));
  }
};

struct Texts {
  std::vector<std::string> source, target;
};

Texts read_texts(const ScoreConfig& config) {
  Texts texts{read_lines(config.source), read_lines(config.target)};
  require_same_lines(config.source, texts.source.size(), config.target, texts.target.size());
  require_lines(config.source, texts.source.size());
  return texts;
}

/// Scores texts window by window and writes a line for each.
class ScoreRun {
 public:
  ScoreRun(const ScoreConfig& config, const Texts& texts, const OpenedScorer& model)
      : config_(config),
        texts_(texts),
        model_(model),
        pairing_{
            .by_sentence = splits_sentences(config.split_sentences, model.record.several_sentences),
            .threads = model.threads} {}

  Totals run() {
    std::optional<Progress> progress;  // no bar if results go to the terminal
    if (isatty(STDOUT_FILENO) == 0) progress.emplace("score", "lines", std::ssize(texts_.source));
    const std::stop_token stop = listen_for_stop();
    for (std::size_t begin = 0; begin < texts_.source.size(); begin += kWindow) {
      const std::size_t count = std::min(kWindow, texts_.source.size() - begin);
      auto lines = pairs_of_lines(model_.tokenizers, std::span(texts_.source).subspan(begin, count),
                                  std::span(texts_.target).subspan(begin, count), pairing_);
      for (std::size_t i = 0; i < count; ++i)
        for (const SentencePair& pair : lines[i]) check_length(pair, begin + i);
      const auto scores = scores_of_lines(std::move(lines), model_.score, stop);
      if (stop.stop_requested()) break;
      for (const std::vector<float>& of_line : scores) write(of_line);
      if (progress) progress->update(totals_.lines);
    }
    return totals_;
  }

 private:
  void check_length(const SentencePair& pair, std::size_t line) const {
    const auto pieces = static_cast<std::int64_t>(std::max(pair.source.size(), pair.target.size()));
    const std::string where =
        join_text(input_name(config_.source), ":", line + 1, ": the line or its translation has ",
                  with_separators(pieces), " pieces, ");
    if (pieces > model_.max_positions)
      throw Error(where, "but the model has ", with_separators(model_.max_positions), " positions");
    if (pieces > config_.max_length)
      throw Error(where, "more than --max-length ", config_.max_length);
  }

  void write(const std::vector<float>& scores) {
    const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
    totals_.lines += 1;
    totals_.tokens += std::ssize(scores);
    totals_.log_probability += sum;
    const double shown = config_.normalize ? sum / static_cast<double>(scores.size()) : sum;
    std::cout << fixed_text(shown, 6);
    for (std::size_t i = 0; config_.per_token && i < scores.size(); ++i)
      std::cout << (i == 0 ? '\t' : ' ') << fixed_text(static_cast<double>(scores[i]), 6);
    std::cout << '\n';
  }

  const ScoreConfig& config_;
  const Texts& texts_;
  const OpenedScorer& model_;
  const Pairing pairing_;
  Totals totals_;
};

void log_totals(const Totals& totals, double seconds) {
  log_facts(join_text(counted(totals.lines, "line"), ", ", counted(totals.tokens, "piece"),
                      ", log-probability ", fixed_text(totals.log_probability, 4), ", perplexity ",
                      fixed_text(totals.perplexity(), 4), ", ", fixed_text(seconds, 1), " s"),
            {{"lines", totals.lines},
             {"tokens", totals.tokens},
             {"log_probability", totals.log_probability},
             {"perplexity", totals.perplexity()},
             {"seconds", seconds}});
}

/// Warns of translations that the model cannot write: instead of them it scores the text that its
/// tokenizer makes.
void warn_of_changed_lines(const Tokenizer& target, const std::vector<std::string>& lines) {
  const ChangedLines changed = changed_lines(target, lines);
  if (changed.count > 0)
    log_warning(join_text("the model cannot write ", with_separators(changed.count), " of ",
                          counted(std::ssize(lines), "line"),
                          " of --tgt as they are, and scores what its tokenizer makes of them: "
                          "line ",
                          changed.first, ": ", changed.example));
}

/// Warns of lines with characters that the model has never seen. Translation reads or copies them
/// in another way, but the scores are those of the lines as they are.
void warn_of_unseen_lines(const OpenedScorer& model, const std::vector<std::string>& lines) {
  if (!model.record.characters) return;
  const UnseenLines unseen =
      unseen_lines(*model.tokenizers.source, model.record.characters->source, lines);
  if (unseen.count > 0)
    log_warning(join_text("the model has never seen characters of ", with_separators(unseen.count),
                          " of ", counted(std::ssize(lines), "line"),
                          " of --src, and scores the lines as they are: line ", unseen.first));
}

int run_score(const ScoreConfig& config, const OpenScorer& open_scorer) {
  config.check();
  const Texts texts = read_texts(config);
  const OpenedScorer model = open_scorer(config.model);
  warn_of_unseen_lines(model, texts.source);
  warn_of_changed_lines(*model.tokenizers.target, texts.target);
  const Stopwatch watch;
  const Totals totals = ScoreRun(config, texts, model).run();
  log_totals(totals, watch.seconds());
  return 0;
}

}  // namespace

Command score_command(OpenScorer open_scorer) {
  const auto config = std::make_shared<ScoreConfig>();
  return {.name = "score",
          .summary = "log-probability of given translations, line by line, and perplexity",
          .fields = fields_of(*config),
          .short_flags = {{"m", "model"}},
          .run = [config, open = std::move(open_scorer)](
                     const Invocation&) { return run_score(*config, open); },
          .examples = {"score -m run/ --src test.en --tgt out.de"}};
}

}  // namespace dragoman
