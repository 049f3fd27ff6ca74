// dragoman translate: its flags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/commands/commands.h"
#include "app/commands/open_model.h"
#include "app/commands/written_translations.h"
#include "base/fields.h"
#include "inference/demands.h"
#include "inference/search/decode_config.h"

namespace dragoman {

struct TranslateFiles {
  std::vector<std::string> models;
  std::string text;
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
           .help = "run folder or model file; several models with the same tokenizer translate "
                   "together, by the mean of their probabilities",
           .group = kFiles,
           .aliases = "models",
           .placeholder = "FILE"},
          models);
    visit({.name = "text", .help = "one text to translate, instead of --input", .group = kFiles},
          text);
    visit({.name = "input",
           .help = "text to translate, line by line; - for standard input",
           .group = kFiles,
           .aliases = "src,source",
           .placeholder = "FILE"},
          input);
    visit({.name = "output",
           .help = "translations, line for line; - for standard output",
           .group = kFiles,
           .aliases = "out",
           .placeholder = "FILE"},
          output);
    visit({.name = "resume",
           .help = "do nothing if --output is already complete (an unfinished one is always "
                   "resumed)",
           .group = kFiles},
          resume);
    visit({.name = "prefix-file",
           .help = "file of prefixes: the translation of line i begins with line i of this file; "
                   "a blank line: no prefix; a space at the end of a prefix: its last word is "
                   "complete",
           .group = kFiles,
           .placeholder = "FILE"},
          prefix_file);
    visit({.name = "json",
           .help = "each input line is a JSON object with the field text (optional: prefix, "
                   "beam_size, n_best, terms, alignment); each output line is that object with "
                   "translation, score and log_probability",
           .group = kFiles},
          json);
    visit({.name = "json-errors",
           .help = "what to do with an input line that is no such object; answer: write an object "
                   "with the field error; stop: end",
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
           .help = "add the alignment of the words: hard as pairs source-target (\"||| 0-0 1-2\"), "
                   "soft as each target word's attention to all source words",
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
           .help = "glossary with lines of \"source term<tab>target term\": if the source has a "
                   "source term, the translation gets its target term",
           .group = kDemands,
           .aliases = "glossary",
           .placeholder = "FILE"},
          terms);
    visit({.name = "avoid",
           .help = "file of texts, one a line, that no translation may have",
           .group = kDemands,
           .aliases = "negative-constraints",
           .placeholder = "FILE"},
          avoid);
    visit({.name = "protect",
           .help = "copy numbers, URLs, e-mail addresses and placeholders ({name}, %s, <tag>) as "
                   "they are",
           .group = kDemands},
          protect);
    visit({.name = "terms-force",
           .help = "write every text that --terms and --protect ask for, even if it spoils the "
                   "sentence",
           .group = kDemands},
          terms_force);
    visit({.name = "number-format",
           .help = "two languages, for example en-de: rewrite numbers that --protect copies, and "
                   "numbers alone, from the first language's form to the second's (6,263 becomes "
                   "6.263)",
           .group = kDemands},
          number_format);
  }

  Demands read() const;  ///< throws UsageError naming the flag, Error naming the file
};

struct TranslateConfig {
  TranslateFiles files;
  std::vector<DocumentInput> documents = {};
  DemandFiles demands;
  DecodeConfig decode;
  EngineChoice hardware;

  std::vector<Field> fields();

  /// Files that are read, besides the input and standard input.
  std::vector<std::string> read_besides() const;

  /// Throws UsageError that names the flag. Returns the document that the input is, or null if it
  /// is a text of lines.
  const DocumentInput* check() const;

 private:
  void check_text() const;
};

}  // namespace dragoman
