#include "app/commands/translate_options.h"

#include <algorithm>
#include <filesystem>

#include "app/commands/output_file.h"
#include "app/commands/standard_input.h"
#include "base/error.h"
#include "base/text_lines.h"
#include "inference/demand_choices.h"
#include "model/file/model_file.h"

namespace dragoman {

Demands DemandFiles::read() const {
  return demands_of({.terms = terms.empty() ? Terms() : Terms(terms),
                     .avoid = avoid.empty() ? std::vector<std::string>() : read_lines(avoid),
                     .protect = protect,
                     .terms_force = terms_force,
                     .number_format = number_format});
}

std::vector<Field> TranslateConfig::fields() {
  std::vector<Field> all = fields_of(files);
  const auto add = [&all](const std::vector<Field>& fields) {
    all.insert(all.end(), fields.begin(), fields.end());
  };
  for (const DocumentInput& document : documents) add(document.fields);
  add(fields_of(demands));
  add(fields_of(decode));
  add(fields_of(hardware));
  return all;
}

std::vector<std::string> TranslateConfig::read_besides() const {
  std::vector<std::string> paths;
  for (const std::string& model : files.models) paths.push_back(resolve_model_path(model).string());
  for (const std::string& path : {files.prefix_file, demands.terms, demands.avoid})
    if (!path.empty() && path != "-") paths.push_back(path);
  return paths;
}

/// A word without a flag is a text, unless it names a file.
void TranslateConfig::check_text() const {
  std::error_code none;
  if (files.text.empty()) return;
  if (std::filesystem::exists(files.text, none))
    throw UsageError("unexpected argument '", files.text, "'; did you mean ",
                     std::filesystem::is_directory(files.text, none) || is_safetensors(files.text)
                         ? "-m "
                         : "--input ",
                     files.text, '?');
  if (files.input != "-")
    throw UsageError("--input: the command has a text already; give one of the two");
}

const DocumentInput* TranslateConfig::check() const {
  check_text();
  if (files.models.empty() || std::ranges::find(files.models, "") != files.models.end())
    throw UsageError("--model: name a run folder or a model file");
  if (files.input.empty()) throw UsageError("--input: name a file, or - for standard input");
  if (files.output.empty()) throw UsageError("--output: name a file, or - for standard output");
  if (demands.terms_force && !files.json && demands.terms.empty() && !demands.protect)
    throw UsageError("--terms-force: needs --terms or --protect");
  if (files.json && !files.prefix_file.empty())
    throw UsageError("--prefix-file: with --json the prefix is a field of each line");
  if (files.json && files.with_scores)
    throw UsageError("--with-scores: with --json each answer has its scores; leave the flag out");
  if (!files.json && files.json_errors == JsonErrors::Stop)
    throw UsageError("--json-errors: needs --json");
  if (files.resume && is_stream(files.output))
    throw UsageError("--resume: needs --output with the name of a file");
  check_standard_input({{"--input", files.input},
                        {"--prefix-file", files.prefix_file},
                        {"--terms", demands.terms},
                        {"--avoid", demands.avoid}});
  const auto document = std::ranges::find_if(
      documents, [this](const DocumentInput& input) { return input.is_asked_for(*this); });
  decode.check();
  return document == documents.end() ? nullptr : &*document;
}

}  // namespace dragoman
