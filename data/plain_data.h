// The files of a training as plain texts: what prepare_data() (data/prepare.h) begins with.
#pragma once

#include <string>
#include <vector>

#include "base/language_codes.h"
#include "data/data_config.h"
#include "data/prepare.h"

namespace dragoman {

/// The settings with two plain texts in place of each file that has both sides, and what was found
/// in those.
struct PlainData {
  DataConfig data;
  std::vector<std::string> summaries;
  std::vector<std::string> valid_names;  ///< of the validation texts, as they were given
  LanguagePair languages;                ///< of the training text; "": not known
};

/// Writes the plain texts into the cache folder, or finds them there (plain_texts_of). Throws as
/// prepare_data() does.
PlainData plain_data(const Preparation& preparation);

}  // namespace dragoman
