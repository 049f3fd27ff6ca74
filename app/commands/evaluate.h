// dragoman evaluate: its flags, and the texts that it scores.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/commands/commands.h"
#include "app/commands/open_model.h"
#include "app/frame/command_line.h"
#include "base/fields.h"
#include "evaluation/evaluate_config.h"
#include "evaluation/line_statistics.h"
#include "inference/search/decode_config.h"

namespace dragoman {

struct EvaluateFiles {
  std::vector<std::string> hypotheses;
  std::vector<std::string> models;
  std::vector<std::string> references;
  std::string source;
  std::vector<std::string> tests;
  std::string source_language;       ///< in files of `tests`; the target's is BLEU's
  std::vector<std::string> columns;  ///< likewise
  bool force = false;
  bool tune = false;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Files", visit);
    field("hyp", hypotheses,
          "translations to score, one per line; one file for each system, the first of which is "
          "the baseline; - for standard input",
          {.aliases = "hypothesis,hypotheses,input", .placeholder = "FILE"});
    field("model", models,
          "run folders or model files; each translates --src and is scored as one more system",
          {.placeholder = "FILE"});
    field("ref", references,
          "reference translations, line for line; with several files an empty line is a missing "
          "reference",
          {.aliases = "reference,references,refs", .placeholder = "FILE"});
    field("src", source, "source text for the models to translate, line for line with --ref",
          {.aliases = "source", .placeholder = "FILE"});
    field("test", tests,
          "test sets, in place of --src and --ref, with both sides in each file: TMX, XLIFF, PO, "
          "TSV, JSON lines, or a zip archive of OPUS; the models are scored on each, and the mean "
          "is shown",
          {.placeholder = "FILE"});
    field("source-language", source_language,
          "language of the source in files of --test that have several; --target-language is that "
          "of the target",
          {.aliases = "source-lang,src-lang", .placeholder = "CODE"});
    field("columns", columns,
          "source and target column of TSV files, or fields of JSON lines: numbers from 1, or "
          "names",
          {.placeholder = "COLUMN"});
    field("force", force,
          "do not warn of text that looks tokenized, lower-cased, empty or untranslated");
    field("tune", tune,
          "try several beam sizes and length penalties, and write those with the best score (by "
          "the first of --metrics) into the model, where translate finds them");
  }
};

struct EvaluateOptions {
  EvaluateFiles files;
  std::vector<EvaluationPage> pages = {};
  EngineChoice hardware;
  EvaluateConfig metrics;
  DecodeConfig decode;

  /// Throws UsageError naming the flag (flags of the search are for models alone), and Error if
  /// BLEU's tokenizer cannot be loaded. Returns the pages that the flags ask for.
  std::vector<const EvaluationPage*> check(const Origins& origins) const;

  std::vector<Field> fields();
};

/// The place of a model in its training.
struct TrainingPoint {
  std::string run;  ///< OpenedTranslator::run; "": no model
  std::int64_t updates = 0;
};

/// The texts that are scored, as the files have them.
struct EvaluatedTexts {
  std::vector<std::string> systems;                  ///< their names
  std::vector<std::vector<std::string>> hypotheses;  ///< [system][line]
  References references;
  std::vector<std::string> source;      ///< empty: not known
  std::vector<TrainingPoint> training;  ///< [system]; empty with --tune
};

/// Reads the files of --hyp, --ref and --src. Errors: unequal numbers of lines, and those of
/// read_lines(). Unless --force is given, warns of lines without a reference, and of text that
/// looks tokenized, that has no capitals although the references do and --lowercase is not given,
/// that begins with a byte order mark, that is mostly empty, or that is the source itself.
EvaluatedTexts read_texts(const EvaluateFiles& files, const EvaluateConfig& metrics);

/// Reads a file of --test, through plain copies of its sides in the folder. Throws as
/// plain_texts_of() does.
EvaluatedTexts read_test_set(const std::string& file, const EvaluateOptions& options,
                             const std::filesystem::path& folder);

/// Warns of empty translations of lines that have a reference.
void warn_of_empty(const std::vector<std::string>& lines, const References& references,
                   const std::string& path);

}  // namespace dragoman
