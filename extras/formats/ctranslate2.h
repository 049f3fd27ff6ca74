// Folders of CTranslate2 4: model.bin (binary version 6, written since 2021), config.json, the
// vocabularies and the SentencePiece models. CTranslate2's model_spec.py and model.cc define the
// layout of model.bin.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "extras/formats/foreign_model.h"
#include "extras/formats/strided_tensor.h"
#include "model/file/model_file.h"

namespace dragoman {

/// The number type of the stored weights. CTranslate2 computes in the type that its user asks for,
/// whatever the file has.
enum class ExportType {
  Float32,
  Float16,  ///< all parameters
  Int8,     ///< only matrices, with a scale for each row
};
constexpr std::array<std::string_view, 3> names_of(ExportType) {
  return {"float32", "float16", "int8"};
}

/// The number of positions whose encodings are written, and so the most pieces of a sentence. A
/// model with learned positions has a number of its own.
inline constexpr std::int64_t kExportedPositions = 2048;

/// Makes the folder, which must be missing or empty. It gets its name when it is complete. Throws
/// Error for a model that CTranslate2 cannot compute.
void write_ctranslate2(const ModelFileReader& model, const std::filesystem::path& folder,
                       ExportType type);

/// The model's search settings that differ from CTranslate2's defaults. A folder cannot hold them,
/// so its callers have to ask for them.
std::vector<std::string> settings_for_callers(const DecodeDefaults& defaults);

/// Whether the folder has model.bin and a vocabulary.
bool is_ctranslate2(const std::filesystem::path& folder);

/// Reads a Transformer with encoder and decoder; its weights are float32, float16, bfloat16, int16
/// or int8. The SentencePiece models are source.spm and target.spm, as write_ctranslate2() writes
/// them, or sentencepiece.model. Throws Error that names the file and the fault: a file is missing
/// or damaged, or the model has a feature that this program does not know.
ForeignModel read_ctranslate2(const std::filesystem::path& folder);

/// A matrix with its bias, or a normalisation. A matrix of CTranslate2 may hold several of ours,
/// one below the other.
struct CTranslate2Layer {
  std::string theirs;             ///< "encoder/layer_0/self_attention/linear_0"
  std::vector<std::string> ours;  ///< "encoder.layers.0.self_attention.query", ...
  std::int64_t outputs;           ///< of each of ours
  std::int64_t inputs = 0;        ///< of a matrix; 0: a normalisation
};

/// All layers of a model, without its embeddings and positions.
std::vector<CTranslate2Layer> ctranslate2_layers(const ModelConfig& config);

/// The variables of model.bin.
class CTranslate2Model {
 public:
  /// Messages begin with `name`. `bytes` are the whole file and must outlive the object. Throws
  /// Error, one line, for another version, a file that is cut off or longer than its contents,
  /// unknown types, data that do not fit their shape, names that occur twice, and aliases of
  /// nothing.
  CTranslate2Model(const std::string& name, std::string_view bytes);
  CTranslate2Model(const CTranslate2Model&) = delete;

  const std::string& spec() const { return spec_; }  ///< "TransformerSpec"
  /// By name, row-major. Types: float32, float16, bfloat16, int8, int16, int32.
  const std::map<std::string, StridedTensor, std::less<>>& variables() const { return variables_; }
  /// The variable of that name or alias, or null. An alias of an int8 variable implies one of its
  /// scale, as in CTranslate2: "a_scale" -> "b_scale".
  const StridedTensor* find(std::string_view name) const;

 private:
  void parse(std::string_view bytes);
  void add_alias(const std::string& alias, const std::string& variable);

  std::string spec_;
  std::map<std::string, StridedTensor, std::less<>> variables_;
  std::map<std::string, const StridedTensor*, std::less<>> aliases_;  ///< into variables_
};

}  // namespace dragoman
