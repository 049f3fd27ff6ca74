// The engine of a search on a device, and its scheduler, which keeps the groups of a DeviceModel
// full. The host asks only every few steps which searches have ended, and then refills their
// groups; no shape changes while sentences are under way. A step costs the same whether its groups
// are full or not, so a search has as many groups as sentences wait when it begins, rounded up to a
// power of two. If more come than groups are free, the search ends before a larger one begins.
// If the device's memory runs out, the search begins again in fewer rows.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "inference/device/device_search.h"
#include "inference/device/recorded_steps.h"
#include "inference/scheduler.h"

namespace dragoman {

/// How the host gives the device a step.
enum class StepLaunch {
  Operations,  ///< one by one
  Graph        ///< as RecordedSteps, after RecordedSteps::is_available()
};

class DeviceScheduler : public SentenceScheduler {
 public:
  struct Options {
    std::int64_t rows = 0;            ///< of a step, at most; 0: DeviceModel::preferred_rows()
    std::int64_t steps_per_poll = 1;  ///< steps between two polls by the host
    StepLaunch launch = StepLaunch::Operations;
  };

  /// The model must outlive the scheduler.
  DeviceScheduler(DeviceModel& model, std::vector<TokenId> never_emitted, const Options& options);

  std::int64_t capacity(const DecodeConfig& config) const override;
  bool idle() const override { return active_.empty(); }
  std::int64_t rows_in_use() const override;
  /// Sentences share the device only if their search settings are the same; others wait until it is
  /// idle. So do sentences with required phrases and those without, which have fewer rows.
  std::int64_t count_admissible(const std::deque<SourceSentence>& waiting) const override;
  void admit(std::span<SourceSentence> sentences) override;
  void drop_cancelled() override;
  std::vector<SourceSentence> step() override;
  void fail_all(const std::exception_ptr& error) override;

 private:
  struct Active {
    SourceSentence sentence;
    std::int64_t group;
  };

  /// The settings that sentences must share to be on the device together.
  struct CommonSettings {
    std::shared_ptr<const SearchSettings> settings;
    bool needs_attention = false, has_phrases = false;
    std::int64_t width = 0;  ///< rows of a sentence

    static CommonSettings of(const SourceSentence& first);
    bool takes(const SourceSentence& sentence) const;
  };

  std::int64_t most_groups(std::int64_t width) const {
    return std::max<std::int64_t>(1, rows_ / width);
  }
  std::vector<SourceSentence> take_ended();
  std::int64_t all_groups() const { return std::ssize(active_) + std::ssize(free_groups_); }
  void begin_search(const SourceSentence& first, std::int64_t groups);
  void release(std::span<const std::int64_t> groups);

  DeviceModel& model_;
  const std::vector<TokenId> never_emitted_;
  const std::int64_t rows_, steps_per_poll_;
  const StepLaunch launch_;
  CommonSettings common_;  // of the search
  std::optional<DeviceSearch> search_;
  std::optional<RecordedSteps> recorded_;  // of the search, with StepLaunch::Graph
  std::vector<Active> active_;             // in the order in which they came
  std::vector<std::int64_t> free_groups_;
};

/// If its device's memory runs out, it halves the rows, and the sentences that were under way begin
/// again. Their translations do not depend on the rows.
class HalvingScheduler : public SentenceScheduler {
 public:
  /// Makes a scheduler of `rows` rows on the device, whose memory it frees first. The last
  /// scheduler is gone by then, and may have ended with an exception.
  using Make = std::function<std::shared_ptr<SentenceScheduler>(std::int64_t rows)>;
  /// Learns how many rows are left, on the thread that translates.
  using OnFewerRows = std::function<void(std::int64_t rows)>;

  /// It begins with `rows` rows.
  HalvingScheduler(Make make, std::int64_t rows, OnFewerRows on_fewer_rows);

  std::int64_t capacity(const DecodeConfig& config) const override;
  bool idle() const override { return again_.empty() && scheduler_->idle(); }
  std::int64_t rows_in_use() const override { return scheduler_->rows_in_use(); }
  /// None while sentences wait to begin again.
  std::int64_t count_admissible(const std::deque<SourceSentence>& waiting) const override;
  void admit(std::span<SourceSentence> sentences) override;
  void drop_cancelled() override;
  /// Throws if there is not enough memory for a single row.
  std::vector<SourceSentence> step() override;
  void fail_all(const std::exception_ptr& error) override;

 private:
  /// Does the work. If memory runs out, halves the rows and returns false.
  bool try_to(const std::function<void()>& work);
  void admit_again();

  const Make make_;
  const OnFewerRows on_fewer_rows_;
  std::atomic<std::int64_t> rows_;  // any thread asks for the capacity
  std::shared_ptr<SentenceScheduler> scheduler_;
  std::vector<SourceSentence> under_way_;  // in the order in which they came
  std::deque<SourceSentence> again_;       // those to be admitted again
};

/// The engine of a model on a device. If the device's memory runs out, it searches with fewer rows.
class DeviceEngine : public Engine {
 public:
  /// `never_emitted`: tokens that no row produces (Tokenizer::never_emitted of the target side).
  DeviceEngine(std::unique_ptr<DeviceModel> model, std::vector<TokenId> never_emitted,
               HalvingScheduler::OnFewerRows on_fewer_rows = {},
               StepLaunch launch = StepLaunch::Operations)
      : model_(std::move(model)),
        never_emitted_(std::move(never_emitted)),
        on_fewer_rows_(std::move(on_fewer_rows)),
        launch_(launch) {}

  std::int64_t max_positions() const override { return model_->max_positions(); }
  void check(const AttentionHeads& heads) const override { model_->check(heads); }
  std::shared_ptr<SentenceScheduler> own_scheduler(std::int64_t rows) override;

 private:
  const std::unique_ptr<DeviceModel> model_;
  const std::vector<TokenId> never_emitted_;
  const HalvingScheduler::OnFewerRows on_fewer_rows_;
  const StepLaunch launch_;
};

}  // namespace dragoman
