// Marian's decoder.yml, which names the files of a model and the search that suits it.
#pragma once

#include <filesystem>

#include "extras/formats/search_setting.h"

namespace dragoman {

struct MarianFiles {
  std::filesystem::path model;                                 ///< .npz
  std::filesystem::path source_vocabulary, target_vocabulary;  ///< .spm or .yml
  ForeignSearch search;
};

/// Whether the path is a model.npz, a decoder.yml, or a folder with one decoder.yml.
bool is_marian(const std::filesystem::path& path);

/// Throws Error where decoder.yml or a file that it names is missing, or where it names several
/// models or one of another kind.
MarianFiles find_marian_files(const std::filesystem::path& path);

}  // namespace dragoman
