// dragoman translate: its flags.
#pragma once

#include <string>
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

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Files", visit);
    field("model", models,
          "run folder or model file; several models with the same tokenizer translate "
          "together, by the mean of their probabilities",
          {.aliases = "models", .placeholder = "FILE"});
    field("text", text, "one text to translate, instead of --input");
    field("input", input, "text to translate, line by line; - for standard input",
          {.aliases = "src,source", .placeholder = "FILE"});
    field("output", output, "translations, line for line; - for standard output",
          {.aliases = "out", .placeholder = "FILE"});
    field("resume", resume,
          "do nothing if --output is already complete (an unfinished one is always "
          "resumed)");
    field("prefix-file", prefix_file,
          "file of prefixes: the translation of line i begins with line i of this file; "
          "a blank line: no prefix; a space at the end of a prefix: its last word is "
          "complete",
          {.placeholder = "FILE"});
    field("json", json,
          "each input line is a JSON object with the field text (optional: prefix, "
          "beam_size, n_best, terms, alignment); each output line is that object with "
          "translation, score and log_probability");
    field("json-errors", json_errors,
          "what to do with an input line that is not such an object; answer: write an object "
          "with the field error; stop: end");
    field("with-scores", with_scores,
          "write \"line ||| translation ||| F0= log-probability ||| score\", as with "
          "--n-best above 1",
          {.aliases = "with-score"});
    field("word-scores", word_scores,
          "add each word's log-probability: \"||| WordScores= -0.1 -0.3\"");
    field("alignment", alignment,
          "add the alignment of the words: hard as pairs source-target (\"||| 0-0 1-2\"), "
          "soft as each target word's attention to all source words");
  }
};

/// Files and flags that say which texts the translations must have.
struct DemandFiles {
  std::string terms;
  std::string avoid;
  bool protect = false;
  bool terms_force = false;
  std::string number_format;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Demands", visit);
    field("terms", terms,
          "glossary with lines of \"source term<tab>target term\": if the source has a "
          "source term, the translation gets its target term",
          {.aliases = "glossary", .placeholder = "FILE"});
    field("avoid", avoid, "file of texts, one per line, that no translation may have",
          {.aliases = "negative-constraints", .placeholder = "FILE"});
    field("protect", protect,
          "copy numbers, URLs, e-mail addresses and placeholders ({name}, %s, <tag>) as "
          "they are");
    field("terms-force", terms_force,
          "write every text that --terms and --protect ask for, even if it spoils the "
          "sentence");
    field(
        "number-format", number_format,
        "with --protect: two languages, for example en-de, or auto for those of the model; numbers "
        "that are copied, and numbers alone, are rewritten from the first language's form to "
        "the second's (6,263 becomes 6.263)");
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
