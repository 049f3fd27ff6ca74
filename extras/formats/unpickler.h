// Reads pickles (Python's pickletools.py; protocols 2 to 5) that PyTorch wrote, and runs no code.
// It knows the globals that state dicts use (extras/formats/torch_globals.h). Any other class or
// function becomes a value that is never called.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "extras/formats/pickle_value.h"

namespace dragoman {

/// The memory of tensors, whose bytes lie outside the pickle.
struct StorageFacts {
  std::string key;
  ForeignDtype type = ForeignDtype::U8;  ///< U8 for bytes without a type
  std::int64_t elements = 0;
};

/// A tensor of the pickle. It has no bytes yet, and its extent is not checked.
struct PendingTensor {
  StridedTensor* tensor = nullptr;
  std::size_t storage = 0;  ///< into Pickle::storages
  std::int64_t offset = 0;  ///< of its first element, in elements of its own type
};

struct Pickle {
  std::deque<PickleValue> values;
  std::set<std::string, std::less<>> names;  ///< of globals
  const PickleValue* root = nullptr;
  std::size_t bytes = 0;  ///< of the pickle, up to its end
  std::vector<StorageFacts> storages;
  std::map<std::string, std::size_t> storage_indices;  ///< by key
  std::vector<PendingTensor> tensors;
};

/// Reads the pickle at the beginning of `bytes`. Throws Error, without a file's name, where it is
/// cut off or damaged, or has unknown opcodes, over 8 million values, 64 million opcodes or a
/// million tensors.
Pickle unpickle(std::string_view bytes);

}  // namespace dragoman
