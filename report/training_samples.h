// How the translations of the same sentences have changed from validation to validation.
#pragma once

#include <string>
#include <vector>

#include "report/training_page.h"

namespace dragoman {

/// For each sentence its source, its reference, and each run's translations; like ones in a row are
/// one, and words that the one before has not are marked.
std::string training_samples(const std::vector<PlottedRun>& runs);

}  // namespace dragoman
