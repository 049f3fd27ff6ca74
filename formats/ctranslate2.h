// Writes a model as a folder that CTranslate2 4 loads: model.bin (version 6), config.json, the
// vocabularies and the SentencePiece models.
#pragma once

#include <array>
#include <filesystem>
#include <string_view>

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

}  // namespace dragoman
