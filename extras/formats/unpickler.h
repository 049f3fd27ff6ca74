// Reads pickles of Python (pickletools.py; protocols 2 to 5) that PyTorch wrote, as plain values,
// and runs no code. The globals that state dicts use become values (torch/_utils.py,
// torch/serialization.py). Any other class or function becomes a value that is never called.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "extras/formats/strided_tensor.h"

namespace dragoman {

struct PickleValue;

struct PickleNone {};
struct PickleBytes {
  std::string bytes;
};
/// A whole number beyond 64 bits: two's complement, little endian.
struct PickleBigInt {
  std::string bytes;
};
/// list, tuple or set.
struct PickleSequence {
  enum class Kind { List, Tuple, Set } kind;
  std::vector<const PickleValue*> items;
};
/// dict or collections.OrderedDict, in order.
struct PickleDict {
  std::vector<std::pair<const PickleValue*, const PickleValue*>> entries;
};
/// A class or a function by its name: "argparse.Namespace".
struct PickleGlobal {
  std::string_view name;
};
/// An object of an unknown class, or the result of a function that was not called.
struct PickleObject {
  const PickleValue* type = nullptr;      ///< mostly a PickleGlobal; null for a persistent id
  const PickleValue* state = nullptr;     ///< mostly a dict of attributes; null if it has none
  std::vector<const PickleValue*> items;  ///< of a class derived from list or set
  PickleDict entries;                     ///< of a class derived from dict
};
/// A part of a tensor's memory. The values of a checkpoint have it only if no tensor uses it.
struct PickleStorage {
  std::size_t index = 0;    ///< into Pickle::storages
  std::int64_t offset = 0;  ///< in elements
};

/// All values belong to a Pickle and refer to each other, so a value may occur in several places
/// and may even contain itself. Code that walks over them must bound the depth and the number of
/// steps.
struct PickleValue {
  std::variant<PickleNone, bool, std::int64_t, double, std::string, PickleBytes, PickleBigInt,
               PickleSequence, PickleDict, PickleGlobal, PickleStorage,
               std::unique_ptr<PickleObject>, std::shared_ptr<StridedTensor>>
      value;

  /// Null if the value is of another kind.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
  const std::string* text() const { return as<std::string>(); }
  const std::int64_t* integer() const { return as<std::int64_t>(); }
  const StridedTensor* tensor() const;
  const PickleObject* object() const;
  /// The items of a list, tuple, set, or of an object derived from one; empty for others.
  const std::vector<const PickleValue*>& items() const;
  /// The value of a text key of a dict, of an object derived from dict, or of an object's
  /// attributes (argparse.Namespace). Null if there is none.
  const PickleValue* find(std::string_view key) const;
};

/// The tensors of a state dict: a dict of texts -> tensors. Keys of nested dicts are joined by '.';
/// values that are not tensors, and keys that are not texts, are left out. Throws Error if the
/// value is not a dict, is nested more than 32 deep (or contains itself), has more than a million
/// entries, or has a name twice.
std::map<std::string, const StridedTensor*> tensors_of(const PickleValue& state_dict);

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

/// Reads the pickle at the beginning of `bytes`. Throws Error, without a file's name, if it is cut
/// off or damaged, or has unknown opcodes, over 8 million values, 64 million opcodes or a million
/// tensors.
Pickle unpickle(std::string_view bytes);

/// Gives the tensors their bytes, which `bytes` has for each storage. Throws Error if a tensor
/// reaches beyond its storage.
void attach_storages(Pickle& pickle, const std::vector<std::string_view>& bytes);

/// The value of a call of a global: a tensor, a dict, bytes, or an object that says what would have
/// been called. For unpickle(). Throws Error for impossible arguments of a known global.
PickleValue call_of(Pickle& pickle, const PickleValue& function, const PickleValue& arguments);

/// The value of a persistent id: a storage, which is added to the pickle's, or an object. For
/// unpickle(). Throws Error for an impossible storage.
PickleValue persistent_value(Pickle& pickle, const PickleValue& id);

}  // namespace dragoman
