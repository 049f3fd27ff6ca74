// dragoman rerank: of several translations of each line takes the one that is most like the others.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/commands.h"
#include "app/commands/input_output.h"
#include "app/frame/log.h"
#include "base/error.h"
#include "base/formatted_text.h"
#include "base/lines.h"
#include "extras/reranking/translation_list.h"

namespace dragoman {

namespace {

struct RerankConfig {
  std::string input = "-", output = "-";
  double temperature = 0.05;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Files", visit);
    field("input", input,
          "translations of each line, as translate --n-best writes them; - for standard input",
          {.placeholder = "FILE"});
    field("output", output, "one translation of each line; - for standard output",
          {.placeholder = "FILE"});
    fields_under("Choice", visit)(
        "temperature", temperature,
        "a translation counts by exp(score / T); the higher, the more all count alike",
        {.placeholder = "T"});
  }

  void check() const {
    if (!(temperature > 0)) throw UsageError("--temperature ", temperature, ": must be above 0");
    if (!is_stream(output)) check_text_output("--output", output, {input});
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

int run_rerank(const RerankConfig& config) {
  config.check();
  constexpr std::size_t kBlock = 256;  // lines that are compared together
  ListReader reader(config.input);
  TextOutput output(config.output);
  std::int64_t lines = 0, changed = 0;
  for (bool at_end = false; !at_end;) {
    std::vector<TranslationList> block;
    while (!at_end && block.size() < kBlock) {
      std::optional<TranslationList> translations = reader.next();
      at_end = !translations;
      if (translations) block.push_back(std::move(*translations));
    }
    if (block.empty()) break;
    const std::vector<std::size_t> chosen = least_risks(block, config.temperature);
    for (std::size_t i = 0; i < block.size(); ++i) {
      output.write(block[i][chosen[i]].text + "\n");
      changed += chosen[i] == 0 ? 0 : 1;
    }
    lines += static_cast<std::int64_t>(block.size());
  }
  output.finish();
  log_facts(join_text(counted(lines, "line"), ", another translation than the first for ",
                      with_separators(changed)),
            {{"lines", lines}, {"changed", changed}});
  return 0;
}

Command rerank_command() {
  const auto config = std::make_shared<RerankConfig>();
  return {.name = "rerank",
          .summary = "of several translations of a line, take the one most like the others",
          .fields = fields_of(*config),
          .short_flags = {{"i", "input"}, {"o", "output"}},
          .run = [config] { return run_rerank(*config); },
          .examples = {"translate -m run/ --n-best 12 --beam-size 12 < in.en | dragoman rerank > "
                       "out.de"}};
}

}  // namespace

Extra reranking_extra(const MakeDeviceEngine&) { return {.commands = {rerank_command()}}; }

}  // namespace dragoman
