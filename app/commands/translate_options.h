// The flags of dragoman translate.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/commands/hardware_choice.h"
#include "app/commands/translation_format.h"
#include "app/commands/written_translations.h"
#include "base/fields.h"
#include "inference/decode_config.h"
#include "inference/demands.h"

namespace dragoman {

struct TranslateFiles {
  std::vector<std::string> models;
  std::string input = "-", output = "-";
  bool resume = false;
  std::string prefix_file;
  bool json = false;
  JsonErrors json_errors = JsonErrors::Answer;
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
    visit({.name = "resume",
           .help = "go on with --output where an earlier call of the same command was stopped",
           .group = kFiles},
          resume);
    visit(
        {.name = "prefix-file",
         .help =
             "line i is what the translation of line i begins with; a blank line: anything; with a "
             "space at its end: its last word is whole",
         .group = kFiles},
        prefix_file);
    visit(
        {.name = "json",
         .help = "lines are JSON objects: in with the field text (and prefix, beam_size, n_best, "
                 "terms, alignment), out the same object with translation, score, log_probability",
         .group = kFiles},
        json);
    visit(
        {.name = "json-errors",
         .help = "a line that is no such object is answered by one with the field error, or stops "
                 "the work",
         .group = kFiles},
        json_errors);
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
};

/// Files and flags that say which texts the translations must have.
struct DemandFiles {
  std::string terms;
  std::string avoid;
  bool protect = false;
  bool terms_force = false;
  std::string number_format;

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
    visit({.name = "terms-force",
           .help = "put what --terms and --protect ask for into every translation, also where it "
                   "spoils the sentence",
           .group = kDemands},
          terms_force);
    visit(
        {.name = "number-format",
         .help = "languages, as en-de: numbers that --protect copies are written as in the second "
                 "(6,263 becomes 6.263)",
         .group = kDemands},
        number_format);
  }

  Demands read() const;  ///< throws UsageError naming the flag, Error naming the file
};

struct TranslateConfig {
  TranslateFiles files;
  DemandFiles demands;
  DecodeConfig decode;
  EngineChoice hardware;

  std::vector<Field> fields();

  /// Files that are read, besides the input.
  std::vector<std::string> read_besides() const;

  void validate() const;  ///< throws UsageError naming the flag
};

}  // namespace dragoman
