// The globals of the pickles of PyTorch's checkpoints (torch/_utils.py, torch/serialization.py),
// and the values that they stand for.
#pragma once

#include <string_view>
#include <vector>

#include "extras/formats/unpickler.h"

namespace dragoman {

/// The value of calling a global with arguments: a tensor, a dict, bytes, or an object that says
/// what would have been called. Throws Error where a known global has impossible arguments.
PickleValue call_of(Pickle& pickle, const PickleValue& function, const PickleValue& arguments);

/// The value of a persistent id: a storage, which is added to the pickle's, or an object. Throws
/// Error for an impossible storage.
PickleValue persistent_value(Pickle& pickle, const PickleValue& id);

/// Gives the tensors their bytes, which `bytes` has for each storage. Throws Error where a tensor
/// reaches outside of its storage.
void attach_storages(Pickle& pickle, const std::vector<std::string_view>& bytes);

}  // namespace dragoman
