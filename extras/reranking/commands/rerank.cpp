// dragoman rerank: of several translations of each line takes the one that is most like the others,
// also with the help of a model of the other direction.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/commands.h"
#include "app/commands/input_output.h"
#include "app/commands/open_model.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "app/frame/terminal.h"
#include "base/error.h"
#include "base/formatted_text.h"
#include "base/lines.h"
#include "extras/reranking/reverse_scores.h"
#include "extras/reranking/translation_list.h"
#include "inference/search/decode_config.h"

namespace dragoman {

namespace {

struct RerankConfig {
  std::string input = "-", output = "-", source, reverse_model, tune;
  RiskConfig risk{.reverse_weight = 0.3};
  std::int64_t threads = 0;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Files", visit);
    field("input", input,
          "translations of each line, as translate --n-best writes them; - for standard input",
          {.placeholder = "FILE"});
    field("output", output, "one translation of each line; - for standard output",
          {.placeholder = "FILE"});
    const auto reverse = fields_under("A model of the other direction", visit);
    reverse("reverse-model", reverse_model,
            "run folder or model file; it reads a translation, and says how probable the source is",
            {.placeholder = "FILE"});
    reverse("source", source, "the lines that were translated, for --reverse-model",
            {.aliases = "src", .placeholder = "FILE"});
    reverse("reverse-weight", risk.reverse_weight,
            "weight of its score beside that of the list, which has 1; both are log-probabilities "
            "of a token",
            {.placeholder = "W"});
    reverse("threads", threads, "threads to compute with; 0: all cores that this process may use");
    const auto choice = fields_under("Choice", visit);
    choice("temperature", risk.temperature,
           "a translation counts by exp(score / T); the higher, the more all count alike",
           {.placeholder = "T"});
    choice("tune", tune,
           "good translations of the lines; prints BLEU and chrF with several temperatures and "
           "weights, instead of translations",
           {.placeholder = "FILE"});
  }

  void check() const {
    if (!(risk.temperature > 0))
      throw UsageError("--temperature ", risk.temperature, ": must be above 0");
    if (!(risk.reverse_weight >= 0))
      throw UsageError("--reverse-weight ", risk.reverse_weight, ": must be 0 or more");
    if (source.empty() != reverse_model.empty())
      throw UsageError(source.empty()
                           ? "--reverse-model: name the lines that were translated, --source FILE"
                           : "--source: is for --reverse-model, which is not given");
    std::vector<std::string> inputs = {input};
    for (const std::string& file : {source, tune})
      if (!file.empty()) inputs.push_back(file);
    check_standard_input({{"--input", input}, {"--source", source}, {"--tune", tune}});
    if (!is_stream(output)) check_text_output("--output", output, inputs);
  }
};

/// Reads the translations of a file line by line.
class ListReader {
 public:
  explicit ListReader(const std::string& path)
      : name_(input_name(path)),
        descriptor_(path, STDIN_FILENO, O_RDONLY),
        reader_(descriptor_, name_) {}

  /// Those of the next line; nothing at the end.
  std::optional<TranslationList> next() {
    TranslationList translations;
    for (; ahead_ || (ahead_ = read()); ahead_.reset()) {
      if (!translations.empty() && ahead_->line != translations.front().line) break;
      translations.push_back(std::move(*ahead_));
    }
    if (translations.empty()) return std::nullopt;
    return translations;
  }

 private:
  std::optional<ListedTranslation> read() {
    std::optional<std::string> line = reader_.next_line();
    while (!line && !reader_.at_end()) {
      reader_.receive(std::chrono::milliseconds(-1));
      line = reader_.next_line();
    }
    if (!line) return std::nullopt;
    std::optional<ListedTranslation> translation = read_listed(*line);
    if (!translation)
      throw Error(name_, ":", reader_.lines(),
                  ": is not a line of an n-best list; translate --n-best "
                  "writes \"line ||| translation ||| F0= log-probability ||| score\"");
    if (before_ && translation->line != *before_ && translation->line != *before_ + 1)
      throw Error(name_, ":", reader_.lines(), ": the translations of line ", *before_,
                  " are followed by those of line ", translation->line);
    before_ = translation->line;
    return translation;
  }

  std::string name_;
  Descriptor descriptor_;
  LineReader reader_;
  std::optional<ListedTranslation> ahead_;
  std::optional<std::int64_t> before_;  ///< the number of the last line
};

/// The model of the other direction, and the lines that were translated.
class Reverse {
 public:
  explicit Reverse(const RerankConfig& config)
      : file_(config.source),
        lines_(read_lines(config.source)),
        model_(
            open_cpu_scorer({{.device = "cpu", .threads = config.threads}, config.reverse_model})) {
  }

  std::int64_t lines() const { return std::ssize(lines_); }

  void add_scores(std::span<TranslationList> block, const std::stop_token& stop) {
    std::vector<std::string> sources;
    for (const TranslationList& translations : block) {
      const std::int64_t line = translations.front().line;
      if (line < 0 || line >= lines())
        throw Error(file_, ": has ", counted(lines(), "line"),
                    ", but the list has translations of line ", line, " (lines count from 0)");
      sources.push_back(lines_[static_cast<std::size_t>(line)]);
    }
    const Pairing pairing{
        .by_sentence = splits_sentences(SplitSentences::Auto, model_.record.several_sentences),
        .threads = model_.threads};
    left_out_ += add_reverse_scores(
        block, sources, {model_.tokenizers, model_.max_positions, model_.score, pairing}, stop);
  }

  /// Throws Error if the lists of some lines were missing.
  void finish(std::int64_t listed) const {
    if (listed != lines())
      throw Error(file_, ": has ", counted(lines(), "line"), ", but the list has translations of ",
                  listed);
    if (left_out_ > 0)
      log_warning(join_text("--reverse-model: cannot read ", counted(left_out_, "line"),
                            ", which have sentences longer than its ", model_.max_positions,
                            " positions; their translations were chosen without it"));
  }

 private:
  const std::string file_;
  const std::vector<std::string> lines_;
  const OpenedScorer model_;
  std::int64_t left_out_ = 0;
};

using TakeBlock = std::function<void(std::span<const TranslationList> lines)>;

/// Reads the lists, some hundreds at a time, and hands them over with the scores of both models.
/// Returns the number of lines; after a stop they are not all.
std::int64_t for_each_block(const RerankConfig& config, const TakeBlock& take) {
  constexpr std::size_t kBlock = 256;
  ListReader reader(config.input);
  std::optional<Reverse> reverse;
  if (!config.reverse_model.empty()) reverse.emplace(config);
  std::optional<Progress> progress;  // no bar if results go to the terminal
  if (reverse && isatty(STDOUT_FILENO) == 0) progress.emplace("rerank", "lines", reverse->lines());
  const std::stop_token stop = listen_for_stop();
  std::int64_t lines = 0;
  for (bool at_end = false; !at_end;) {
    std::vector<TranslationList> block;
    while (!at_end && block.size() < kBlock) {
      std::optional<TranslationList> translations = reader.next();
      at_end = !translations;
      if (translations) block.push_back(std::move(*translations));
    }
    if (block.empty()) break;
    if (reverse) reverse->add_scores(block, stop);
    if (stop.stop_requested()) return lines;
    take(block);
    lines += std::ssize(block);
    if (progress) progress->update(lines);
  }
  if (reverse) reverse->finish(lines);
  return lines;
}

int write_best(const RerankConfig& config) {
  TextOutput output(config.output);
  std::int64_t changed = 0;
  const std::int64_t lines = for_each_block(config, [&](std::span<const TranslationList> block) {
    const std::vector<Likeness> likeness = likeness_of(block);
    for (std::size_t i = 0; i < block.size(); ++i) {
      const std::size_t best = least_risk(block[i], likeness[i], config.risk);
      output.write(block[i][best].text + "\n");
      changed += best == 0 ? 0 : 1;
    }
  });
  if (listen_for_stop().stop_requested()) return 1;  // main turns it into the signal's code
  output.finish();
  log_facts(join_text(counted(lines, "line"), ", another translation than the first for ",
                      with_separators(changed)),
            {{"lines", lines}, {"changed", changed}});
  return 0;
}

std::string tuning_text(std::span<const TriedRisk> tried) {
  std::ostringstream table;
  const auto row = [&table](const auto& weight, const auto& temperature, const auto& bleu,
                            const auto& chrf) {
    table << std::setw(14) << weight << std::setw(13) << temperature << std::setw(8) << bleu
          << std::setw(8) << chrf << '\n';
  };
  row("reverse weight", "temperature", "BLEU", "chrF2");
  for (const TriedRisk& risk : tried)
    row(text_of(risk.config.reverse_weight), text_of(risk.config.temperature),
        fixed_text(risk.bleu, 2), fixed_text(risk.chrf, 2));
  return table.str();
}

int print_tuning(const RerankConfig& config) {
  std::vector<TranslationList> lists;
  for_each_block(config, [&lists](std::span<const TranslationList> block) {
    lists.insert(lists.end(), block.begin(), block.end());
  });
  if (listen_for_stop().stop_requested()) return 1;
  const std::vector<std::string> references = read_lines(config.tune);
  if (lists.size() != references.size())
    throw Error(input_name(config.input), " has translations of ",
                counted(std::ssize(lists), "line"), ", but ", config.tune, " has ",
                counted(std::ssize(references), "line"));
  require_lines(config.tune, references.size());
  const std::vector<TriedRisk> tried = try_risks(lists, references, !config.reverse_model.empty());
  TextOutput output(config.output);
  output.write(tuning_text(tried));
  output.finish();
  const RiskConfig& best = std::ranges::max_element(tried, {}, &TriedRisk::bleu)->config;
  log_info(join_text(
      "the best BLEU has",
      config.reverse_model.empty() ? "" : " --reverse-weight " + text_of(best.reverse_weight),
      " --temperature ", text_of(best.temperature)));
  return 0;
}

int run_rerank(const RerankConfig& config) {
  config.check();
  return config.tune.empty() ? write_best(config) : print_tuning(config);
}

Command rerank_command() {
  const auto config = std::make_shared<RerankConfig>();
  return {.name = "rerank",
          .summary = "of several translations of a line, take the one most like the others",
          .fields = fields_of(*config),
          .short_flags = {{"i", "input"}, {"o", "output"}},
          .prepare =
              [](const GivenValues& given) {
                if (given.contains("reverse-weight") && !given.contains("reverse-model"))
                  throw UsageError("--reverse-weight: is for --reverse-model, which is not given");
                for (const char* flag : {"temperature", "reverse-weight"})
                  if (given.contains(flag) && given.contains("tune"))
                    throw UsageError("--", flag, ": --tune tries several; leave it out");
              },
          .run = [config](const Invocation&) { return run_rerank(*config); },
          .examples = {"translate -m run/ --n-best 12 --beam-size 12 < in.en | dragoman rerank > "
                       "out.de",
                       "rerank -i list --source in.en --reverse-model reverse/ -o out.de"}};
}

}  // namespace

Extra reranking_extra(const MakeDeviceEngine&) { return {.commands = {rerank_command()}}; }

}  // namespace dragoman
