#include "app/commands/translate_options.h"

#include <optional>
#include <utility>

#include "app/commands/output_file.h"
#include "base/error.h"
#include "base/text_lines.h"
#include "base/utf8.h"
#include "model/file/model_file.h"

namespace dragoman {

Demands DemandFiles::read() const {
  if (!number_format.empty() && !protect)
    throw UsageError("--number-format ", number_format, ": needs --protect");
  std::vector<std::string> avoided;
  if (!avoid.empty()) avoided = read_lines(avoid);
  for (std::string& text : avoided) text = strip(text);
  return {.terms = terms.empty() ? Terms() : Terms(terms),
          .protects = protect,
          .numbers = number_format.empty() ? std::optional<NumberConversion>()
                                           : NumberConversion(number_format),
          .demand = terms_force ? PhraseDemand::Always : PhraseDemand::Fluent,
          .avoided = std::move(avoided)};
}

std::vector<Field> TranslateConfig::fields() {
  std::vector<Field> all;
  for (auto& part : {fields_of(files), fields_of(demands), fields_of(decode), fields_of(hardware)})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::vector<std::string> TranslateConfig::read_besides() const {
  std::vector<std::string> paths;
  for (const std::string& model : files.models) paths.push_back(resolve_model_path(model).string());
  for (const std::string& path : {files.prefix_file, demands.terms, demands.avoid})
    if (!path.empty()) paths.push_back(path);
  return paths;
}

void TranslateConfig::validate() const {
  if (files.models.empty()) throw UsageError("--model: name a run folder or a model file");
  if (files.json && !files.prefix_file.empty())
    throw UsageError("--prefix-file: with --json the prefix is a field of each line");
  if (files.resume && is_stream(files.output))
    throw UsageError("--resume: needs --output with the name of a file");
  decode.validate();
}

}  // namespace dragoman
