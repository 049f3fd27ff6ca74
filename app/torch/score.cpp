// dragoman score: the probability that a model gives to translations that are already there.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "app/frame/log.h"
#include "app/frame/progress.h"
#include "app/frame/signals.h"
#include "app/torch/commands.h"
#include "app/torch/open_model.h"
#include "base/amounts.h"
#include "base/error.h"
#include "base/text_lines.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "inference/search/decode_config.h"
#include "inference/torch/scorer.h"
#include "tokenizer/sentence_pairs.h"

namespace dragoman {

namespace {

constexpr std::size_t kWindow = 2'000;  // lines that are sorted by length and written together

struct ScoreConfig {
  ModelChoice model;
  std::string source, target;
  bool normalize = false;
  bool per_token = false;
  SplitSentences split_sentences = SplitSentences::Auto;
  std::int64_t max_tokens = 4'096;
  std::int64_t max_length = 2'048;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    constexpr std::string_view kFiles = "Files", kScores = "Scores", kHardware = "Hardware";
    model.for_each_field(visit);
    visit({.name = "src",
           .help = "sentences, one a line; - for standard input",
           .group = kFiles,
           .aliases = "source",
           .placeholder = "FILE"},
          source);
    visit({.name = "tgt",
           .help = "their translations, line for line; - for standard input",
           .group = kFiles,
           .aliases = "target,trg,hyp",
           .placeholder = "FILE"},
          target);
    visit({.name = "normalize",
           .help = "divide each line's log-probability by its number of pieces, </s> included",
           .group = kScores},
          normalize);
    visit({.name = "per-token",
           .help = "add a tab and the log-probability of each piece, </s> as the last",
           .group = kScores,
           .aliases = "with-tokens-score"},
          per_token);
    visit({.name = "split-sentences",
           .help = "score the sentences of a line one by one, where both sides have the same "
                   "number; auto: if the model was trained on single sentences",
           .group = kScores},
          split_sentences);
    visit({.name = "max-tokens",
           .help = "most pieces of each side that are computed together; changes speed and memory, "
                   "not the output",
           .group = kHardware,
           .aliases = "batch-size,max-batch-size"},
          max_tokens);
    visit({.name = "max-length",
           .help = "longest line, in pieces; attention's memory grows with its square",
           .group = kHardware},
          max_length);
  }

  void validate() const {
    model.validate();
    if (source.empty()) throw UsageError("--src: name the file of sentences");
    if (target.empty()) throw UsageError("--tgt: name the file of translations");
    if (source == "-" && target == "-")
      throw UsageError("--src and --tgt cannot both be standard input");
    if (max_tokens < 1) throw UsageError("--max-tokens: must be at least 1");
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
  for (auto* lines : {&texts.source, &texts.target})
    for (std::string& line : *lines) line = strip(line);
  return texts;
}

std::vector<TokenId> encode(const Tokenizer& tokenizer, std::string_view line) {
  std::vector<TokenId> tokens = tokenizer.encode(line);
  tokens.push_back(tokenizer.eos_id());
  return tokens;
}

/// Scores texts window by window and writes a line for each.
class ScoreRun {
 public:
  ScoreRun(const ScoreConfig& config, const Texts& texts, const OpenedModel& model)
      : config_(config),
        texts_(texts),
        threads_(model.threads),
        by_sentence_(splits_sentences(config.split_sentences, model.several_sentences)) {}

  Totals run(Transformer& model, const TokenizerPair& tokenizers) {
    std::optional<Progress> progress;  // no bar where results go to the terminal
    if (isatty(STDOUT_FILENO) == 0)
      progress.emplace("score", "lines", static_cast<std::int64_t>(texts_.source.size()));
    const std::stop_token stop = listen_for_stop();
    for (std::size_t begin = 0; begin < texts_.source.size(); begin += kWindow) {
      const auto lines = encode_window(begin, model->config, tokenizers);
      std::vector<TokenPair> pairs;
      for (const auto& line : lines) pairs.insert(pairs.end(), line.begin(), line.end());
      const auto scores = token_log_probabilities(model, pairs, config_.max_tokens, stop);
      if (stop.stop_requested()) break;
      auto next = scores.begin();
      for (const auto& line : lines) {
        std::vector<float> of_line;
        for (std::size_t i = 0; i < line.size(); ++i, ++next)
          of_line.insert(of_line.end(), next->begin(), next->end());
        write(of_line);
      }
      if (progress) progress->update(totals_.lines);
    }
    return totals_;
  }

 private:
  /// The pairs of each line.
  std::vector<std::vector<TokenPair>> encode_window(std::size_t begin, const ModelConfig& model,
                                                    const TokenizerPair& tokenizers) const {
    std::vector<std::vector<TokenPair>> lines(std::min(kWindow, texts_.source.size() - begin));
    parallel_for(static_cast<std::int64_t>(lines.size()), threads_, [&](std::int64_t i) {
      const std::size_t line = begin + static_cast<std::size_t>(i);
      for (const auto& [source, target] : pairs_of(line)) {
        lines[i].push_back(
            {encode(*tokenizers.source, source), encode(*tokenizers.target, target)});
        check_length(lines[i].back(), line, model);
      }
    });
    return lines;
  }

  std::vector<std::pair<std::string_view, std::string_view>> pairs_of(std::size_t line) const {
    const std::string &source = texts_.source[line], &target = texts_.target[line];
    if (by_sentence_) return pairs_of_sentences(source, target);
    return {{source, target}};
  }

  void check_length(const TokenPair& pair, std::size_t line, const ModelConfig& model) const {
    const auto pieces = static_cast<std::int64_t>(std::max(pair.source.size(), pair.target.size()));
    const std::string where = join_text(config_.source, ":", line + 1,
                                        ": the line or its translation has ", pieces, " pieces, ");
    if (model.positions == Positions::Learned && pieces > model.max_positions)
      throw Error(where, "but the model has ", model.max_positions, " positions");
    if (pieces > config_.max_length)
      throw Error(where, "more than --max-length ", config_.max_length);
  }

  void write(const std::vector<float>& scores) {
    const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
    totals_.lines += 1;
    totals_.tokens += static_cast<std::int64_t>(scores.size());
    totals_.log_probability += sum;
    const double shown = config_.normalize ? sum / static_cast<double>(scores.size()) : sum;
    std::cout << number(shown);
    for (std::size_t i = 0; config_.per_token && i < scores.size(); ++i)
      std::cout << (i == 0 ? '\t' : ' ') << number(scores[i]);
    std::cout << '\n';
  }

  static std::string number(double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.6f", value);
    return text;
  }

  const ScoreConfig& config_;
  const Texts& texts_;
  int threads_;
  bool by_sentence_;
  Totals totals_;
};

void log_totals(const Totals& totals, double seconds) {
  char numbers[128];
  std::snprintf(numbers, sizeof numbers, "log-probability %.4f, perplexity %.4f, %.1f s",
                totals.log_probability, totals.perplexity(), seconds);
  log_facts(join_text(counted(totals.lines, "line"), ", ", counted(totals.tokens, "piece"), ", ",
                      numbers),
            {{"lines", totals.lines},
             {"tokens", totals.tokens},
             {"log_probability", totals.log_probability},
             {"perplexity", totals.perplexity()},
             {"seconds", seconds}});
}

int run_score(const ScoreConfig& config) {
  config.validate();
  const Texts texts = read_texts(config);
  OpenedModel model = open_model(config.model);
  const auto start = std::chrono::steady_clock::now();
  const Totals totals = ScoreRun(config, texts, model).run(model.transformer, model.tokenizers);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  log_totals(totals, spent.count());
  return 0;
}

}  // namespace

Command score_command() {
  const auto config = std::make_shared<ScoreConfig>();
  return {.name = "score",
          .summary = "log-probability of given translations, line by line, and perplexity",
          .fields = fields_of(*config),
          .short_flags = {{"m", "model"}},
          .run = [config] { return run_score(*config); },
          .examples = {"score -m run/ --src test.en --tgt out.de"}};
}

}  // namespace dragoman
