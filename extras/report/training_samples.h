// The translations of the same sentences from validation to validation.
#pragma once

#include <string>
#include <vector>

#include "extras/report/training_page.h"

namespace dragoman {

/// For each sentence its source, its reference, and each run's translations. Equal translations in
/// a row are shown once. Words that the translation before lacks are marked.
std::string training_samples(const std::vector<PlottedRun>& runs);

}  // namespace dragoman
