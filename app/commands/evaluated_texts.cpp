#include "app/commands/evaluated_texts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "app/commands/open_translator.h"
#include "app/commands/translation_summary.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "base/amounts.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text_lines.h"
#include "base/utf8.h"
#include "evaluation/metric.h"
#include "evaluation/words.h"
#include "inference/model_tokenizers.h"
#include "inference/translate_text.h"
#include "inference/tune_search.h"
#include "tokenizer/lowercase_rules.h"

namespace dragoman {

namespace {

using Lines = std::vector<std::string>;

/// Reads files that must have the same number of lines. White space at the end of a line is left
/// out, as in sacreBLEU.
class ParallelReader {
 public:
  Lines read(const std::string& path, ByteOrderMark mark) {
    Lines lines = read_lines(path, mark);
    if (first_.empty()) {
      if (lines.empty()) throw Error(path, " has no lines to score");
      first_ = path;
      count_ = lines.size();
    }
    require_same_lines(first_, count_, path, lines.size());
    for (std::string& line : lines) line.resize(strip_right(line).size());
    return lines;
  }

 private:
  std::string first_;
  std::size_t count_ = 0;
};

/// Throws Error for a line whose references are all empty where another of its texts is not.
void check_references(const EvaluatedTexts& texts, const std::string& path) {
  for (std::size_t line = 0; line < texts.references.front().size(); ++line) {
    const auto is_empty = [line](const Lines& text) { return text[line].empty(); };
    if (std::all_of(texts.references.begin(), texts.references.end(), is_empty) &&
        !(std::all_of(texts.hypotheses.begin(), texts.hypotheses.end(), is_empty) &&
          (texts.source.empty() || is_empty(texts.source))))
      throw Error(path, ":", line + 1, ": empty; a line must have a reference");
  }
}

/// Warns of tokenized text, whose scores say little; sacreBLEU does so, too.
void warn_of_tokenized(const Lines& lines, const std::string& path) {
  constexpr std::ptrdiff_t kMany = 100;
  const auto is_tokenized = [](const std::string& line) { return line.ends_with(" ."); };
  if (std::count_if(lines.begin(), lines.end(), is_tokenized) >= kMany)
    log_warning(join_text(path, ": ", kMany,
                          " lines and more end in \" .\": is it tokenized? Scores are meant for "
                          "plain text; --force leaves out this warning"));
}

void warn_of_mark(const Lines& lines, const std::string& path) {
  if (lines.front().starts_with(kByteOrderMark))
    log_warning(path +
                ": begins with a byte order mark, which counts as a character, as sacreBLEU counts "
                "it; --force leaves out this warning");
}

/// Warns of empty translations of lines that have a reference.
void warn_of_empty(const Lines& lines, const References& references, const std::string& path) {
  std::int64_t empty = 0;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].empty() && std::ranges::any_of(references, [i](const Lines& reference) {
          return !reference[i].empty();
        }))
      ++empty;
  if (empty * 10 > static_cast<std::int64_t>(lines.size()))
    log_warning(join_text(path, ": ", with_separators(empty), " of ",
                          counted(static_cast<std::int64_t>(lines.size()), "translation"),
                          empty == 1 ? " is" : " are",
                          " empty: is the file whole, and the right one? --force leaves out this "
                          "warning"));
}

void warn_of_untranslated(const Lines& lines, const Lines& source, const std::string& path) {
  if (source.empty()) return;
  std::int64_t same = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) same += lines[i] == source[i] ? 1 : 0;
  if (same * 10 > static_cast<std::int64_t>(lines.size()) * 9)
    log_warning(join_text(path, ": ", with_separators(same), " of ",
                          counted(static_cast<std::int64_t>(lines.size()), "line"),
                          " are those of --src: is it the source text itself? --force leaves out "
                          "this warning"));
}

/// Warns of a choice that few lines decide.
void warn_of_few_lines(const Lines& lines) {
  constexpr std::size_t kFew = 200;
  if (lines.size() < kFew)
    log_warning(join_text("--tune: ", counted(static_cast<std::int64_t>(lines.size()), "line"),
                          lines.size() == 1 ? " says" : " say",
                          " little about the best search; take ", kFew, " or more"));
}

void warn_of_case(const Tokenizer& tokenizer, const EvaluateConfig& metrics,
                  const std::string& path) {
  if (lower_cases(tokenizer) && !metrics.lowercase)
    log_warning(path +
                " writes lower case alone: with --lowercase BLEU does not count the references' "
                "capitals as errors (chrF: --chrf-lowercase)");
}

/// Translates the lines; ends before the last one where a stop is requested.
Lines translate_text(TranslationService& service, const DecodeConfig& search, const Lines& lines) {
  return best_texts(translate_with_progress(service, lines, {.config = search}));
}

std::string name_of(const DecodeConfig& search) {
  return join_text("beam ", search.beam_size, ", length penalty ", text_of(search.length_penalty));
}

/// The model's defaults with the settings that --tune has chosen, and those that it was given: the
/// choice holds with them.
DecodeDefaults defaults_of(DecodeConfig search, const Origins& origins, DecodeDefaults defaults) {
  const std::set<std::string_view> chosen = {"beam-size", "length-penalty", "length-penalty-kind",
                                             "stop"};
  const std::set<std::string_view> of_the_call = {"batch-size", "seed"};
  for (const Field& field : fields_of(search)) {
    const bool is_setting =
        is_given(origins, field.info.name) && !of_the_call.contains(field.info.name);
    if (chosen.contains(field.info.name) || is_setting)
      defaults[std::string(field.info.name)] = field.text();
  }
  return defaults;
}

}  // namespace

EvaluatedTexts read_texts(const EvaluateFiles& files) {
  EvaluatedTexts texts{
      .systems = files.hypotheses, .hypotheses = {}, .references = {}, .source = {}, .updates = {}};
  ParallelReader reader;
  for (const std::string& path : files.hypotheses)
    texts.hypotheses.push_back(reader.read(path, ByteOrderMark::Text));
  if (!files.source.empty()) texts.source = reader.read(files.source, ByteOrderMark::LeftOut);
  for (const std::string& path : files.references)
    texts.references.push_back(reader.read(path, ByteOrderMark::Text));
  check_references(texts, files.references.front());
  if (files.force) return texts;
  for (std::size_t s = 0; s < texts.systems.size(); ++s) {
    warn_of_tokenized(texts.hypotheses[s], texts.systems[s]);
    warn_of_mark(texts.hypotheses[s], texts.systems[s]);
    warn_of_empty(texts.hypotheses[s], texts.references, texts.systems[s]);
    warn_of_untranslated(texts.hypotheses[s], texts.source, texts.systems[s]);
  }
  for (std::size_t r = 0; r < texts.references.size(); ++r)
    warn_of_mark(texts.references[r], files.references[r]);
  return texts;
}

bool add_translations(EvaluatedTexts& texts, const EvaluateOptions& options, const Origins& origins,
                      const DeviceEngine& device_engine) {
  for (const std::string& path : options.files.models) {
    if (options.files.models.size() > 1) log_info("translating with " + path);
    const OpenedTranslator model = open_translator({path}, options.hardware, device_engine);
    if (!options.files.force) warn_of_case(*model.tokenizers.target, options.metrics, path);
    texts.systems.push_back(path);
    texts.updates.push_back(model.updates);
    const DecodeConfig search = model.search_with(options.decode, origins);
    TranslationService service = model.service({.rows = search.batch_size});
    texts.hypotheses.push_back(translate_text(service, search, texts.source));
    if (listen_for_stop().stop_requested()) return false;
    if (!options.files.force) warn_of_empty(texts.hypotheses.back(), texts.references, path);
  }
  if (texts.updates.size() < texts.systems.size()) texts.updates.clear();
  return true;
}

bool add_tuned_translations(EvaluatedTexts& texts, const EvaluateOptions& options,
                            const Origins& origins, const DeviceEngine& device_engine) {
  const std::string& path = options.files.models.front();
  { const AtomicFile tried(resolve_model_path(path)); }  // throws where the file cannot be written
  const OpenedTranslator model = open_translator({path}, options.hardware, device_engine);
  if (!options.files.force) warn_of_case(*model.tokenizers.target, options.metrics, path);
  warn_of_few_lines(texts.source);
  const Metric metric = metrics_of(options.metrics, texts.references, "").front();
  const DecodeConfig start = model.search_with(options.decode, origins);
  TranslationService service = model.service({.rows = start.batch_size});
  const auto score = [&](const DecodeConfig& search) {
    if (listen_for_stop().stop_requested()) return 0.0;
    log_info("translating with " + name_of(search));
    Lines lines = translate_text(service, search, texts.source);
    if (listen_for_stop().stop_requested()) return 0.0;
    const double found = metric.score(metric.count(lines, texts.references).sum());
    texts.systems.push_back(name_of(search));
    texts.hypotheses.push_back(std::move(lines));
    return metric.lower_is_better ? -found : found;
  };
  const DecodeConfig best = tune_search(start, score);
  if (listen_for_stop().stop_requested()) return false;
  const DecodeDefaults tuned = defaults_of(best, origins, model.decode_defaults);
  write_decode_defaults(resolve_model_path(path), tuned);
  const bool as_before = defaults_of(model.search_with({}, {}), {}, model.decode_defaults) == tuned;
  log_info(join_text(path, ": translates with ", name_of(best),
                     as_before ? ", as before: nothing scored better" : " from now on"));
  return true;
}

}  // namespace dragoman
