// Reads the models of other systems, whose kind it finds by looking.
#pragma once

#include <filesystem>

#include "extras/formats/foreign_model.h"

namespace dragoman {

/// Throws Error: the path is no model of a known kind (the message says which are, and what this
/// is, if that is known), or the model is damaged or has a choice that this program does not know.
ForeignModel import_model(const std::filesystem::path& path);

}  // namespace dragoman
