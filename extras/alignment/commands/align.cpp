// dragoman align: links the words of a parallel text that translate each other.
#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/commands/commands.h"
#include "app/commands/input_output.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "app/frame/terminal.h"
#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/lines.h"
#include "base/machine.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "data/alignment/aligner.h"
#include "data/pair_files.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

namespace {

struct AlignConfig {
  std::string source, target;
  std::string pairs;
  PairFileOptions pair_options;
  std::string tokenizer, target_tokenizer;
  std::string output = "-";
  std::string lexicon;
  Symmetrization symmetrization = Symmetrization::GrowDiagFinalAnd;
  bool probabilities = false;
  bool scores = false;
  std::int64_t threads = 0;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Files", visit);
    field("src", source, "sentences, one a line; - for standard input",
          {.aliases = "source", .placeholder = "FILE"});
    field("tgt", target, "their translations, line for line; - for standard input",
          {.aliases = "target,trg", .placeholder = "FILE"});
    field("pairs", pairs,
          "text with both sides in one file, in place of --src and --tgt: TMX, XLIFF, PO, TSV, "
          "JSON lines, or a zip archive of OPUS",
          {.placeholder = "FILE"});
    field("source-lang", pair_options.source_lang,
          "language of the source in a file of --pairs that has several, for example en or en-GB",
          {.placeholder = "CODE"});
    field("target-lang", pair_options.target_lang, "language of the target, likewise",
          {.placeholder = "CODE"});
    field("columns", pair_options.columns,
          "source and target column of a TSV file, or fields of JSON lines: numbers from 1, or "
          "names; default: the first two columns; the fields source and target",
          {.placeholder = "COLUMN"});
    field("output", output, "file of links, a line for each pair; - for standard output",
          {.placeholder = "FILE"});
    field("lexicon", lexicon,
          "also write this file of word translations, as columns with tabs between: source word, "
          "target word, links, and the probability of the target word given the source word, and "
          "the other way round",
          {.placeholder = "FILE"});
    link_fields(visit);
  }

  void check() const;

 private:
  void link_fields(const auto& visit) {
    const auto field = fields_under("Links", visit);
    field("tokenizer", tokenizer,
          "link the pieces of this SentencePiece model, for the source or both sides, in place of "
          "words between white space",
          {.aliases = "source-tokenizer,spm", .placeholder = "FILE"});
    field("target-tokenizer", target_tokenizer, "SentencePiece model for the target side",
          {.placeholder = "FILE"});
    field("symmetrization", symmetrization,
          "which links of the two directions to keep; grow-diag and grow-diag-final-and: those of "
          "both, and neighbours of these; forward: at most one for a target word; backward: at "
          "most one for a source word",
          {.aliases = "symmetrize"});
    field("probabilities", probabilities, "write each link with its probability: 0-0:0.980");
    field("scores", scores,
          "add a tab and how well the sides of the pair fit each other, then a tab and their "
          "log-probability given each other; both per word");
    fields_under("Hardware", visit)("threads", threads,
                                    "threads; 0: all cores that this process may use",
                                    {.aliases = "cpu-threads"});
  }
};

/// Whether the file begins as write_lexicon() writes it: two words and three numbers.
bool is_lexicon(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return std::ranges::count(line, '\t') == 4 &&
         line.find_first_not_of("0123456789.\t", line.find('\t', line.find('\t') + 1)) == line.npos;
}

void AlignConfig::check() const {
  const bool has_sides = !source.empty() || !target.empty();
  if (!pairs.empty() && has_sides)
    throw UsageError("--pairs: has both sides; leave out --src and --tgt");
  if (pairs.empty() && source.empty()) throw UsageError("--src: name the file of sentences");
  if (pairs.empty() && target.empty()) throw UsageError("--tgt: name the file of translations");
  check_columns(pair_options.columns);
  for (const auto& [flag, is_given] : {std::pair("--columns", !pair_options.columns.empty()),
                                       {"--source-lang", !pair_options.source_lang.empty()},
                                       {"--target-lang", !pair_options.target_lang.empty()}})
    if (is_given && pairs.empty()) throw UsageError(flag, ": needs --pairs");
  if (tokenizer.empty() && !target_tokenizer.empty())
    throw UsageError("--target-tokenizer: needs --tokenizer for the source side");
  check_standard_input({{"--src", source}, {"--tgt", target}});
  const std::vector<std::string> inputs = {source, target, pairs, tokenizer, target_tokenizer};
  if (!is_stream(output)) check_text_output("--output", output, inputs);
  if (!lexicon.empty()) {
    check_text_output("--lexicon", lexicon, inputs);
    check_replaced("--lexicon", lexicon, "a lexicon of this command", is_lexicon);
  }
  require_different_outputs({{"--output", output}, {"--lexicon", lexicon}});
}

/// One side of the text as numbers: of words, or of pieces.
class SideReader {
 public:
  explicit SideReader(const std::string& tokenizer) {
    if (!tokenizer.empty()) tokenizer_.emplace(Tokenizer::from_file(tokenizer));
  }

  NumberedLine read(std::string_view line) {
    if (!tokenizer_) return words_.add(line);
    NumberedLine pieces;
    for (const TokenId id : tokenizer_->encode(line)) {
      pieces.words.push_back(static_cast<std::uint32_t>(pieces.ids.size()));
      pieces.ids.push_back(static_cast<WordId>(id) + 1);
    }
    return pieces;
  }
  std::string text(WordId id) const {
    return tokenizer_ ? tokenizer_->piece(static_cast<TokenId>(id - 1)) : words_.text(id);
  }

 private:
  WordNumbers words_;
  std::optional<Tokenizer> tokenizer_;
};

class AlignedText {
 public:
  explicit AlignedText(const AlignConfig& config)
      : source(config.tokenizer),
        target(config.target_tokenizer.empty() ? config.tokenizer : config.target_tokenizer) {
    config.pairs.empty() ? read_sides(config) : read_pairs(config);
  }

  /// The line for a pair, and how many links it has.
  std::pair<std::string, std::size_t> line(std::size_t pair, const Aligner& aligner,
                                           const AlignConfig& config) const;

  SideReader source, target;
  NumberedPairs pairs;
  std::int64_t too_long = 0;  ///< pairs with a side above kLongestAligned, which get no links

 private:
  void read_sides(const AlignConfig& config) {
    const auto from = read_lines(config.source), to = read_lines(config.target);
    require_same_lines(config.source, from.size(), config.target, to.size());
    require_lines(config.source, from.size());
    for (std::size_t i = 0; i < from.size(); ++i) add(from[i], to[i]);
  }
  void read_pairs(const AlignConfig& config) {
    const auto take = [&](std::string_view from, std::string_view to) {
      for (const std::string_view side : {from, to})
        if (find_invalid_utf8(side) != side.npos)
          throw Error(config.pairs, ": pair ", pairs.size() + 1, ": invalid UTF-8", kWayToUtf8);
      add(from, to);
    };
    const PairFileFacts facts =
        read_pair_file(config.pairs, config.pair_options, take, [](std::int64_t) {});
    require_pairs(config.pairs, facts);
    if (!facts.remark.empty()) log_warning(config.pairs + ": " + facts.remark);
    if (facts.left_out > 0)
      log_warning(join_text(config.pairs, ": ", counted(facts.left_out, "unit"),
                            facts.left_out == 1 ? " is left out and gets no line ("
                                                : " are left out and get no line (",
                            facts.first_left_out, ")"));
  }
  void add(std::string_view from, std::string_view to) {
    const NumberedLine of_source = source.read(from), of_target = target.read(to);
    pairs.add(of_source.ids, of_target.ids);
    words_.add(of_source.words, of_target.words);
    if (std::max(of_source.ids.size(), of_target.ids.size()) > kLongestAligned) ++too_long;
  }

  NumberedPairs words_;  ///< for each number of `pairs`, that of the word that it is part of
};

std::pair<std::string, std::size_t> AlignedText::line(std::size_t pair, const Aligner& aligner,
                                                      const AlignConfig& config) const {
  const AlignedPair aligned =
      aligner.align(pairs.source(pair), pairs.target(pair), config.symmetrization);
  std::vector<LinkProbability> links;  // of whole words
  for (const auto& [link, probability] : aligned.links)
    links.push_back({{words_.source(pair)[static_cast<std::size_t>(link.source)],
                      words_.target(pair)[static_cast<std::size_t>(link.target)]},
                     probability});
  // If several links connect parts of the same two words, the most probable one counts.
  std::ranges::sort(links, [](const LinkProbability& a, const LinkProbability& b) {
    return std::pair(a.link, -a.probability) < std::pair(b.link, -b.probability);
  });
  const auto copies = std::ranges::unique(links, {}, &LinkProbability::link);
  links.erase(copies.begin(), copies.end());
  std::string text;
  for (const auto& [link, probability] : links) {
    if (!text.empty()) text += ' ';
    text += pharaoh_text({&link, 1});
    if (config.probabilities) text += ":" + fixed_text(probability, 3);
  }
  if (config.scores)
    text += "\t" + fixed_text(aligned.evidence, 4) + "\t" + fixed_text(aligned.log_probability, 4);
  return {std::move(text), links.size()};
}

/// Returns the number of links; nothing after a stop, when some of the lines are missing.
std::optional<std::int64_t> write_links(const AlignedText& text, const Aligner& aligner,
                                        const AlignConfig& config, int threads) {
  constexpr std::int64_t kWindow = 16'384, kBlock = 64;  // pairs that are written, aligned together
  const std::int64_t pairs = static_cast<std::int64_t>(text.pairs.size());
  const std::stop_token stop = listen_for_stop();
  TextOutput file(config.output);
  Progress progress("align", "pairs", pairs);
  std::int64_t links = 0;
  for (std::int64_t begin = 0; begin < pairs; begin += kWindow) {
    const std::int64_t count = std::min(kWindow, pairs - begin);
    std::vector<std::pair<std::string, std::size_t>> lines(static_cast<std::size_t>(count));
    parallel_for(divide_up(count, kBlock), threads, [&](std::int64_t block) {
      for (std::int64_t i = block * kBlock; i < std::min(count, (block + 1) * kBlock); ++i)
        lines[static_cast<std::size_t>(i)] =
            text.line(static_cast<std::size_t>(begin + i), aligner, config);
    });
    if (stop.stop_requested()) return std::nullopt;
    for (const auto& [line, of_line] : lines) {
      file.write(line);
      file.write("\n");
      links += static_cast<std::int64_t>(of_line);
    }
    progress.update(begin + count);
  }
  file.finish();
  return links;
}

/// Word pairs with at least this many expected links are translations of each other.
constexpr float kListedLinks = 0.5F;

void write_lexicon(const AlignedText& text, const LexicalTable& table, const std::string& path) {
  AtomicFile file(path);
  for (std::size_t word = 1; word < table.sources(); ++word) {
    const auto source = static_cast<WordId>(word);
    std::vector<LexicalEntry> entries = table.entries(source);
    std::ranges::stable_sort(entries, std::ranges::greater(), &LexicalEntry::links);
    for (const LexicalEntry& entry : entries) {
      if (entry.links < kListedLinks) break;
      file.write(join_text(text.source.text(source), '\t', text.target.text(entry.target), '\t',
                           fixed_text(entry.links, 2), '\t',
                           fixed_text(entry.links / table.source_links(source), 4), '\t',
                           fixed_text(entry.links / table.target_links(entry.target), 4), '\n'));
    }
  }
  file.commit();
}

int run_align(const AlignConfig& config) {
  config.check();
  const Stopwatch watch;
  const int threads = threads_to_use(config.threads);
  const AlignedText text(config);
  if (text.too_long > 0)
    log_warning(join_text("no links for ", counted(text.too_long, "pair"),
                          " with a side of more than ", with_separators(kLongestAligned),
                          config.tokenizer.empty() ? " words" : " pieces"));
  const auto learned = [&] {
    Progress progress("learn", "pairs", 0);
    return std::make_unique<Aligner>(
        text.pairs, AlignerTraining{.threads = threads,
                                    .stop = listen_for_stop(),
                                    .report = [&](std::int64_t done, std::int64_t total) {
                                      progress.update({.done = done, .total = total});
                                    }});
  }();
  if (listen_for_stop().stop_requested()) return 1;
  const auto links = write_links(text, *learned, config, threads);
  if (!links) return 1;
  if (!config.lexicon.empty()) write_lexicon(text, learned->table(), config.lexicon);
  const auto pairs = static_cast<std::int64_t>(text.pairs.size());
  log_facts(join_text(counted(pairs, "pair"), ", ", counted(*links, "link"), ", ",
                      fixed_text(watch.seconds(), 1), " s"),
            {{"pairs", pairs}, {"links", *links}, {"seconds", watch.seconds()}});
  return 0;
}

Command align_command() {
  const auto config = std::make_shared<AlignConfig>();
  return {.name = "align",
          .summary = "link the words of a parallel text that translate each other",
          .fields = fields_of(*config),
          .short_flags = {{"o", "output"}},
          .run = [config](const Invocation&) { return run_align(*config); },
          .examples = {"align --src train.en --tgt train.de -o train.align",
                       "align --pairs memory.tmx --source-lang en --target-lang de --lexicon "
                       "words.tsv -o links"}};
}

}  // namespace

Extra alignment_extra(const MakeDeviceEngine&) { return {.commands = {align_command()}}; }

}  // namespace dragoman
