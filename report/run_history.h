// What log.jsonl of a run folder tells: the numbers of updates and validations, and the samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

struct SampleLine {
  std::string source, translation, reference;
};

/// One line about an update.
struct LogPoint {
  std::int64_t update = 0;
  std::map<std::string, double> numbers;  ///< every finite number of the line by its name
  std::vector<SampleLine> samples;        ///< of a validation
  bool best = false;  ///< a validation: the model of this update became the best

  std::optional<double> number(const std::string& name) const;
};

struct RunHistory {
  std::vector<LogPoint> updates, validations;  ///< by rising update
  std::map<std::string, double> average;  ///< scores of the averaged checkpoints that were kept
  std::optional<std::int64_t> parameters;
  std::string processor, precision;             ///< of the last start; empty: not known
  std::map<std::string, std::string> settings;  ///< likewise, by name
  std::int64_t left_out = 0, rollbacks = 0;     ///< updates that exploded, and what came of it
  std::size_t damaged_lines = 0;                ///< passed over: cut, or no line of such a log

  bool empty() const { return updates.empty() && validations.empty(); }
};

/// Lines of types that are not known here are passed over. Where the updates go back, what was said
/// before of the later ones is forgotten.
RunHistory read_history(std::string_view log);

}  // namespace dragoman
