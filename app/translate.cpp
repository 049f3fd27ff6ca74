// dragoman translate: lines in, translations out, as a file or as a filter in a pipe.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/line_files.h"
#include "app/log.h"
#include "app/open_translator.h"
#include "app/progress.h"
#include "app/signals.h"
#include "app/translation_format.h"
#include "base/amounts.h"
#include "base/error.h"
#include "base/files.h"
#include "evaluation/read_lines.h"
#include "inference/translator.h"

namespace dragoman {

namespace {

struct TranslateFiles {
  std::vector<std::string> models;
  std::string input = "-", output = "-";
  std::string prefix_file;
  bool json = false;
  bool with_scores = false;
  bool word_scores = false;
  AlignmentFormat alignment = AlignmentFormat::None;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    constexpr std::string_view kFiles = "Files";
    visit({.name = "model",
           .help = "run folder or model file; of several, which must have the same vocabulary, the "
                   "mean of their probabilities decides",
           .group = kFiles,
           .aliases = "models"},
          models);
    visit({.name = "input",
           .help = "sentences, one a line; - for standard input",
           .group = kFiles,
           .aliases = "src,source"},
          input);
    visit({.name = "output",
           .help = "translations, line for line; - for standard output",
           .group = kFiles,
           .aliases = "out"},
          output);
    visit({.name = "prefix-file",
           .help = "line i is what the translation of line i begins with; a blank line: anything",
           .group = kFiles},
          prefix_file);
    visit(
        {.name = "json",
         .help = "lines are JSON objects: in with the field text (and prefix), out the same object "
                 "with translation, score, log_probability",
         .group = kFiles},
        json);
    visit({.name = "with-scores",
           .help = "write \"line ||| translation ||| F0= log-probability ||| score\", as with "
                   "--n-best above 1",
           .group = kFiles,
           .aliases = "with-score"},
          with_scores);
    visit({.name = "word-scores",
           .help = "add each word's log-probability: \"||| WordScores= -0.1 -0.3\"",
           .group = kFiles},
          word_scores);
    visit({.name = "alignment",
           .help = "add the words that the translation's words come from: hard as source-target "
                   "pairs (\"||| 0-0 1-2\"), soft as each target word's attention",
           .group = kFiles},
          alignment);
  }

  TranslationFormat format(const DecodeConfig& search) const {
    return {.json = json,
            .all = search.n_best > 1,
            .scores = with_scores,
            .word_scores = word_scores,
            .alignment = alignment};
  }
};

/// What the translations must have.
struct DemandFiles {
  std::string terms;
  std::string avoid;
  bool protect = false;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    constexpr std::string_view kDemands = "Demands";
    visit({.name = "terms",
           .help = "file of \"source term<tab>target term\": where the source has the one, the "
                   "translation has the other",
           .group = kDemands,
           .aliases = "glossary"},
          terms);
    visit({.name = "avoid",
           .help = "file of texts, one a line, that no translation has",
           .group = kDemands,
           .aliases = "negative-constraints"},
          avoid);
    visit({.name = "protect",
           .help = "copy numbers, URLs, e-mail addresses and placeholders ({name}, %s, <tag>) as "
                   "they are",
           .group = kDemands},
          protect);
  }

  Demands read() const {
    return {.terms = terms.empty() ? Terms() : Terms(terms),
            .protects = protect,
            .avoided = avoid.empty() ? std::vector<std::string>() : read_lines(avoid)};
  }
};

struct TranslateConfig {
  TranslateFiles files;
  DemandFiles demands;
  DecodeConfig decode;
  EngineChoice hardware;
};

/// The lines of a plain file, 0 for what cannot be counted before it is read.
std::int64_t count_lines(int descriptor, const std::string& path) {
  struct stat status {};
  if (path == "-" || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  const MappedFile file(path);
  return std::count(file.bytes().begin(), file.bytes().end(), '\n');
}

/// Writes translations, and shows how far they are where that disturbs nobody.
class Written : public TranslationSink {
 public:
  Written(Output& output, const TranslationFormat& format) : output_(output), format_(format) {}

  void show_progress(std::int64_t lines) { progress_.emplace("translate", "lines", lines); }

  void write(const Translation& translation) override {
    lines_ = translation.line + 1;
    for (const std::string& line : format_.lines(translation)) output_.write_line(line);
    if (translation.unmet.empty() || ++unmet_ > kMostWarnings) return;
    std::string texts;
    for (const std::string& text : translation.unmet) texts += " '" + text + "'";
    log_warning(join_text("line ", lines_, ": the translation lacks", texts));
  }
  void flush() override { output_.flush(); }
  void progress(const TranslationFacts&) override {
    if (progress_) progress_->update(lines_);
  }

 private:
  static constexpr std::int64_t kMostWarnings = 10;

  Output& output_;
  TranslationFormat format_;
  std::int64_t lines_ = 0, unmet_ = 0;
  std::optional<Progress> progress_;
};

void log_summary(const TranslationFacts& facts, double seconds) {
  if (facts.repaired > 0)
    log_warning(join_text(facts.repaired, " lines with invalid UTF-8, which was replaced"));
  if (facts.cut > 0)
    log_warning(join_text(facts.cut,
                          " translations were cut at their maximum length (--max-length-ratio, "
                          "--max-length)"));
  if (facts.unmet > 0)
    log_warning(
        join_text(facts.unmet, " translations lack a text that --terms or --protect ask for"));
  const double rate = seconds > 0 ? static_cast<double>(facts.target_tokens) / seconds : 0;
  char speed[64];
  std::snprintf(speed, sizeof speed, "%.1f s, %.0f pieces/s", seconds, rate);
  std::string text =
      join_text(with_separators(facts.lines), " lines, ", with_separators(facts.source_tokens),
                " pieces in, ", with_separators(facts.target_tokens), " out, ", speed);
  if (facts.empty > 0) text += join_text(", ", with_separators(facts.empty), " lines empty");
  if (facts.split > 0) text += join_text(", ", with_separators(facts.split), " lines split");
  log_facts(text, {{"lines", facts.lines},
                   {"source_tokens", facts.source_tokens},
                   {"target_tokens", facts.target_tokens},
                   {"seconds", seconds},
                   {"tokens_per_second", rate},
                   {"empty", facts.empty},
                   {"split", facts.split},
                   {"repaired", facts.repaired},
                   {"cut", facts.cut},
                   {"unmet", facts.unmet}});
}

/// How the lines of input are understood.
Translator::ReadLine line_reader(const TranslateFiles& files) {
  const std::string name = files.input == "-" ? "standard input" : files.input;
  if (files.json)
    return [name](const std::string& line, std::int64_t number) {
      return read_json_line(line, join_text(name, ":", number + 1));
    };
  if (files.prefix_file.empty()) return {};
  const auto prefixes =
      std::make_shared<const std::vector<std::string>>(read_lines(files.prefix_file));
  return [prefixes, &files](std::string line, std::int64_t number) {
    if (number >= static_cast<std::int64_t>(prefixes->size()))
      throw Error(files.prefix_file, " has ", prefixes->size(), " lines, the input more");
    return LineInput{.text = std::move(line),
                     .prefix = (*prefixes)[static_cast<std::size_t>(number)]};
  };
}

int run_translate(const TranslateConfig& config, const Origins& origins) {
  const TranslateFiles& files = config.files;
  if (files.models.empty()) throw UsageError("--model: name a run folder or a model file");
  if (files.json && !files.prefix_file.empty())
    throw UsageError("--prefix-file: with --json the prefix is a field of each line");
  config.decode.validate();
  Demands demands = config.demands.read();
  const Descriptor input(files.input, STDIN_FILENO, O_RDONLY);
  const std::unique_ptr<Output> output = open_output(files.output);
  const OpenedTranslator model = open_translator(files.models, config.hardware);
  DecodeConfig search = model.search_with(config.decode, origins);
  search.reports_attention = files.alignment != AlignmentFormat::None;
  search.reports_words = files.word_scores || search.reports_attention;
  Translator translator = model.translator(search, std::move(demands));
  const Translator::ReadLine read_line = line_reader(files);

  const std::stop_token stop = stop_token();
  LineReader reader(input, files.input == "-" ? "standard input" : files.input);
  const auto start = std::chrono::steady_clock::now();
  TranslationFacts facts;
  try {
    Written written(*output, files.format(search));
    const bool person_watches =
        isatty(input) == 1 || (files.output == "-" && isatty(STDOUT_FILENO));
    if (!person_watches) written.show_progress(count_lines(input, files.input));
    facts = translator.translate(reader, written, stop, read_line);
  } catch (const ClosedPipe&) {
    return 128 + SIGPIPE;
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  log_summary(facts, spent.count());
  if (stop.stop_requested() && files.output != "-")
    log_warning(files.output + ": not written, as not all lines were translated");
  else
    output->finish();
  return 0;
}

}  // namespace

Command translate_command() {
  const auto config = std::make_shared<TranslateConfig>();
  const auto invocation = std::make_shared<Invocation>();
  std::vector<Field> fields = fields_of(config->files);
  for (auto& part :
       {fields_of(config->demands), fields_of(config->decode), fields_of(config->hardware)})
    fields.insert(fields.end(), part.begin(), part.end());
  return {.name = "translate",
          .summary = "translate lines: from a file, or as a filter in a pipe",
          .fields = std::move(fields),
          .short_flags = {{"m", "model"}, {"i", "input"}, {"o", "output"}, {"b", "beam-size"}},
          .run = [config, invocation] { return run_translate(*config, invocation->origins); },
          .examples = {"translate -m run/ < in.en > out.de",
                       "translate -m run/ -i in.en -o out.de -b 1",
                       "translate -m run/ --n-best 5 < in.en",
                       "translate -m run/ --terms terms.tsv --protect < in.en"},
          .invocation = invocation};
}

}  // namespace dragoman
