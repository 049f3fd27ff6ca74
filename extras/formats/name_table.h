// The names of another system's parameters beside ours, where each of their tensors is one of ours,
// row for row.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "extras/formats/foreign_model.h"
#include "extras/formats/foreign_tensors.h"

namespace dragoman {

/// The beginnings of two names that go on alike. '#' stands for the number of a layer.
struct NamePair {
  std::string_view ours, theirs;
};

/// Their name of a parameter: of the longest beginning that fits. Throws Error where none does.
std::string their_name(std::span<const NamePair> table, std::string_view ours);

/// Takes all parameters of model.config but positions, and checks that no tensor is left. Throws
/// Error naming file and tensor.
void take_parameters(ForeignModel& model, ForeignTensors& tensors, std::span<const NamePair> table);

}  // namespace dragoman
