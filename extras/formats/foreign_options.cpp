#include "extras/formats/foreign_options.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "base/bytes.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/formatted_text.h"
#include "base/json.h"
#include "base/utf8.h"
#include "extras/formats/json_yaml.h"
#include "extras/formats/unpickler.h"

namespace dragoman {

namespace {

constexpr int kMaxOptionDepth = 8;
constexpr std::size_t kMaxOptions = 100'000;
constexpr std::size_t kMaxBytes = std::size_t{1} << 26;  // names and values, all together
constexpr const char* kNone = "~";

/// The text of a value that is not a container.
std::string pickled_text(const PickleValue& value) {
  if (value.as<PickleNone>() != nullptr) return kNone;
  if (const bool* flag = value.as<bool>()) return text_of(*flag);
  if (const std::int64_t* number = value.integer()) return text_of(*number);
  if (const double* number = value.as<double>()) return text_of(*number);
  if (const std::string* text = value.text()) return *text;
  if (const auto* global = value.as<PickleGlobal>()) return std::string(global->name);
  const PickleObject* object = value.object();
  const auto* type =
      object == nullptr || object->type == nullptr ? nullptr : object->type->as<PickleGlobal>();
  return type == nullptr ? "a value without a text" : join_text("an object of ", type->name);
}

class OptionFlattener {
 public:
  ForeignOptions::Values values;

  void walk(const PickleDict& dict, const std::string& prefix, int depth) {
    if (depth > kMaxOptionDepth)
      throw Error("options are nested more than ", kMaxOptionDepth, " deep");
    for (const auto& [key, value] : dict.entries) {
      if (++entries_ > kMaxOptions) throw Error("more than ", kMaxOptions, " options");
      const std::string* name = key->text();
      if (name == nullptr) continue;
      count(prefix.size() + name->size());
      add(prefix + *name, *value, depth);
    }
  }
  /// Whether the value has entries or attributes.
  bool walk_into(const PickleValue& value, const std::string& prefix, int depth) {
    if (const auto* dict = value.as<PickleDict>()) {
      walk(*dict, prefix, depth);
      return true;
    }
    const PickleObject* object = value.object();
    const auto* attributes =
        object == nullptr || object->state == nullptr ? nullptr : object->state->as<PickleDict>();
    if (attributes != nullptr) walk(*attributes, prefix, depth);
    return attributes != nullptr;
  }

 private:
  void add(const std::string& name, const PickleValue& value, int depth) {
    if (const auto* sequence = value.as<PickleSequence>()) {
      std::vector<std::string>& list = values[name];
      entries_ += sequence->items.size();
      if (entries_ > kMaxOptions) throw Error("more than ", kMaxOptions, " options");
      for (const PickleValue* item : sequence->items) list.push_back(counted(*item));
    } else if (!walk_into(value, name + ".", depth + 1)) {
      values[name] = {counted(value)};
    }
  }

  /// A value may occur at many places of a pickle, and is copied to each of them here, so the sum
  /// of the bytes is bounded.
  void count(std::size_t bytes) {
    if (bytes > kMaxBytes - bytes_) throw Error("the options have more than ", kMaxBytes, " bytes");
    bytes_ += bytes;
  }
  std::string counted(const PickleValue& value) {
    if (const std::string* text = value.text()) count(text->size());
    return pickled_text(value);
  }

  std::size_t entries_ = 0, bytes_ = 0;
};

ForeignOptions options_of(const std::string& file, std::vector<YamlEntry> entries) {
  ForeignOptions::Values values;
  for (YamlEntry& entry : entries)
    if (!values.emplace(entry.name, std::move(entry.values)).second)
      throw Error("line ", entry.line, ": ", entry.name, ": occurs twice");
  return {file, std::move(values)};
}

std::string of_side(std::string name, const char* side) {
  const std::size_t at = name.find('*');
  return at == name.npos ? name : name.replace(at, 1, side);
}

bool is_of_both(const std::string& name) { return name.find('*') != name.npos; }

}  // namespace

std::string ForeignOptions::spelled(const std::string& name) const {
  const std::string first = of_side(name, "encoder");
  return spelling_ ? spelling_(values_, first) : first;
}

template <class Get>
auto ForeignOptions::same_of_both(const std::string& name, Get&& get) const {
  auto value = get(of_side(name, "encoder"));
  const std::string second = of_side(name, "decoder");
  require(second, get(second) == value, "is not that of the encoder");
  return value;
}

bool ForeignOptions::has(const std::string& name) const {
  const auto found = values_.find(spelled(name));
  return found != values_.end() && !found->second.empty() && found->second.front() != kNone;
}

std::string ForeignOptions::text(const std::string& name, const std::string& otherwise) const {
  if (is_of_both(name))
    return same_of_both(name, [&](const std::string& side) { return text(side, otherwise); });
  const auto found = values_.find(spelled(name));
  if (found == values_.end() || found->second.empty()) return otherwise;
  require(name, found->second.size() == 1, "is not one value");
  const std::string& value = found->second.front();
  return value == kNone || value == "null" ? otherwise : value;
}

double ForeignOptions::number(const std::string& name, double otherwise) const {
  if (is_of_both(name))
    return same_of_both(name, [&](const std::string& side) { return number(side, otherwise); });
  const std::string value = text(name, "");
  if (value.empty()) return otherwise;
  const std::optional<double> number = number_from<double>(value);
  if (!number || !std::isfinite(*number)) throw Error(place(name), ": ", value, " is not a number");
  return *number;
}

std::int64_t ForeignOptions::integer(const std::string& name, std::int64_t otherwise) const {
  const double value = number(name, static_cast<double>(otherwise));
  require(name, value == std::floor(value), "is not a whole number");
  require(name, std::abs(value) < 0x1p63, "is too large");
  return static_cast<std::int64_t>(value);
}

bool ForeignOptions::flag(const std::string& name, bool otherwise) const {
  if (is_of_both(name))
    return same_of_both(name, [&](const std::string& side) { return flag(side, otherwise); });
  const std::string value = text(name, text_of(otherwise)), small = ascii_lower(value);
  const auto is_one_of = [&small](std::initializer_list<const char*> words) {
    return std::ranges::find(words, small) != words.end();
  };
  if (is_one_of({"true", "yes", "on"})) return true;
  if (is_one_of({"false", "no", "off"})) return false;
  throw Error(place(name), ": ", value, " is neither true nor false");
}

std::vector<std::string> ForeignOptions::list(const std::string& name) const {
  const auto found = values_.find(spelled(name));
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

bool ForeignOptions::is_off(const std::string& name, double off) const {
  if (!has(name)) return true;
  if (list(name).size() > 1) return false;
  const std::string value = text(name, ""), small = ascii_lower(value);
  if (value.empty() || small == "false" || small == "no" || small == "off")
    return value.empty() || off == 0;
  return number_from<double>(value) == off;
}

std::size_t ForeignOptions::choice(const std::string& name, const std::string& otherwise,
                                   std::initializer_list<std::string_view> known) const {
  const std::string value = text(name, otherwise);
  const auto found = std::ranges::find(known, value);
  if (found == known.end())
    throw Error(place(name), ": \"", value, "\" cannot be imported, only ", joined(known, " or "));
  return static_cast<std::size_t>(found - known.begin());
}

std::string ForeignOptions::setting(std::string_view flag, const std::string& name,
                                    std::int64_t otherwise) const {
  return setting_text(flag, integer(name, otherwise), place(name));
}

void ForeignOptions::require(const std::string& name, bool is_it, std::string_view what) const {
  if (!is_it) throw Error(place(name), ": ", what);
}

void ForeignOptions::require_off(std::span<const Feature> features) const {
  for (const auto& [option, what, off] : features)
    require(option, is_off(option, off), join_text(what, " cannot be imported"));
}

std::vector<std::string> ForeignOptions::those_on(std::span<const Feature> features) const {
  std::vector<std::string> names;
  for (const Feature& feature : features)
    if (!is_off(feature.option, feature.off)) names.emplace_back(feature.option);
  return names;
}

void read_numbers(ModelConfig& config, const ForeignOptions& options,
                  std::span<const ConfigOption> table) {
  for (const Field& field : fields_of(config))
    for (const auto& [flag, key, otherwise] : table) {
      if (flag != field.info.name) continue;
      const std::string name(key);
      assign_text(field, field.kind == Field::Kind::Integer
                             ? text_of(options.integer(name, static_cast<std::int64_t>(otherwise)))
                             : text_of(options.number(name, otherwise)));
    }
}

ForeignOptions json_options(const std::string& file, const nlohmann::json& object) {
  ForeignOptions::Values values;
  const auto text_of = [](const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : json_text(value);
  };
  for (const auto& [name, value] : object.items()) {
    std::vector<std::string>& texts = values[name];
    if (value.is_array())
      for (const nlohmann::json& item : value) texts.push_back(text_of(item));
    else if (!value.empty())  // null and {} mean no value
      texts.push_back(text_of(value));
  }
  ForeignOptions options(file, std::move(values));
  options.quote_names();
  return options;
}

ForeignOptions json_options(const std::filesystem::path& path) {
  return json_options(path.string(), read_json_object(path));
}

ForeignOptions yaml_options(const std::string& file, std::string_view text) {
  return with_place(file, [&] { return options_of(file, parse_yaml_map(text)); });
}

ForeignOptions yaml_settings(const std::string& file, std::string_view text) {
  return with_place(file, [&] { return options_of(file, parse_yaml_settings(text)); });
}

ForeignOptions pickled_options(const std::string& file, const PickleValue& value) {
  return with_place(file, [&] {
    OptionFlattener flattener;
    if (!flattener.walk_into(value, "", 0)) throw Error("the options are ", pickled_text(value));
    return ForeignOptions(file, std::move(flattener.values));
  });
}

namespace {

bool has_fractions(ForeignDtype type) {
  return type == ForeignDtype::F16 || type == ForeignDtype::BF16 || type == ForeignDtype::F32 ||
         type == ForeignDtype::F64;
}

}  // namespace

ForeignTensors::ForeignTensors(std::string file,
                               const std::map<std::string, StridedTensor>& tensors)
    : file_(std::move(file)), tensors_(tensors.begin(), tensors.end()) {}

const StridedTensor& ForeignTensors::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw Error(file_, ": has no tensor ", name);
  return found->second;
}

std::vector<float> ForeignTensors::take(const std::string& name,
                                        const std::vector<std::int64_t>& shape) {
  const StridedTensor& tensor = find(name);
  if (tensor.shape != shape)
    throw Error(file_, ": ", name, " has the shape ", shape_text(tensor.shape), ", not ",
                shape_text(shape));
  if (!has_fractions(tensor.type))
    throw Error(file_, ": ", name, " has whole numbers (", name_of(tensor.type), "), not weights");
  std::vector<float> values = contiguous_floats(tensor);
  if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
    throw Error(file_, ": ", name, " has numbers that are not finite");
  taken_.insert(name);
  return values;
}

void ForeignTensors::join(const std::string& name, std::initializer_list<std::string_view> others) {
  for (const std::string_view other : others) {
    const auto found = tensors_.find(other);
    if (found == tensors_.end()) continue;
    tensors_.emplace(name, found->second);
    ignore(other);
  }
}

void ForeignTensors::check_all_taken() const {
  for (const auto& [name, tensor] : tensors_)
    if (!taken_.contains(name))
      throw Error(file_, ": has a tensor ", name, ", which is not known in a model of this kind");
}

std::string their_name(std::span<const NamePair> table, std::string_view ours, int first_layer) {
  constexpr std::string_view kLayers = ".layers.", kDigits = "0123456789";
  std::string pattern(ours);
  std::string_view number;
  if (const std::size_t layers = ours.find(kLayers); layers != ours.npos) {
    const std::string_view rest = ours.substr(layers + kLayers.size());
    number = rest.substr(0, rest.find_first_not_of(kDigits));
    pattern = join_text(ours.substr(0, layers), kLayers, "#", rest.substr(number.size()));
  }
  std::string theirs;
  for (std::string_view rest = pattern; !rest.empty();) {
    NamePair best{rest.substr(0, 1), rest.substr(0, 1)};
    for (const NamePair& pair : table)
      if (rest.starts_with(pair.ours) && pair.ours.size() > best.ours.size()) best = pair;
    theirs += best.theirs;
    rest.remove_prefix(best.ours.size());
  }
  const std::size_t at = theirs.find('#');
  if (at == theirs.npos) return theirs;
  const int layer = first_layer + std::stoi(std::string(number));
  return join_text(theirs.substr(0, at), layer, theirs.substr(at + 1));
}

void take_parameters(ForeignModel& model, ForeignTensors& tensors,
                     std::span<const NamePair> table) {
  const std::string source = their_name(table, "embedding.source.weight"),
                    target = their_name(table, "embedding.target.weight"),
                    output = their_name(table, "output.weight");
  if (model.config.tying == Tying::ThreeWay) tensors.join(source, {target, output});
  if (model.config.tying == Tying::TwoWay) tensors.join(target, {output});
  for (const ParameterShape& parameter : parameter_shapes(model.config))
    if (!parameter.name.starts_with("positions."))
      model.parameters[parameter.name] =
          tensors.take(their_name(table, parameter.name), parameter.shape);
  tensors.check_all_taken();
}

void check_config(const ModelConfig& config, const std::string& file,
                  std::span<const NamePair> keys) {
  try {
    config.check();
  } catch (const UsageError& error) {
    std::string message = error.what();
    for (const auto& [flag, key] : keys) replace_all(message, join_text("--", flag), key);
    throw Error(file, ": ", message);
  }
}

void check_config(const ModelConfig& config, const ForeignOptions& options,
                  std::span<const ConfigOption> table) {
  std::vector<std::string> names;
  for (const ConfigOption& option : table) names.push_back(options.shown(std::string(option.name)));
  std::vector<NamePair> keys;
  for (std::size_t i = 0; i < table.size(); ++i) keys.push_back({table[i].flag, names[i]});
  check_config(config, options.file(), keys);
}

}  // namespace dragoman
