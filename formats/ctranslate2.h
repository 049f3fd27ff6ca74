// Writes a model as a folder that CTranslate2 4 loads: model.bin (version 6), config.json, the
// vocabularies and the SentencePiece models.
#pragma once

#include <array>
#include <filesystem>
#include <string_view>

#include "model/file/model_file.h"

namespace dragoman {

/// How weight matrices are stored; CTranslate2 computes in the type that it is asked for whatever
/// the file has.
enum class ExportType {
  Float32,
  Float16,  ///< all parameters
  Int8,     ///< matrices alone, with a scale for each row
};
constexpr std::array<std::string_view, 3> names_of(ExportType) {
  return {"float32", "float16", "int8"};
}

/// Positions are written out: a sentence may have so many pieces (learned ones: as many as the
/// model has).
inline constexpr std::int64_t kExportedPositions = 2048;

/// Makes the folder, which must not be there or be empty; it gets its name when it is complete.
void write_ctranslate2(const ModelFileReader& model, const std::filesystem::path& folder,
                       ExportType type);

}  // namespace dragoman
