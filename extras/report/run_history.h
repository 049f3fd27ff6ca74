// The content of a run folder's log.jsonl: the numbers of updates and validations, and the samples.
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

/// Attention to one sentence.
struct AttentionLine {
  std::vector<std::string> source, target;  ///< pieces
  std::vector<float> weights;               ///< [target, source], from 0 to 1; empty: none
};

/// One line about an update.
struct LogPoint {
  std::int64_t update = 0;
  std::map<std::string, double> numbers;  ///< every finite number of the line; see text_number()
  std::vector<SampleLine> samples;        ///< of a validation
  AttentionLine attention;                ///< of a validation
  bool best = false;  ///< a validation: the model of this update became the best

  std::optional<double> number(const std::string& name) const;
};

/// The name in LogPoint::numbers of a number of one text: the "bleu" or "chrf" of one of several
/// validation texts, or the "loss" of one of several training files.
std::string text_number(const std::string& metric, const std::string& name);

struct RunHistory {
  std::vector<LogPoint> updates, validations;  ///< by rising update
  std::map<std::string, double> average;  ///< scores of the averaged checkpoints that were kept
  std::optional<std::int64_t> parameters;
  std::string processor, precision;             ///< of the last start; empty: not known
  std::map<std::string, std::string> settings;  ///< of the last start, by name
  std::int64_t left_out = 0, rollbacks = 0;     ///< updates left out, and rollbacks
  std::size_t damaged_lines = 0;                ///< skipped: cut off, or not a line of such a log

  bool empty() const { return updates.empty() && validations.empty(); }
  /// A setting of the last start; empty if it is not known.
  std::string setting(const std::string& name) const;
  /// The names of the texts for which the last validation has this text_number().
  std::vector<std::string> texts_with(const std::string& metric) const;
  /// That of the last validation that has one; null: none has.
  const AttentionLine* last_attention() const;
};

/// Skips lines of unknown types. If the number of the update goes back, earlier lines about later
/// updates are forgotten.
RunHistory read_history(std::string_view log);

}  // namespace dragoman
