// Shows a training run to a person: log lines and a progress bar.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/frame/terminal.h"
#include "data/trained_pairs.h"
#include "training/settings/stopping.h"
#include "training/training_run.h"

namespace dragoman {

/// "1, 0.2"
std::string weights_text(const std::vector<double>& weights);

void log_data(const PreparedData& data);
/// Logs the kinds of pairs that look wrong, and the command that shows more; "": there is none.
void log_survey(const TextSurvey& survey, const std::string& examination);
/// Warns if a tokenizer that was given changes target lines.
void warn_of_changed_targets(const PreparedData& data);
void log_run(const TrainingRun& run);
void log_end(StopReason reason, const ProgressRecord& progress, const RunFolder& folder,
             const TrainConfig& config);

class TrainingView : public TrainingObserver {
 public:
  /// `updates` are those of the earlier starts. `config` must outlive the view.
  TrainingView(const TrainConfig& config, std::int64_t updates);

  void updated(const ProgressRecord& progress, double loss, const Outlook& outlook) override;
  void logged(const UpdateFacts& facts, const ProgressRecord& progress) override;
  void validated(const ValidationFacts& facts) override;
  void noticed(const std::string& text) override;
  void warned(const std::string& text) override;
  void close() { bar_.reset(); }

 private:
  const TrainConfig& config_;
  bool shown_ = false;      // the first update of this start
  bool validated_ = false;  // in this start: the samples' sources and references are known
  std::optional<Progress> bar_;
};

}  // namespace dragoman
