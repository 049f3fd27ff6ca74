// dragoman translate: lines in, translations out, as a file or as a filter in a pipe.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/command.h"
#include "app/log.h"
#include "app/open_model.h"
#include "app/progress.h"
#include "app/signals.h"
#include "base/amounts.h"
#include "base/error.h"
#include "base/files.h"
#include "inference/translator.h"

namespace dragoman {

namespace {

struct TranslateFiles {
  std::string input = "-", output = "-";
  bool with_scores = false;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    constexpr std::string_view kFiles = "Files";
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
    visit({.name = "with-scores",
           .help = "write \"line ||| translation ||| F0= log-probability ||| score\", as with "
                   "--n-best above 1",
           .group = kFiles,
           .aliases = "with-score"},
          with_scores);
  }
};

struct TranslateConfig {
  ModelOn<EngineChoice> model;
  TranslateFiles files;
  DecodeConfig decode;
};

/// An open file descriptor of our own, or a standard one.
class Descriptor {
 public:
  Descriptor(const std::string& path, int standard, int flags)
      : own_(path != "-"), number_(own_ ? open(path.c_str(), flags | O_CLOEXEC) : standard) {
    if (number_ < 0) throw Error(path, ": cannot open: ", std::strerror(errno));
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (own_) close(number_);
  }
  operator int() const { return number_; }

 private:
  bool own_;
  int number_;
};

/// Where lines go.
class Output {
 public:
  virtual ~Output() = default;
  virtual void write_line(const std::string& line) = 0;
  virtual void flush() {}
  virtual void finish() {}  ///< all is written
};

/// Standard output, or what is no plain file (a named pipe, /dev/null): written as it comes.
class StreamOutput : public Output {
 public:
  explicit StreamOutput(const std::string& path)
      : descriptor_(path, STDOUT_FILENO, O_WRONLY),
        writer_(descriptor_, path == "-" ? "standard output" : path) {}
  void write_line(const std::string& line) override { writer_.write_line(line); }
  void flush() override { writer_.flush(); }

 private:
  Descriptor descriptor_;
  LineWriter writer_;
};

/// A file that is there when it is whole.
class FileOutput : public Output {
 public:
  explicit FileOutput(const std::string& path) : file_(path) {}
  void write_line(const std::string& line) override {
    buffer_ += line;
    buffer_ += '\n';
    if (buffer_.size() < kBlock) return;
    file_.write(buffer_);
    buffer_.clear();
  }
  void finish() override {
    file_.write(buffer_);
    file_.commit();
  }

 private:
  static constexpr std::size_t kBlock = 1 << 16;
  AtomicFile file_;
  std::string buffer_;
};

std::unique_ptr<Output> open_output(const std::string& path) {
  struct stat status {};
  const bool special = stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  if (path == "-" || special) return std::make_unique<StreamOutput>(path);
  return std::make_unique<FileOutput>(path);
}

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
  Written(Output& output, bool with_scores) : output_(output), with_scores_(with_scores) {}

  void show_progress(std::int64_t lines) { progress_.emplace("translate", "lines", lines); }

  void write(const Translation& translation) override {
    lines_ = translation.line + 1;
    if (!with_scores_) return output_.write_line(translation.n_best.front().text);
    for (const TranslatedText& text : translation.n_best) {
      char numbers[96];
      std::snprintf(numbers, sizeof numbers, " ||| F0= %.6f ||| %.6f", text.sum, text.score);
      output_.write_line(join_text(translation.line, " ||| ", text.text, numbers));
    }
  }
  void flush() override { output_.flush(); }
  void progress(const TranslationFacts&) override {
    if (progress_) progress_->update(lines_);
  }

 private:
  Output& output_;
  bool with_scores_;
  std::int64_t lines_ = 0;
  std::optional<Progress> progress_;
};

void log_summary(const TranslationFacts& facts, double seconds) {
  if (facts.repaired > 0)
    log_warning(join_text(facts.repaired, " lines with invalid UTF-8, which was replaced"));
  if (facts.cut > 0)
    log_warning(join_text(facts.cut,
                          " translations were cut at their maximum length (--max-length-ratio, "
                          "--max-length)"));
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
                   {"cut", facts.cut}});
}

int run_translate(const TranslateConfig& config, const Origins& origins) {
  const TranslateFiles& files = config.files;
  config.model.validate();
  config.decode.validate();
  const Descriptor input(files.input, STDIN_FILENO, O_RDONLY);
  const std::unique_ptr<Output> output = open_output(files.output);
  const OpenedTranslator model = open_translator(config.model.model, config.model);
  const DecodeConfig search = model.search_with(config.decode, origins);
  Translator translator = model.translator(search);

  const std::stop_token stop = stop_token();
  LineReader reader(input, files.input == "-" ? "standard input" : files.input);
  const auto start = std::chrono::steady_clock::now();
  TranslationFacts facts;
  try {
    Written written(*output, files.with_scores || search.n_best > 1);
    const bool person_watches =
        isatty(input) == 1 || (files.output == "-" && isatty(STDOUT_FILENO));
    if (!person_watches) written.show_progress(count_lines(input, files.input));
    facts = translator.translate(reader, written, stop);
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
  std::vector<Field> fields = fields_of(config->model);
  for (Field& field : fields_of(config->files)) fields.push_back(std::move(field));
  for (Field& field : fields_of(config->decode)) fields.push_back(std::move(field));
  return {.name = "translate",
          .summary = "translate lines: from a file, or as a filter in a pipe",
          .fields = std::move(fields),
          .short_flags = {{"m", "model"}, {"i", "input"}, {"o", "output"}, {"b", "beam-size"}},
          .run = [config, invocation] { return run_translate(*config, invocation->origins); },
          .examples = {"translate -m run/ < in.en > out.de",
                       "translate -m run/ -i in.en -o out.de -b 1",
                       "translate -m run/ --n-best 5 < in.en"},
          .invocation = invocation};
}

}  // namespace dragoman
