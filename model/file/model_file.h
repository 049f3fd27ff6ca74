// The model file: one safetensors file with the weights, the tokenizer, the architecture and how it
// was made; a training checkpoint is the same file with `training.*` tensors and a progress record.
// Checksums (XXH3) of every tensor and of the header are checked on every load. A matrix may be
// stored as whole numbers of 8 bits (I8) beside a tensor of its rows' scales.
//
// `__metadata__` holds, as text: `dragoman.format` (version), `dragoman.config` (ModelConfig,
// JSON), `dragoman.provenance` (JSON), `dragoman.decode_defaults` (JSON; if there are any),
// `dragoman.progress` (of checkpoints), `dragoman.checksums` (JSON, tensor name -> XXH3 of its
// bytes) and `dragoman.header_checksum` (see header_checksum()).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unicode.h"
#include "model/file/model_config.h"
#include "model/file/run_folder.h"
#include "model/file/safetensors.h"

namespace dragoman {

/// The name of the tensor with an I8 matrix's scales, F32 [rows].
inline std::string scales_name(std::string_view parameter) {
  return std::string(parameter) + ".scales";
}

/// The parameters of a model by name, in a file or in the memory of a training.
class ParameterReader {
 public:
  virtual ~ParameterReader() = default;
  virtual const ModelConfig& config() const = 0;
  /// The tensor as it is stored, unchecked; null if there is none.
  virtual const TensorData* find(std::string_view name) const = 0;
  /// The same, checked. Throws Error if there is none, or it is damaged.
  virtual TensorData tensor(std::string_view name) const = 0;
  /// The caller has read the tensor. Its bytes may leave memory if they can be read again.
  virtual void give_back(const TensorData&) const {}

  bool has(std::string_view name) const { return find(name) != nullptr; }
  bool is_int8(std::string_view parameter) const;
  /// The tensors of a parameter: itself, and its scales if it is I8.
  std::vector<TensorData> stored(std::string_view parameter) const;
  /// A parameter's elements as floats, from any stored type. `values` must have as many elements.
  void read_floats(std::string_view parameter, std::span<float> values) const;
  std::vector<float> floats(std::string_view parameter) const;
};

/// The memory that the tensors view must outlive the object.
class ParametersInMemory : public ParameterReader {
 public:
  ParametersInMemory(const ModelConfig& config, std::vector<TensorData> tensors)
      : config_(config), tensors_(std::move(tensors)) {}

  const ModelConfig& config() const override { return config_; }
  const TensorData* find(std::string_view name) const override;
  TensorData tensor(std::string_view name) const override;

 private:
  ModelConfig config_;
  std::vector<TensorData> tensors_;
};

/// A matrix as whole numbers of 8 bits with a scale for each row:
/// values[row, column] is about whole[row * columns + column] * scales[row]. Whole numbers are from
/// -127 to 127. In each row the value of largest magnitude becomes -127 or 127.
struct QuantizedRows {
  std::vector<std::int8_t> whole;
  std::vector<float> scales;
};

/// values [rows, columns], finite.
QuantizedRows quantize_rows(std::span<const float> values, std::int64_t columns);

/// Whether a tensor of floating-point numbers has no NaN and no infinity.
bool all_are_finite(const TensorData& tensor);

/// The beginning of the names of tensors that belong to a checkpoint's optimizer, not to the model.
inline constexpr std::string_view kTrainingPrefix = "training.";

/// The facts about a model's training text that translation depends on.
struct TextRecord {
  /// Fraction of the training pairs that have several sentences on a side, if it was recorded.
  std::optional<double> several_sentences = std::nullopt;
  /// Fraction of copies among the training pairs whose source has nothing to translate, by its kind
  /// ("number"), for the kinds that occur several times in the training text.
  std::map<std::string, double, std::less<>> copied_fractions = {};
  /// The characters that the model has seen in training, if they were recorded: those of the text
  /// as people wrote it, and those that the tokenizers made of them.
  std::optional<SeenCharacters> characters = std::nullopt;
  /// The codes of the languages (ISO 639, with a script or region if one is meant); "": not known.
  std::string source_language = {}, target_language = {};
  bool operator==(const TextRecord&) const = default;
};

/// How a model was made.
struct Provenance : TextRecord {
  std::string command;        ///< the command line
  std::string configuration;  ///< effective configuration, TOML
  std::int64_t seed = 0;
  std::int64_t updates = 0;                     ///< optimizer steps that made these weights
  std::map<std::string, std::string> data;      ///< "training-text", "init-from" -> hash
  std::map<std::string, std::string> versions;  ///< "dragoman", "libtorch", "processor", ...
  std::map<std::string, double> scores;         ///< metric -> value: "valid-bleu", "valid-loss"
  std::vector<std::string> averaged_from;       ///< files, when the weights are an average
  bool operator==(const Provenance&) const = default;
};

/// The characters that a model has seen if it was made of two models with these records: all of
/// them; none are known if one of the models has no record.
std::optional<SeenCharacters> joined_characters(const std::optional<SeenCharacters>& one,
                                                const std::optional<SeenCharacters>& other);

/// The record of an ensemble of two models: what holds for both. Its lines are split if one of the
/// models needs that, a kind of text is copied if both would copy it, and a character is seen if
/// both have seen it; none are known if one of the models has no record.
TextRecord common_record(const TextRecord& one, const TextRecord& other);

/// JSON, one line; scores that are not finite are left out.
std::string to_json(const Provenance& provenance);
/// Missing keys keep their defaults, unknown ones are ignored. Throws Error on wrong types.
Provenance provenance_from_json(std::string_view json);

/// Options of the search that suit the model, as flag ("beam-size") and value. They hold unless
/// the command says something else.
using DecodeDefaults = std::map<std::string, std::string>;

/// The contents of a model file to be written. Views must stay valid during the call.
struct ModelContents {
  ModelConfig config;
  std::string_view tokenizer_source;       ///< bytes of the SentencePiece model
  std::string_view tokenizer_target = {};  ///< empty: the same as the source's
  Provenance provenance = {};
  /// Exactly parameter_shapes(config), and the scales of those that are I8, in any order.
  std::vector<TensorData> parameters = {};
  std::vector<TensorData> training = {};  ///< names start with `training.`
  std::string progress = {};              ///< of a checkpoint; empty: none
  DecodeDefaults decode_defaults = {};
};

/// Returns the size of the file in bytes. Throws Error when the parameters are not those of the
/// configuration, or when writing fails. The old file at `path` is then untouched.
std::size_t write_model_file(const std::filesystem::path& path, const ModelContents& contents);

/// What is checked when a model file is opened, besides the header, the configuration, the
/// tokenizer, and the parameters' names and shapes.
enum class Verify {
  All,     ///< every tensor as well
  Header,  ///< each tensor when tensor() asks for it
};

/// An open model file. Its tensors are aligned to their elements, and all views stay valid as long
/// as it lives. Every error is one line: damaged (and where), truncated, not safetensors, not a
/// model of this program, written by a newer version.
class ModelFileReader : public ParameterReader {
 public:
  explicit ModelFileReader(const std::filesystem::path& path, Verify verify = Verify::All);

  const std::filesystem::path& path() const { return file_.path(); }
  std::size_t size() const { return file_.size(); }  ///< bytes of the file
  const ModelConfig& config() const override { return config_; }
  const Provenance& provenance() const { return provenance_; }
  const DecodeDefaults& decode_defaults() const { return decode_defaults_; }
  const Metadata& metadata() const { return file_.metadata(); }
  /// The checksum of the header, which holds the checksums of all tensors. Files with the same
  /// contents have the same one.
  const std::string& checksum() const;

  std::string_view tokenizer_source() const;
  /// The source's tokenizer if one serves both sides.
  std::string_view tokenizer_target() const;
  bool has_two_tokenizers() const { return has("tokenizer.target"); }

  bool is_checkpoint() const { return !progress().empty(); }
  std::string_view progress() const;  ///< empty if there is none

  /// Names of the parameters in the order of parameter_shapes(config()).
  std::vector<std::string> names() const;
  /// Names of the `training.*` tensors, sorted.
  std::vector<std::string> training_names() const;
  /// All tensors. Only their names, types and shapes have been checked.
  const std::vector<TensorData>& tensors() const { return file_.tensors(); }
  const TensorData* find(std::string_view name) const override { return file_.find(name); }
  /// The tensor, checked now unless it was checked at opening.
  TensorData tensor(std::string_view name) const override;
  void give_back(const TensorData& tensor) const override { MappedFile::give_back(tensor.raw()); }

  /// Checks every tensor's checksum; throws Error naming the first damaged one.
  void verify_all() const;

 private:
  void check_header() const;
  void check_tensors() const;
  void verify(const TensorData& tensor) const;

  SafetensorsFile file_;
  ModelConfig config_;
  Provenance provenance_;
  DecodeDefaults decode_defaults_;
  std::map<std::string, std::string> checksums_;
  bool verified_ = false;  ///< all tensors at opening
};

/// What models that are made of this one take over: all but the tensors and the training. The views
/// are valid as long as the reader.
ModelContents contents_of(const ModelFileReader& model);

/// Rewrites the file and changes only these defaults. Errors: as for reading and writing.
void write_decode_defaults(const std::filesystem::path& path, const DecodeDefaults& defaults);

}  // namespace dragoman
