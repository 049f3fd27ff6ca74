// Keeps what a run says.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "training/training_observer.h"

namespace dragoman {

struct RecordingObserver : TrainingObserver {
  void updated(const ProgressRecord& progress, double, const Outlook&) override {
    if (after_update) after_update(progress.update);
  }
  void logged(const UpdateFacts& facts, const ProgressRecord&) override {
    logged_updates.push_back(facts.update);
  }
  void validated(const ValidationFacts& facts) override {
    validated_updates.push_back(facts.update);
    if (facts.new_best) best_updates.push_back(facts.update);
  }
  void noticed(const std::string& text) override { notices.push_back(text); }
  void warned(const std::string& text) override { warnings.push_back(text); }

  std::function<void(std::int64_t)> after_update;
  std::vector<std::int64_t> logged_updates, validated_updates, best_updates;
  std::vector<std::string> notices, warnings;
};

}  // namespace dragoman
