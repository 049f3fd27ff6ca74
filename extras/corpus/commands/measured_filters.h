// What a filter is worth: short runs of dragoman train on the text with and without it, compared by
// the translations of the validation text.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace dragoman {

/// A text to train on.
struct FilteredText {
  std::string name;  ///< of its filter
  std::int64_t pairs = 0;
  std::vector<std::array<std::string, 2>> sides = {};  ///< paths of source and target
};

struct Measurement {
  std::string folder;                ///< of the runs; each has a log and a translation
  std::array<std::string, 2> valid;  ///< paths of the validation text's source and target
  std::int64_t updates = 0;          ///< of a run
  std::int64_t runs = 0;             ///< with each text; they differ in their seeds
};

/// Trains and translates in processes of this program, one after the other, and compares the texts
/// with the first of them. Each other text has the pairs of the one before it, without some; one
/// that is as long as an earlier one is not trained on. Returns a table and a sentence for each
/// other text; "" after a stop. A run that is there already, in whole or in part, is continued.
/// Throws Error that says why a process has failed.
std::string measure_filters(const std::vector<FilteredText>& all, const Measurement& how);

}  // namespace dragoman
