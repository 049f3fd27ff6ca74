// Folders of CTranslate2 4: model.bin (version 6), config.json, the vocabularies and the
// SentencePiece models.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "extras/formats/foreign_model.h"
#include "model/file/model_file.h"

namespace dragoman {

/// The number type of the stored weights. CTranslate2 computes in the type that its user asks for,
/// whatever the file has.
enum class ExportType {
  Float32,
  Float16,  ///< all parameters
  Int8,     ///< matrices alone, with a scale for each row
};
constexpr std::array<std::string_view, 3> names_of(ExportType) {
  return {"float32", "float16", "int8"};
}

/// The encodings of this many positions are written, so a sentence may have this many pieces. With
/// learned positions it is the model's number.
inline constexpr std::int64_t kExportedPositions = 2048;

/// Makes the folder, which must not exist or must be empty. It gets its name when it is complete.
void write_ctranslate2(const ModelFileReader& model, const std::filesystem::path& folder,
                       ExportType type);

/// The settings of the model's search that are not CTranslate2's own. A folder holds none: its
/// callers ask for them.
std::vector<std::string> settings_for_callers(const DecodeDefaults& defaults);

/// Whether the folder has model.bin and a vocabulary.
bool is_ctranslate2(const std::filesystem::path& folder);

/// A Transformer with encoder and decoder, its weights in float32, float16, bfloat16, int16 or
/// int8. The SentencePiece models are source.spm and target.spm, as write_ctranslate2() has them,
/// or sentencepiece.model. Throws Error that names the file and the fault: one is missing or
/// damaged, or the model has a choice that this program does not know.
ForeignModel read_ctranslate2(const std::filesystem::path& folder);

}  // namespace dragoman
