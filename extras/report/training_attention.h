// The attention to one validation sentence from validation to validation: how the alignment of
// words comes about.
#pragma once

#include <string>
#include <vector>

#include "extras/report/training_page.h"

namespace dragoman {

/// A matrix for each run whose log has attention, with a slider over its validations. The matrix is
/// that of the last validation until the page's script moves it. Of many validations 60 are kept,
/// evenly spaced. Empty where no run has any.
std::string training_attention(const std::vector<PlottedRun>& runs);

}  // namespace dragoman
