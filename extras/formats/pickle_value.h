// What a pickle of Python holds, as plain values: nothing of it was called. All values belong to a
// Pickle (extras/formats/unpickler.h) and refer to each other, so a value may occur at several
// places and may even hold itself. Whoever walks over them bounds the depth and the number of
// steps.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
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
/// dict or collections.OrderedDict, in its order.
struct PickleDict {
  std::vector<std::pair<const PickleValue*, const PickleValue*>> entries;
};
/// A class or a function by its name: "argparse.Namespace".
struct PickleGlobal {
  std::string_view name;
};
/// An object of a class that is not known here, or the result of a function that was not called.
struct PickleObject {
  const PickleValue* type = nullptr;       ///< mostly a PickleGlobal; null for a persistent id
  const PickleValue* arguments = nullptr;  ///< of the constructor or the function
  const PickleValue* state = nullptr;      ///< null where it has none; mostly a dict of attributes
  std::vector<const PickleValue*> items;   ///< of a class derived from list or set
  PickleDict entries;                      ///< of a class derived from dict
};
/// A part of a tensor's memory; in the values of a checkpoint only where no tensor uses it.
struct PickleStorage {
  std::size_t index = 0;    ///< into Pickle::storages
  std::int64_t offset = 0;  ///< in elements
};

struct PickleValue {
  std::variant<PickleNone, bool, std::int64_t, double, std::string, PickleBytes, PickleBigInt,
               PickleSequence, PickleDict, PickleGlobal, PickleStorage,
               std::unique_ptr<PickleObject>, std::shared_ptr<StridedTensor>>
      value;

  /// Null where the value is of another kind.
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
  /// attributes (argparse.Namespace). Null where there is none.
  const PickleValue* find(std::string_view key) const;
};

/// The tensors of a state dict: a dict of texts -> tensors. Keys of dicts within it are joined by
/// '.'; values that are no tensors, and keys that are no texts, are left out. Throws Error where
/// the value is no dict, is nested more than 32 deep (or holds itself), has more than a million
/// entries, or has a name twice.
std::map<std::string, const StridedTensor*> tensors_of(const PickleValue& state_dict);

}  // namespace dragoman
