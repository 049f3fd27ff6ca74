#include "model/file/model_file.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"

namespace dragoman {

// Parameters by name

namespace {

/// `tensors` as ParameterReader::stored() gives them.
void copy_stored(const std::vector<TensorData>& tensors, std::span<float> values) {
  if (tensors.size() == 1) return copy_as_floats(tensors[0], values);
  const auto* whole = static_cast<const std::int8_t*>(tensors[0].data);
  const auto* scales = static_cast<const float*>(tensors[1].data);
  const auto columns = static_cast<std::size_t>(tensors[0].shape[1]);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(whole[i]) * scales[i / columns];
}

}  // namespace

bool ParameterReader::is_int8(std::string_view parameter) const {
  const TensorData* found = find(parameter);
  return found != nullptr && found->dtype == Dtype::I8;
}

std::vector<TensorData> ParameterReader::stored(std::string_view parameter) const {
  std::vector<TensorData> tensors = {tensor(parameter)};
  if (is_int8(parameter)) tensors.push_back(tensor(scales_name(parameter)));
  return tensors;
}

void ParameterReader::read_floats(std::string_view parameter, std::span<float> values) const {
  copy_stored(stored(parameter), values);
}

std::vector<float> ParameterReader::floats(std::string_view parameter) const {
  const std::vector<TensorData> tensors = stored(parameter);
  std::vector<float> values(static_cast<std::size_t>(tensors.front().elements()));
  copy_stored(tensors, values);
  return values;
}

const TensorData* ParametersInMemory::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors_, name, &TensorData::name);
  return found == tensors_.end() ? nullptr : &*found;
}

TensorData ParametersInMemory::tensor(std::string_view name) const {
  const TensorData* found = find(name);
  if (found == nullptr) throw Error("there is no tensor ", name);
  return *found;
}

QuantizedRows quantize_rows(std::span<const float> values, std::int64_t columns) {
  constexpr float kLargest = 127;  // -128 is not used, so that the range is symmetric
  QuantizedRows rows;
  rows.whole.reserve(values.size());
  const auto width = static_cast<std::size_t>(columns);
  for (std::size_t begin = 0; begin < values.size(); begin += width) {
    const auto row = values.subspan(begin, width);
    float largest = 0;
    for (const float value : row) largest = std::max(largest, std::abs(value));
    const float inverse = largest > 0 ? kLargest / largest : 0;
    for (const float value : row)
      rows.whole.push_back(static_cast<std::int8_t>(std::lrint(value * inverse)));
    rows.scales.push_back(largest / kLargest);
  }
  return rows;
}

// The parts of the file

namespace {

using Json = nlohmann::json;

constexpr std::string_view kFormatVersion = "1";

const std::string kFormat = "dragoman.format";
const std::string kConfig = "dragoman.config";
const std::string kProvenance = "dragoman.provenance";
const std::string kDecodeDefaults = "dragoman.decode_defaults";
const std::string kProgress = "dragoman.progress";
const std::string kChecksums = "dragoman.checksums";
const std::string kHeaderChecksum = "dragoman.header_checksum";

const std::string kTokenizerSource = "tokenizer.source";
const std::string kTokenizerTarget = "tokenizer.target";

constexpr std::string_view kRestore = "restore the file from a copy";

/// XXH3 over the header's meaning, whatever its spelling: compact JSON with sorted keys of
/// {"metadata": all but this checksum, "tensors": {name: [type, shape]}}.
std::string header_checksum(const Metadata& metadata, std::span<const TensorData> tensors) {
  Json summary = {{"metadata", metadata}, {"tensors", Json::object()}};
  summary["metadata"].erase(kHeaderChecksum);
  for (const TensorData& tensor : tensors)
    summary["tensors"][tensor.name] = {static_cast<int>(tensor.dtype), tensor.shape};
  return hex16(xxh3(json_text(summary)));
}

bool is_float(Dtype dtype) {
  return dtype == Dtype::F32 || dtype == Dtype::BF16 || dtype == Dtype::F16;
}

/// Throws Error if `tensor` (null: none) cannot be the parameter `expected`, or `scales` cannot be
/// its scales.
void check_parameter(const ParameterShape& expected, const TensorData* tensor,
                     const TensorData* scales) {
  if (tensor == nullptr) throw Error("parameter ", expected.name, " is missing");
  if (tensor->shape != expected.shape)
    throw Error("parameter ", expected.name, " has the shape ", shape_text(tensor->shape),
                ", but the model's configuration asks for ", shape_text(expected.shape));
  if (is_float(tensor->dtype)) return;
  if (tensor->dtype != Dtype::I8 || expected.shape.size() != 2)
    throw Error("parameter ", expected.name, " holds no floating-point numbers");
  if (scales == nullptr || scales->dtype != Dtype::F32 ||
      scales->shape != std::vector<std::int64_t>{expected.shape[0]})
    throw Error("parameter ", expected.name, " has no scale for each of its rows");
}

/// The largest bits of the tensor's numbers, without their signs. The bits of infinity and of NaN
/// are larger than those of any finite number.
template <class Bits>
Bits largest_bits(const TensorData& tensor) {
  const auto* bits = static_cast<const Bits*>(tensor.data);
  const std::int64_t count = tensor.elements();
  Bits largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto magnitude = static_cast<Bits>(bits[i] & (static_cast<Bits>(-1) >> 1));
    largest = std::max(largest, magnitude);
  }
  return largest;
}

/// The given parameters in the order of parameter_shapes(), checked to be exactly those.
std::vector<TensorData> ordered_parameters(const ModelContents& contents) {
  std::map<std::string_view, const TensorData*> given;
  for (const TensorData& tensor : contents.parameters) given[tensor.name] = &tensor;
  const auto find = [&given](const std::string& name) {
    const auto found = given.find(name);
    return found == given.end() ? nullptr : found->second;
  };
  std::vector<TensorData> ordered;
  for (const ParameterShape& expected : parameter_shapes(contents.config)) {
    const TensorData* tensor = find(expected.name);
    const TensorData* scales = find(scales_name(expected.name));
    check_parameter(expected, tensor, scales);
    ordered.push_back(*tensor);
    if (tensor->dtype == Dtype::I8) ordered.push_back(*scales);
  }
  if (ordered.size() != contents.parameters.size())
    throw Error("there are ", contents.parameters.size(),
                " parameters, but the model's configuration asks for ", ordered.size());
  return ordered;
}

TensorData bytes_tensor(const std::string& name, std::string_view bytes) {
  return {name, Dtype::U8, {std::ssize(bytes)}, bytes.data()};
}

std::vector<TensorData> all_tensors(const ModelContents& contents) {
  std::vector<TensorData> tensors = ordered_parameters(contents);
  if (contents.tokenizer_source.empty()) throw Error("the source tokenizer is empty");
  tensors.push_back(bytes_tensor(kTokenizerSource, contents.tokenizer_source));
  if (!contents.tokenizer_target.empty())
    tensors.push_back(bytes_tensor(kTokenizerTarget, contents.tokenizer_target));
  for (const TensorData& tensor : contents.training) {
    if (!tensor.name.starts_with(kTrainingPrefix))
      throw Error("tensor ", tensor.name, " does not belong to the training state");
    tensors.push_back(tensor);
  }
  return tensors;
}

Metadata make_metadata(const ModelContents& contents, std::span<const TensorData> tensors) {
  Json checksums = Json::object();
  for (const TensorData& tensor : tensors) checksums[tensor.name] = hex16(xxh3(tensor.raw()));
  Metadata metadata = {{kFormat, std::string(kFormatVersion)},
                       {kConfig, to_json(contents.config)},
                       {kProvenance, to_json(contents.provenance)},
                       {kChecksums, json_text(checksums)}};
  if (!contents.decode_defaults.empty())
    metadata[kDecodeDefaults] = json_text(Json(contents.decode_defaults));
  if (!contents.progress.empty()) metadata[kProgress] = replace_invalid_utf8(contents.progress);
  metadata[kHeaderChecksum] = header_checksum(metadata, tensors);
  return metadata;
}

std::map<std::string, std::string> texts_of(const std::string& json, std::string_view name) {
  const Json object = parse_json_or_discard(json);
  if (!object.is_object()) throw Error(name, ": not a JSON object");
  std::map<std::string, std::string> texts;
  for (const auto& [key, text] : object.items())
    texts[key] = text.is_string() ? text.get<std::string>() : "";
  return texts;
}

}  // namespace

std::optional<SeenCharacters> joined_characters(const std::optional<SeenCharacters>& one,
                                                const std::optional<SeenCharacters>& other) {
  if (!one || !other) return std::nullopt;
  SeenCharacters joined = *one;
  joined.source.join(other->source);
  joined.target.join(other->target);
  return joined;
}

TextRecord common_record(const TextRecord& one, const TextRecord& other) {
  TextRecord common = one;
  // A model without a fraction splits lines, like a model with the smallest one.
  common.several_sentences = std::min(one.several_sentences, other.several_sentences);
  for (const auto& [kind, fraction] : other.copied_fractions) {
    const auto [known, is_new] = common.copied_fractions.emplace(kind, fraction);
    if (!is_new) known->second = std::min(known->second, fraction);
  }
  if (one.source_language != other.source_language) common.source_language.clear();
  if (one.target_language != other.target_language) common.target_language.clear();
  if (!other.characters) common.characters.reset();
  if (!common.characters) return common;
  common.characters->source.intersect(other.characters->source);
  common.characters->target.intersect(other.characters->target);
  return common;
}

std::string to_json(const Provenance& provenance) {
  std::map<std::string, double> scores = provenance.scores;
  std::erase_if(scores, [](const auto& score) { return !std::isfinite(score.second); });
  Json json = {{"command", provenance.command},
               {"configuration", provenance.configuration},
               {"seed", provenance.seed},
               {"updates", provenance.updates},
               {"data", provenance.data},
               {"versions", provenance.versions},
               {"scores", scores},
               {"averaged_from", provenance.averaged_from}};
  if (provenance.several_sentences) json["several_sentences"] = *provenance.several_sentences;
  if (!provenance.source_language.empty()) json["source_language"] = provenance.source_language;
  if (!provenance.target_language.empty()) json["target_language"] = provenance.target_language;
  if (!provenance.copied_fractions.empty()) json["copied_fractions"] = provenance.copied_fractions;
  if (provenance.characters)
    json["characters"] = {{"source", provenance.characters->source.ranges()},
                          {"target", provenance.characters->target.ranges()}};
  return json_text(json);
}

Provenance provenance_from_json(std::string_view text) {
  const Json json = parse_json_or_discard(text);
  if (!json.is_object()) throw Error("provenance: not a JSON object");
  Provenance provenance;
  const auto take = [&json](const char* key, auto& value) {
    const auto found = json.find(key);
    if (found == json.end()) return;
    try {
      found->get_to(value);
    } catch (const Json::exception&) {
      throw Error("provenance: \"", key, "\" has the wrong type");
    }
  };
  take("command", provenance.command);
  take("configuration", provenance.configuration);
  take("seed", provenance.seed);
  take("updates", provenance.updates);
  take("data", provenance.data);
  take("versions", provenance.versions);
  if (json.contains("several_sentences"))
    take("several_sentences", provenance.several_sentences.emplace());
  take("copied_fractions", provenance.copied_fractions);
  take("source_language", provenance.source_language);
  take("target_language", provenance.target_language);
  if (json.contains("characters")) {
    std::map<std::string, std::string> ranges;
    take("characters", ranges);
    provenance.characters = {CharacterSet::from_ranges(ranges["source"]),
                             CharacterSet::from_ranges(ranges["target"])};
  }
  take("scores", provenance.scores);
  take("averaged_from", provenance.averaged_from);
  return provenance;
}

bool all_are_finite(const TensorData& tensor) {
  if (tensor.dtype == Dtype::F32) return largest_bits<std::uint32_t>(tensor) < 0x7F800000;
  return largest_bits<std::uint16_t>(tensor) < (tensor.dtype == Dtype::BF16 ? 0x7F80 : 0x7C00);
}

// Writing and reading

std::size_t write_model_file(const std::filesystem::path& path, const ModelContents& contents) {
  const std::vector<TensorData> tensors =
      with_place(path.string() + ": cannot write", [&] { return all_tensors(contents); });
  return write_safetensors(path, tensors, make_metadata(contents, tensors));
}

ModelFileReader::ModelFileReader(const std::filesystem::path& path, Verify verify) : file_(path) {
  check_header();
  with_place(path.string(), [&] {
    config_ = model_config_from_json(metadata().at(kConfig));
    provenance_ = provenance_from_json(metadata().at(kProvenance));
    if (metadata().contains(kDecodeDefaults))
      decode_defaults_ = texts_of(metadata().at(kDecodeDefaults), "decode_defaults");
    checksums_ = texts_of(metadata().at(kChecksums), "checksums");
    check_tensors();
  });
  this->verify(*file_.find(kTokenizerSource));
  if (has_two_tokenizers()) this->verify(*file_.find(kTokenizerTarget));
  if (verify == Verify::All) verify_all();
  verified_ = verify == Verify::All;
}

/// The version comes first: a newer one may have other checksums.
void ModelFileReader::check_header() const {
  const std::string path = file_.path().string();
  const auto version = metadata().find(kFormat);
  if (version == metadata().end())
    throw Error(path, ": a safetensors file, but not a model of dragoman (its metadata have no ",
                kFormat, ")");
  if (version->second != kFormatVersion)
    throw Error(path, ": the format is '", version->second, "', but this dragoman reads '",
                kFormatVersion, "': use a newer dragoman, or restore the file if it is damaged");
  const auto sum = metadata().find(kHeaderChecksum);
  if (sum == metadata().end() || sum->second != header_checksum(metadata(), file_.tensors()))
    throw Error(path, ": the header is damaged (wrong checksum); ", kRestore);
  for (const std::string& key : {kConfig, kProvenance, kChecksums})
    if (!metadata().contains(key))
      throw Error(path, ": the metadata have no ", key, "; ", kRestore);
}

/// There must be exactly the parameters of the configuration, the tokenizer, and the training
/// state. All must be aligned to their elements, as they are in files of this program.
void ModelFileReader::check_tensors() const {
  std::set<std::string> parameters;
  for (const ParameterShape& expected : parameter_shapes(config_)) {
    const TensorData* tensor = file_.find(expected.name);
    check_parameter(expected, tensor, file_.find(scales_name(expected.name)));
    parameters.insert(expected.name);
    if (tensor->dtype == Dtype::I8) parameters.insert(scales_name(expected.name));
  }
  if (!has(kTokenizerSource)) throw Error("there is no tokenizer in it (", kTokenizerSource, ")");
  for (const TensorData& tensor : file_.tensors()) {
    const bool is_tokenizer = tensor.name == kTokenizerSource || tensor.name == kTokenizerTarget;
    if (is_tokenizer && (tensor.dtype != Dtype::U8 || tensor.shape.size() != 1))
      throw Error("tensor ", tensor.name, " is not a list of bytes");
    if (reinterpret_cast<std::uintptr_t>(tensor.data) % size_of(tensor.dtype) != 0)
      throw Error("tensor ", tensor.name, " is not aligned to its elements");
    if (!is_tokenizer && !parameters.contains(tensor.name) &&
        !tensor.name.starts_with(kTrainingPrefix))
      throw Error("tensor ", tensor.name, " is unknown to this version");
  }
}

void ModelFileReader::verify(const TensorData& tensor) const {
  const auto sum = checksums_.find(tensor.name);
  if (sum == checksums_.end() || sum->second != hex16(xxh3(tensor.raw())))
    throw Error(path().string(), ": tensor ", tensor.name, " is damaged (wrong checksum); ",
                kRestore);
  if (is_float(tensor.dtype) && !all_are_finite(tensor))
    throw Error(path().string(), ": tensor ", tensor.name,
                " has numbers that are not finite, as after a training that diverged; take an "
                "earlier checkpoint");
}

void ModelFileReader::verify_all() const {
  for (const TensorData& tensor : file_.tensors()) verify(tensor);
}

const std::string& ModelFileReader::checksum() const { return metadata().at(kHeaderChecksum); }

std::string_view ModelFileReader::tokenizer_source() const {
  return file_.find(kTokenizerSource)->raw();
}

std::string_view ModelFileReader::tokenizer_target() const {
  return has_two_tokenizers() ? file_.find(kTokenizerTarget)->raw() : tokenizer_source();
}

std::string_view ModelFileReader::progress() const {
  const auto found = metadata().find(kProgress);
  return found == metadata().end() ? std::string_view() : std::string_view(found->second);
}

std::vector<std::string> ModelFileReader::names() const {
  std::vector<std::string> names;
  for (ParameterShape& parameter : parameter_shapes(config_))
    names.push_back(std::move(parameter.name));
  return names;
}

std::vector<std::string> ModelFileReader::training_names() const {
  std::vector<std::string> names;
  for (const TensorData& tensor : file_.tensors())
    if (tensor.name.starts_with(kTrainingPrefix)) names.push_back(tensor.name);
  std::ranges::sort(names);
  return names;
}

TensorData ModelFileReader::tensor(std::string_view name) const {
  const TensorData* found = file_.find(name);
  if (found == nullptr) throw Error(path().string(), ": there is no tensor ", name);
  if (!verified_) verify(*found);
  return *found;
}

ModelContents contents_of(const ModelFileReader& model) {
  return {.config = model.config(),
          .tokenizer_source = model.tokenizer_source(),
          .tokenizer_target = model.has_two_tokenizers() ? model.tokenizer_target() : "",
          .provenance = model.provenance(),
          .decode_defaults = model.decode_defaults()};
}

void write_decode_defaults(const std::filesystem::path& path, const DecodeDefaults& defaults) {
  const ModelFileReader file(path);
  ModelContents contents = contents_of(file);
  contents.progress = file.progress();
  contents.decode_defaults = defaults;
  for (const std::string& name : file.names())
    for (TensorData& tensor : file.stored(name)) contents.parameters.push_back(std::move(tensor));
  for (const std::string& name : file.training_names())
    contents.training.push_back(file.tensor(name));
  write_model_file(path, contents);
}

}  // namespace dragoman
