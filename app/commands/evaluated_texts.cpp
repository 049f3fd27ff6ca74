#include <algorithm>

#include "app/commands/evaluate.h"
#include "app/commands/input_output.h"
#include "app/frame/log.h"
#include "base/formatted_text.h"
#include "base/lines.h"
#include "base/utf8.h"
#include "data/pair_files.h"
#include "data/trained_pairs.h"
#include "evaluation/line_statistics.h"

namespace dragoman {

namespace {

using Lines = std::vector<std::string>;

/// Reads files that must have the same number of lines.
class ParallelReader {
 public:
  Lines read(const std::string& path, ByteOrderMark mark) {
    Lines lines = stripped_lines(read_lines(path, mark));
    if (first_.empty()) {
      require_lines(path, lines.size());
      first_ = path;
      count_ = lines.size();
    }
    require_same_lines(first_, count_, path, lines.size());
    return lines;
  }

 private:
  std::string first_;
  std::size_t count_ = 0;
};

/// Warns of lines whose references are all empty although another of their texts is not.
void warn_of_missing_references(const EvaluatedTexts& texts, const std::string& path) {
  PairsFound found;
  for (std::size_t line = 0; line < texts.references.front().size(); ++line) {
    const auto is_empty = [line](const Lines& text) { return text[line].empty(); };
    if (!std::ranges::all_of(texts.references, is_empty) ||
        (std::ranges::all_of(texts.hypotheses, is_empty) &&
         (texts.source.empty() || is_empty(texts.source))))
      continue;
    found.add(static_cast<std::int64_t>(line) + 1);
  }
  if (found.pairs > 0)
    log_warning(join_text(path, ": ", counted(found.pairs, "empty line"), " (",
                          lines_text(found.lines, found.pairs),
                          "), which count as references of no words, as sacreBLEU counts them; "
                          "--force turns this warning off"));
}

/// Warns of tokenized text, whose scores say little; sacreBLEU does so, too.
void warn_of_tokenized(const Lines& lines, const std::string& path) {
  constexpr std::ptrdiff_t kMany = 100;
  const auto is_tokenized = [](const std::string& line) { return line.ends_with(" ."); };
  if (std::ranges::count_if(lines, is_tokenized) >= kMany)
    log_warning(join_text(path, ": ", kMany,
                          " lines or more end in \" .\": is it tokenized? Scores are meant for "
                          "plain text; --force turns this warning off"));
}

/// Whether a line has letters in upper case.
bool has_capitals(const Lines& lines) {
  return std::ranges::any_of(lines,
                             [](const std::string& line) { return lower_case(line) != line; });
}

/// Whether a line has letters in lower case; digits and Chinese characters have no case.
bool has_small_letters(const Lines& lines) {
  return std::ranges::any_of(lines,
                             [](const std::string& line) { return upper_case(line) != line; });
}

/// Warns of text in lower case alone beside references that have capitals.
void warn_of_lower_case(const Lines& lines, const References& references, const std::string& path) {
  if (has_small_letters(lines) && !has_capitals(lines) &&
      std::ranges::any_of(references, has_capitals))
    log_warning(path +
                ": has no capitals, but the references do: with --lowercase BLEU does not count "
                "them as errors (chrF: --chrf-lowercase); --force turns this warning off");
}

void warn_of_mark(const Lines& lines, const std::string& path) {
  if (lines.front().starts_with(kByteOrderMark))
    log_warning(path +
                ": begins with a byte order mark, which counts as a character, as sacreBLEU counts "
                "it; --force turns this warning off");
}

void warn_of_untranslated(const Lines& lines, const Lines& source, const std::string& path) {
  if (source.empty()) return;
  std::int64_t same = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) same += lines[i] == source[i] ? 1 : 0;
  if (same * 10 > std::ssize(lines) * 9)
    log_warning(join_text(path, ": ", with_separators(same), " of ",
                          counted(std::ssize(lines), "line"),
                          " are those of --src: is it the source text itself? --force turns "
                          "this warning off"));
}

}  // namespace

EvaluatedTexts read_texts(const EvaluateFiles& files, const EvaluateConfig& metrics) {
  EvaluatedTexts texts;
  texts.systems = files.hypotheses;
  texts.training.resize(files.hypotheses.size());
  ParallelReader reader;
  for (const std::string& path : files.hypotheses)
    texts.hypotheses.push_back(reader.read(path, ByteOrderMark::Text));
  if (!files.source.empty()) texts.source = reader.read(files.source, ByteOrderMark::LeftOut);
  for (const std::string& path : files.references)
    texts.references.push_back(reader.read(path, ByteOrderMark::Text));
  if (files.force) return texts;
  warn_of_missing_references(texts, input_name(files.references.front()));
  for (std::size_t s = 0; s < texts.systems.size(); ++s) {
    const Lines& lines = texts.hypotheses[s];
    const std::string name = input_name(texts.systems[s]);
    warn_of_tokenized(lines, name);
    if (!metrics.lowercase) warn_of_lower_case(lines, texts.references, name);
    warn_of_mark(lines, name);
    warn_of_empty(lines, texts.references, name);
    warn_of_untranslated(lines, texts.source, name);
  }
  for (std::size_t r = 0; r < texts.references.size(); ++r)
    warn_of_mark(texts.references[r], input_name(files.references[r]));
  return texts;
}

EvaluatedTexts read_test_set(const std::string& file, const EvaluateOptions& options,
                             const std::filesystem::path& folder) {
  const EvaluateFiles& files = options.files;
  const PlainTexts plain = plain_texts_of(
      file, {files.source_language, options.metrics.tokenizer.target_language, files.columns},
      folder, [](std::int64_t) {});
  log_info(plain.summary);
  EvaluatedTexts texts;
  texts.source = stripped_lines(read_lines(plain.source));
  texts.references.push_back(stripped_lines(read_lines(plain.target)));
  if (!files.force) warn_of_missing_references(texts, file);
  return texts;
}

void warn_of_empty(const Lines& lines, const References& references, const std::string& path) {
  std::int64_t empty = 0;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].empty() && std::ranges::any_of(references, [i](const Lines& reference) {
          return !reference[i].empty();
        }))
      ++empty;
  if (empty * 10 > std::ssize(lines))
    log_warning(join_text(path, ": ", with_separators(empty), " of ",
                          counted(std::ssize(lines), "translation"), empty == 1 ? " is" : " are",
                          " empty: is the file whole, and the right one? --force leaves out this "
                          "warning"));
}

}  // namespace dragoman
