#include "extras/formats/import_model.h"

#include <fstream>
#include <optional>

#include "base/compressed_text.h"
#include "base/error.h"
#include "extras/formats/ctranslate2.h"
#include "extras/formats/foreign_options.h"
#include "extras/formats/hf_marian.h"
#include "extras/formats/marian.h"
#include "model/file/model_file.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

constexpr const char* kKnown =
    "; folders of Hugging Face's MarianMTModel, of CTranslate2 and of JoeyNMT can be imported, "
    "checkpoints of fairseq and OpenNMT-py, and Marian's model.npz with its decoder.yml";

constexpr const char* kBest = "checkpoint_best.pt";  // fairseq's

std::string first_bytes(const fs::path& path, std::size_t count) {
  std::string bytes(count, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

bool is_model_of_ours(const fs::path& path) {
  try {
    return ModelFileReader(path, Verify::Header).size() > 0;
  } catch (const Error&) {
    return false;
  }
}

bool is_binary_marian(const fs::path& path) {
  return path.extension() == ".bin" && first_bytes(path, 8) == std::string("\1\0\0\0\0\0\0\0", 8);
}

constexpr const char* kBinaryMarian =
    "a binary model of Marian, as students with weights of 8 bits (intgemm) are";

/// Describes the kind of a file by its first bytes and its name.
std::string description_of_file(const fs::path& path) {
  const std::string ending = path.extension().string();
  const std::string begin = first_bytes(path, 8);
  if (is_binary_marian(path)) return join_text("is ", kBinaryMarian);
  if (ending == ".safetensors" && is_model_of_ours(path)) return "is a model of this program";
  if (ending == ".safetensors") return "is weights alone, without vocabulary and configuration";
  if (ending == ".gguf") return "is a model of llama.cpp";
  if (ending == ".onnx") return "is a model of ONNX";
  if (begin.starts_with("PK\3\4")) return "is a ZIP archive";
  return "is not a model that this program knows";
}

std::vector<fs::path> with_ending(const fs::path& folder, std::string_view ending) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ending) files.push_back(entry.path());
  return files;
}

/// The checkpoint that a path names, or that a folder has: fairseq's best one, or the only one.
std::optional<fs::path> checkpoint_at(const fs::path& path) {
  if (fs::is_directory(path)) {
    if (fs::exists(path / kBest)) return path / kBest;
    const std::vector<fs::path> files = with_ending(path, ".pt");
    return files.size() == 1 ? std::optional(files.front()) : std::nullopt;
  }
  const std::string begin = first_bytes(path, 2);
  const bool is_checkpoint = begin == "PK" || begin == "\x80\2" || path.extension() == ".pt";
  return is_checkpoint ? std::optional(path) : std::nullopt;
}

ForeignModel read_checkpoint(const fs::path& path) {
  const CheckpointFile file(path);
  if (is_fairseq(file)) return read_fairseq(file);
  if (is_opennmt(file)) return read_opennmt(file);
  const bool is_joeynmt = file.find("model_state") != nullptr;
  throw Error(path.string(), ": ",
              is_joeynmt ? "is a checkpoint of JoeyNMT without config.yaml beside it"
                         : "is a checkpoint of PyTorch, of no system that this program knows",
              kKnown);
}

/// A hint about the .npz files in a folder, which would be a model of Marian if its settings were
/// there. Empty if there are none.
std::string lone_npz(const fs::path& folder) {
  const std::vector<fs::path> files = with_ending(folder, ".npz");
  if (files.empty()) return "";
  return join_text(files.size() == 1 ? files.front().filename().string() : "several .npz files",
                   ", but not exactly one decoder.yml of Marian");
}

/// Reads a checkpoint that was guessed: if it cannot be read, the error names the other files, too.
ForeignModel read_checkpoint_of(const fs::path& folder, const fs::path& checkpoint) {
  const std::string others = lone_npz(folder);
  if (others.empty()) return read_checkpoint(checkpoint);
  try {
    return read_checkpoint(checkpoint);
  } catch (const Error& error) {
    throw Error(error.what(), "; the folder also has ", others);
  }
}

/// Describes the kind of a folder.
std::string description_of_folder(const fs::path& folder) {
  if (fs::exists(folder / "config.json")) {
    const std::string type = json_options(folder / "config.json").text("model_type", "");
    if (!type.empty()) return "is a model of the type \"" + type + "\"";
  }
  if (fs::exists(folder / "model.bin") && !is_binary_marian(folder / "model.bin"))
    return "is a folder of CTranslate2 without a vocabulary";
  if (fs::exists(folder / "model.safetensors") && fs::exists(folder / "config.toml"))
    return "is a run of this program";
  const std::string npz = lone_npz(folder);
  if (npz.empty())
    for (const fs::path& file : with_ending(folder, ".bin"))
      if (is_binary_marian(file))
        return join_text("has ", file.filename().string(), ", ", kBinaryMarian);
  if (with_ending(folder, ".pt").size() > 1)
    return "has several checkpoints; name one" + (npz.empty() ? "" : "; it also has " + npz);
  return npz.empty() ? "is not the folder of a model that this program knows" : "has " + npz;
}

void refuse_pointer(const fs::path& file) {
  if (fs::is_regular_file(file)) refuse_lfs_pointer(first_bytes(file, 200), file.string());
}

/// Throws Error if the file that an error speaks of is a pointer of Git LFS. Pointers that nothing
/// reads do no harm.
void refuse_pointer(const fs::path& path, const Error& error) {
  const auto refuse = [&error](const fs::path& file) {
    if (std::string_view(error.what()).starts_with(file.string() + ":")) refuse_pointer(file);
  };
  refuse(path);
  if (!fs::is_directory(path)) return;
  for (const auto& entry : fs::directory_iterator(path)) refuse(entry.path());
}

ForeignModel read_model(const fs::path& path) {
  try {
    if (fs::is_directory(path) && is_hf_marian(path)) return read_hf_marian(path);
    if (is_ctranslate2(path)) return read_ctranslate2(path);
    if (is_marian(path)) return read_marian(path);
    if (is_joeynmt(path)) return read_joeynmt(path);
    if (const auto checkpoint = checkpoint_at(path))
      return fs::is_directory(path) ? read_checkpoint_of(path, *checkpoint)
                                    : read_checkpoint(*checkpoint);
  } catch (const UsageError& error) {
    throw Error(path.string(), ": ", error.what());
  }
  const bool is_folder = fs::is_directory(path);
  throw Error(path.string(), ": ",
              is_folder ? description_of_folder(path) : description_of_file(path), kKnown);
}

}  // namespace

ForeignModel import_model(const fs::path& path) {
  if (!fs::exists(path)) throw Error(path.string(), ": does not exist");
  if (!fs::is_directory(path) && !fs::is_regular_file(path))
    throw Error(path.string(), ": is neither a file nor a folder");
  try {
    ForeignModel model = read_model(path);
    for (const ForeignVocabulary* side : {&model.source, &model.target}) refuse_pointer(side->file);
    return model;
  } catch (const Error& error) {
    refuse_pointer(path, error);
    throw;
  }
}

}  // namespace dragoman
