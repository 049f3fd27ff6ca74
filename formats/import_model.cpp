#include "formats/import_model.h"

#include "base/error.h"
#include "formats/hf_marian.h"
#include "formats/json_file.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

constexpr const char* kKnown = "; a folder of Hugging Face's MarianMTModel can be imported";

/// What a folder seems to be.
std::string description_of(const fs::path& folder) {
  if (fs::exists(folder / "config.json")) {
    const std::string type = JsonFile(folder / "config.json").text("model_type", "");
    if (!type.empty()) return "is a model of the type \"" + type + "\"";
    if (fs::exists(folder / "model.bin")) return "is a folder of CTranslate2";
  }
  return "is no folder of a model that this program knows";
}

}  // namespace

ImportedModel import_model(const fs::path& path) {
  if (!fs::exists(path)) throw Error(path.string(), ": does not exist");
  if (!fs::is_directory(path)) throw Error(path.string(), ": is a file", kKnown);
  if (is_hf_marian(path)) return read_hf_marian(path);
  throw Error(path.string(), ": ", description_of(path), kKnown);
}

}  // namespace dragoman
