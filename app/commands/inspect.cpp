// dragoman inspect: shows the content of a model file and how it was made.
#include <array>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>

#include "app/commands/commands.h"
#include "app/frame/flag_names.h"
#include "app/frame/log.h"
#include "base/error.h"
#include "base/formatted_text.h"
#include "base/json.h"
#include "base/threads.h"
#include "base/unicode.h"
#include "model/file/model_file.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

namespace {

using Json = nlohmann::ordered_json;

enum class InspectFormat { Text, Json };
constexpr std::array<std::string_view, 2> names_of(InspectFormat) { return {"text", "json"}; }

struct InspectConfig {
  std::string model;
  InspectFormat format = InspectFormat::Text;
  bool check = false;
  std::int64_t threads = 0;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Inspect", visit);
    field("model", model, "run folder or model file", {.placeholder = "FILE"});
    field("format", format, "output for people or for programs");
    field("check", check,
          "check every tensor's checksum, not only the header's and the tokenizer's");
    field("threads", threads,
          "threads that read the weights; 0: all cores that this process may use",
          {.aliases = "cpu-threads"});
  }
};

/// Parameters by the first part of their names, in the order of the module tree.
std::vector<std::pair<std::string, std::int64_t>> parameters_by_part(const ModelFileReader& model) {
  std::vector<std::pair<std::string, std::int64_t>> parts;
  for (const ParameterShape& parameter : parameter_shapes(model.config())) {
    const std::string part = parameter.name.substr(0, parameter.name.find('.'));
    if (parts.empty() || parts.back().first != part) parts.emplace_back(part, 0);
    parts.back().second += parameter.elements();
  }
  return parts;
}

/// Types of the weights: "F32", "BF16, F32".
std::string weight_types(const ModelFileReader& model) {
  std::set<std::string_view> types;
  const auto names = model.names();
  const std::set<std::string_view> parameters(names.begin(), names.end());
  for (const TensorData& tensor : model.tensors())
    if (parameters.contains(tensor.name)) types.insert(name_of(tensor.dtype));
  return joined(types, ", ");
}

Json tokenizer_json(std::string_view bytes, const std::string& path) {
  const TokenizerFacts facts = tokenizer_facts(bytes, path + ": the tokenizer");
  return {{"type", facts.type},
          {"pieces", facts.kinds.size()},
          {"normalization", normalization_of(facts)},
          {"white_space", facts.keeps_white_space ? "kept" : "single spaces"},
          {"lowercase", lower_cases(Tokenizer(std::string(bytes), path))},
          {"byte_fallback", facts.byte_fallback},
          {"bytes", bytes.size()}};
}

/// Names of the weights with NaN or infinite values. If weights are whole numbers, their scales are
/// checked.
std::vector<std::string> broken_weights(const ModelFileReader& model, int threads) {
  const auto& tensors = model.tensors();
  std::vector<std::string> broken(tensors.size());
  parallel_for(std::ssize(tensors), threads, [&](std::int64_t i) {
    const TensorData& tensor = tensors[static_cast<std::size_t>(i)];
    const bool is_real = tensor.dtype == Dtype::F32 || tensor.dtype == Dtype::BF16;
    if (!is_real || tensor.name.starts_with(kTrainingPrefix)) return;
    if (!all_are_finite(tensor)) broken[static_cast<std::size_t>(i)] = tensor.name;
    model.give_back(tensor);
  });
  std::erase(broken, "");
  return broken;
}

/// If it is not JSON, its text.
Json progress_json(const ModelFileReader& model) {
  return with_place(model.path().string() + ": the progress record", [&] {
    try {
      return parse_json<Json>(model.progress());
    } catch (const Json::exception&) {
      return Json(model.progress());
    }
  });
}

/// All facts, for the JSON and for the text.
Json facts_of(const ModelFileReader& model) {
  const std::string path = model.path().string();
  Json facts = {{"path", path},
                {"bytes", model.size()},
                {"kind", model.is_checkpoint() ? "checkpoint" : "model"},
                {"weights", weight_types(model)}};
  std::int64_t total = 0;
  for (const auto& [part, count] : parameters_by_part(model)) total += count;
  facts["parameters"]["total"] = total;
  for (const auto& [part, count] : parameters_by_part(model)) facts["parameters"][part] = count;
  facts["architecture"] = parse_json<Json>(to_json(model.config()));
  facts["tokenizer"]["source"] = tokenizer_json(model.tokenizer_source(), path);
  if (model.has_two_tokenizers())
    facts["tokenizer"]["target"] = tokenizer_json(model.tokenizer_target(), path);
  if (!model.decode_defaults().empty()) facts["search_defaults"] = model.decode_defaults();
  facts["provenance"] = parse_json<Json>(to_json(model.provenance()));
  if (model.is_checkpoint()) {
    facts["training_state"] = model.training_names();
    facts["progress"] = progress_json(model);
  }
  return facts;
}

/// The members with hyphens in their names, as the text has one style of names.
Json hyphenated(const Json& members) {
  Json renamed = Json::object();
  for (const auto& [name, value] : members.items()) renamed[with_hyphens(name)] = value;
  return renamed;
}

/// Scores and fractions are not more exact than this.
std::string two_decimals(const Json& number) { return fixed_text(number.get<double>(), 2); }

std::string value_text(const Json& value) {
  if (value.is_number_integer()) return with_separators(value.get<std::int64_t>());
  return printable(value.is_string() ? value.get<std::string>() : json_text(value));
}

void print_line(std::string_view indent, std::string name, const Json& value) {
  constexpr std::size_t kColumn = 22;
  if (const std::size_t width = indent.size() + name.size(); width < kColumn)
    name.append(kColumn - width, ' ');
  std::cout << indent << printable(name) << "  " << value_text(value) << '\n';
}

/// Prints a heading and its members; nothing if there are none.
void print_section(std::string_view heading, const Json& members) {
  if (members.empty()) return;
  std::cout << '\n' << heading << '\n';
  for (const auto& [name, value] : members.items()) print_line("  ", name, value);
}

/// Prints the configuration without the values of `known`, which stand above it.
void print_configuration(const std::string& toml, const Json& known) {
  if (toml.empty()) return;
  std::cout << "\nconfiguration\n";
  std::istringstream lines(toml);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.front() != '#' && !known.contains(line.substr(0, line.find(' '))))
      std::cout << "  " << printable(line) << '\n';
  }
}

void print_text(const Json& facts) {
  for (const char* name : {"path", "bytes", "kind", "weights"}) print_line("", name, facts[name]);
  print_section("parameters", facts["parameters"]);
  print_section("architecture", facts["architecture"]);
  for (const auto& [side, tokenizer] : facts["tokenizer"].items())
    print_section(facts["tokenizer"].size() == 1 ? "tokenizer of both sides" : side + " tokenizer",
                  hyphenated(tokenizer));
  if (facts.contains("search_defaults"))
    print_section("search, unless a flag says otherwise", facts["search_defaults"]);
  const Json& provenance = facts["provenance"];
  Json made = Json::object();
  made["command"] = provenance["command"];
  made["seed"] = json_text(provenance["seed"]);  // a text: no separators of thousands
  made["updates"] = provenance["updates"];
  for (const char* side : {"source", "target"})
    if (const std::string key = join_text(side, "_language"); provenance.contains(key))
      made[join_text(side, "-language")] = provenance[key];
  if (provenance.contains("several_sentences"))
    made["several-sentences"] = two_decimals(provenance["several_sentences"]);
  if (provenance.contains("copied_fractions"))
    for (const auto& [kind, fraction] : provenance["copied_fractions"].items())
      made[join_text("copies-of-", kind, "-alone")] = two_decimals(fraction);
  if (provenance.contains("characters"))
    for (const char* side : {"source", "target"})
      made[join_text(side, "-characters")] =
          CharacterSet::from_ranges(provenance["characters"][side].get<std::string>()).count();
  print_section("how it was made", made);
  print_section("averaged from", provenance["averaged_from"]);
  print_section("hash of the data", provenance["data"]);
  print_section("versions", provenance["versions"]);
  Json scores = Json::object();
  for (const auto& [name, score] : provenance["scores"].items()) scores[name] = two_decimals(score);
  print_section("scores", scores);
  if (facts.contains("progress")) {
    Json progress = facts["progress"];
    if (progress.is_object())  // the configuration is printed below
      for (const char* name : {"configuration", "asked", "reasons"}) progress.erase(name);
    print_section("progress",
                  progress.is_object() ? hyphenated(progress) : Json{{"record", progress}});
  }
  print_configuration(provenance["configuration"].get<std::string>(), facts["architecture"]);
}

int run(const InspectConfig& config) {
  if (config.model.empty()) throw UsageError("--model: name a run folder or a model file");
  const ModelFileReader model(resolve_model_path(config.model),
                              config.check ? Verify::All : Verify::Header);
  Json facts = facts_of(model);
  const std::vector<std::string> broken = broken_weights(model, threads_to_use(config.threads));
  for (const std::string& name : broken)
    log_warning(join_text(model.path().string(), ": the weights ", name,
                          " have NaN or infinite values; take another file of the run"));
  if (!broken.empty()) facts["broken_weights"] = broken;
  if (config.check) facts["checked"] = true;
  if (config.format == InspectFormat::Json) {
    std::cout << json_text(facts, 2) << '\n';
  } else {
    print_text(facts);
    if (config.check) std::cout << "\nall checksums are right\n";
  }
  return 0;
}

}  // namespace

Command inspect_command() {
  auto config = std::make_shared<InspectConfig>();
  return {.name = "inspect",
          .summary = "show a model's architecture, sizes, how it was made, and its scores",
          .fields = fields_of(*config),
          .positionals = {"model"},
          .short_flags = {{"m", "model"}},
          .run = [config](const Invocation&) { return run(*config); },
          .examples = {"inspect run/", "inspect run/model.safetensors --check --format json"}};
}

}  // namespace dragoman
