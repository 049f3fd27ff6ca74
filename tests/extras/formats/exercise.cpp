#include "tests/extras/formats/exercise.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "extras/formats/ctranslate2.h"
#include "extras/formats/foreign_options.h"
#include "extras/formats/numpy.h"
#include "extras/formats/pytorch_checkpoint.h"
#include "extras/formats/unpickler.h"
#include "extras/formats/vocabulary_file.h"
#include "extras/formats/zip_archive.h"

namespace dragoman {

namespace {

constexpr std::size_t kLimit = std::size_t{1} << 24;

volatile unsigned long sink;

/// Under AddressSanitizer a byte outside of the file ends the program here.
void touch(std::string_view bytes) {
  unsigned long sum = 0;
  for (const char c : bytes) sum += static_cast<unsigned char>(c);
  sink = sum;
}

void touch(const StridedTensor& tensor) {
  touch(tensor.bytes);
  try {
    const auto floats = contiguous_floats(tensor);
    if (floats.size() != static_cast<std::size_t>(tensor.elements())) std::abort();
    if (contiguous_bytes(tensor).size() != floats.size() * size_of(tensor.type)) std::abort();
  } catch (const Error&) {
    // The tensor repeats its elements.
  }
}

template <class Body>
bool accepts(Body body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    if (error.what()[0] == '\0') std::abort();
    return false;
  }
}

void check(const std::vector<std::string>& pieces) {
  if (pieces.empty()) std::abort();
  for (const std::string& piece : pieces)
    if (find_invalid_utf8(piece) != piece.npos) std::abort();
}

}  // namespace

bool exercise_zip(std::string_view bytes) {
  return accepts([bytes] {
    ZipArchive archive("file", bytes, kLimit);
    for (const std::string& name : archive.names()) touch(archive.read(name));
  });
}

bool exercise_npy(std::string_view bytes) {
  return accepts([bytes] { touch(parse_npy(bytes)); });
}

bool exercise_npz(std::string_view bytes) {
  return accepts([bytes] {
    NpzFile file("file", bytes, kLimit);
    for (const std::string& name : file.names()) touch(file.read(name));
  });
}

bool exercise_pickle(std::string_view bytes) {
  return accepts([bytes] {
    const Pickle pickle = unpickle(bytes);
    if (pickle.bytes > bytes.size()) std::abort();
    for (const PickleValue& value : pickle.values) {
      value.find("weight");
      if (const auto* global = value.as<PickleGlobal>()) touch(global->name);
      for (const PickleValue* item : value.items())
        if (item->text() != nullptr) touch(*item->text());
    }
    accepts([&pickle] { pickled_options("file", *pickle.root); });
    tensors_of(*pickle.root);
  });
}

bool exercise_pytorch(std::string_view bytes) {
  return accepts([bytes] {
    const PyTorchCheckpoint checkpoint("file", bytes, kLimit);
    for (const auto& [name, tensor] : tensors_of(checkpoint.root())) touch(*tensor);
  });
}

bool exercise_ctranslate2(std::string_view bytes) {
  return accepts([bytes] {
    const CTranslate2Model model("file", bytes);
    for (const auto& [name, tensor] : model.variables()) touch(tensor);
  });
}

bool exercise_json_vocabulary(std::string_view bytes) {
  return accepts([bytes] { check(parse_json_vocabulary(bytes)); });
}

bool exercise_yaml_vocabulary(std::string_view bytes) {
  accepts([bytes] { yaml_settings("file", bytes); });
  return accepts([bytes] { check(parse_yaml_vocabulary(bytes)); });
}

bool exercise_text_vocabulary(std::string_view bytes) {
  return accepts([bytes] { check(parse_text_vocabulary(bytes)); });
}

}  // namespace dragoman
