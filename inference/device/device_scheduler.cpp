#include "inference/device/device_scheduler.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <utility>

#include "base/machine.h"

namespace dragoman {

DeviceScheduler::DeviceScheduler(DeviceModel& model, std::vector<TokenId> never_emitted,
                                 const Options& options)
    : model_(model),
      never_emitted_(std::move(never_emitted)),
      rows_(options.rows > 0 ? options.rows : model.preferred_rows()),
      steps_per_poll_(options.steps_per_poll),
      launch_(options.launch) {}

std::int64_t DeviceScheduler::capacity(const DecodeConfig& config) const {
  return most_groups(SentenceSearch::width(config));
}

std::int64_t DeviceScheduler::rows_in_use() const { return std::ssize(active_) * common_.width; }

DeviceScheduler::CommonSettings DeviceScheduler::CommonSettings::of(const SourceSentence& first) {
  return {.settings = first.settings,
          .needs_attention = first.needs_attention,
          .has_phrases = !first.required.phrases.empty(),
          .width = SentenceSearch::width(first.settings->config, first.required.phrases)};
}

bool DeviceScheduler::CommonSettings::takes(const SourceSentence& sentence) const {
  return settings && sentence.required.phrases.empty() == !has_phrases &&
         sentence.needs_attention == needs_attention &&
         (sentence.settings == settings || *sentence.settings == *settings);
}

std::int64_t DeviceScheduler::count_admissible(const std::deque<SourceSentence>& waiting) const {
  if (waiting.empty()) return 0;
  const SourceSentence& first = waiting.front();
  const bool begins = active_.empty();
  const CommonSettings common = begins ? CommonSettings::of(first) : common_;
  const std::int64_t most = most_groups(common.width);
  const auto end = waiting.begin() + std::min<std::int64_t>(most, std::ssize(waiting));
  const std::int64_t fitting = std::find_if_not(waiting.begin(), end,
                                                [&common](const SourceSentence& sentence) {
                                                  return common.takes(sentence);
                                                }) -
                               waiting.begin();
  if (begins) return fitting;
  const auto free = std::ssize(free_groups_);
  if (all_groups() < most && fitting > free) return 0;
  // The encoder works better on several sentences than on one, so a few free groups stay free.
  if (free * 8 < all_groups()) return 0;
  return std::min(fitting, free);
}

void DeviceScheduler::begin_search(const SourceSentence& first, std::int64_t groups) {
  common_ = CommonSettings::of(first);
  const SearchSettings& settings = *common_.settings;
  recorded_.reset();
  search_.emplace(settings, model_, never_emitted_,
                  DeviceSearch::Options{.groups = groups,
                                        .rows_per_group = common_.width,
                                        .keeps_attention = first.needs_attention});
  model_.shape(groups, common_.width);
  if (launch_ == StepLaunch::Graph) recorded_.emplace(model_, *search_);
  free_groups_.clear();
  free_groups_.reserve(static_cast<std::size_t>(groups));  // release() takes no memory
  for (std::int64_t group = groups; group-- > 0;) free_groups_.push_back(group);
}

void DeviceScheduler::admit(std::span<SourceSentence> sentences) {
  if (sentences.empty()) return;
  const c10::InferenceMode inference;
  if (active_.empty()) {
    const auto wanted = std::min(static_cast<std::int64_t>(std::bit_ceil(sentences.size())),
                                 most_groups(CommonSettings::of(sentences.front()).width));
    if (wanted != all_groups() || !common_.takes(sentences.front()))
      begin_search(sentences.front(), wanted);
  }
  std::vector<std::vector<TokenId>> tokens;
  std::vector<std::int64_t> groups;
  std::vector<DeviceSentence> begun;
  for (SourceSentence& sentence : sentences) {
    groups.push_back(free_groups_.back());
    free_groups_.pop_back();
    begun.push_back({.group = groups.back(),
                     .max_length = max_length_of(sentence, model_.max_positions()),
                     .key = random_key_of(sentence),
                     .source_length = static_cast<std::int64_t>(sentence.tokens.size()),
                     .prefix = std::move(sentence.required.prefix),
                     .phrases = std::move(sentence.required.phrases),
                     .phrase_policy = sentence.required.phrase_policy});
    tokens.push_back(std::move(sentence.tokens));
    active_.push_back({.sentence = sentence, .group = groups.back()});
  }
  model_.admit(tokens, groups);
  search_->begin(begun, model_.source_capacity());
}

void DeviceScheduler::drop_cancelled() {
  std::vector<std::int64_t> groups;
  for (const auto& [sentence, group] : active_)
    if (sentence.is_cancelled()) groups.push_back(group);
  release(groups);
}

void DeviceScheduler::release(std::span<const std::int64_t> groups) {
  if (groups.empty()) return;
  const c10::InferenceMode inference;
  search_->release(groups);
  std::erase_if(active_, [groups](const Active& active) {
    return std::ranges::find(groups, active.group) != groups.end();
  });
  free_groups_.insert(free_groups_.end(), groups.begin(), groups.end());
}

void DeviceScheduler::fail_all(const std::exception_ptr& error) {
  for (const Active& active : active_) active.sentence.receiver->fail(error);
  active_.clear();
}

std::vector<SourceSentence> DeviceScheduler::step() {
  if (active_.empty()) return {};
  const c10::InferenceMode inference;
  for (std::int64_t step = 0; step < steps_per_poll_; ++step)
    if (recorded_)
      recorded_->take();
    else
      search_->advance(model_.step(search_->next_step()));
  return take_ended();
}

std::vector<SourceSentence> DeviceScheduler::take_ended() {
  const std::vector<std::int64_t> ends = search_->ends();
  const auto end_of = [&ends](const Active& active) {
    return ends[static_cast<std::size_t>(active.group)];
  };
  std::vector<Active> ended;
  for (const Active& active : active_)
    if (end_of(active) != DeviceSearch::kContinues) ended.push_back(active);
  if (ended.empty()) return {};
  std::ranges::stable_sort(ended, {}, end_of);
  std::vector<std::int64_t> groups;
  for (const Active& active : ended) groups.push_back(active.group);
  std::vector<std::vector<Hypothesis>> best = search_->best(groups);
  std::vector<SourceSentence> finished;
  for (std::size_t i = 0; i < ended.size(); ++i) {
    SourceSentence& sentence = finished.emplace_back(std::move(ended[i].sentence));
    if (end_of(ended[i]) == DeviceSearch::kNotANumber)
      sentence.error = std::make_exception_ptr(not_a_number());
    else
      sentence.hypotheses = std::move(best[i]);
  }
  release(groups);
  return finished;
}

// ---- fewer rows when memory runs out -----------------------------------------------------------

HalvingScheduler::HalvingScheduler(Make make, std::int64_t rows, OnFewerRows on_fewer_rows)
    : make_(std::move(make)),
      on_fewer_rows_(std::move(on_fewer_rows)),
      rows_(rows),
      scheduler_(make_(rows)) {}

std::int64_t HalvingScheduler::capacity(const DecodeConfig& config) const {
  return std::max<std::int64_t>(1, rows_ / SentenceSearch::width(config));
}

std::int64_t HalvingScheduler::count_admissible(const std::deque<SourceSentence>& waiting) const {
  return again_.empty() ? scheduler_->count_admissible(waiting) : 0;
}

bool HalvingScheduler::try_to(const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const std::exception& problem) {
    if (!is_out_of_memory(problem) || rows_ == 1) throw;
  }
  scheduler_.reset();
  rows_ = rows_ / 2;
  scheduler_ = make_(rows_);
  again_.insert(again_.begin(), std::make_move_iterator(under_way_.begin()),
                std::make_move_iterator(under_way_.end()));
  under_way_.clear();
  if (on_fewer_rows_) on_fewer_rows_(rows_);
  return false;
}

void HalvingScheduler::admit(std::span<SourceSentence> sentences) {
  under_way_.insert(under_way_.end(), sentences.begin(), sentences.end());
  try_to([&] { scheduler_->admit(sentences); });
}

void HalvingScheduler::admit_again() {
  const std::int64_t count = scheduler_->count_admissible(again_);
  std::vector<SourceSentence> taken(std::make_move_iterator(again_.begin()),
                                    std::make_move_iterator(again_.begin() + count));
  again_.erase(again_.begin(), again_.begin() + count);
  admit(taken);
}

void HalvingScheduler::drop_cancelled() {
  try_to([&] { scheduler_->drop_cancelled(); });
  std::erase_if(under_way_, std::mem_fn(&SourceSentence::is_cancelled));
  std::erase_if(again_, std::mem_fn(&SourceSentence::is_cancelled));
}

std::vector<SourceSentence> HalvingScheduler::step() {
  if (!again_.empty()) admit_again();
  std::vector<SourceSentence> finished;
  if (!try_to([&] { finished = scheduler_->step(); })) return {};
  for (const SourceSentence& sentence : finished)
    std::erase_if(under_way_, [&sentence](const SourceSentence& other) {
      return other.receiver == sentence.receiver && other.line == sentence.line &&
             other.part == sentence.part;
    });
  return finished;
}

void HalvingScheduler::fail_all(const std::exception_ptr& error) {
  if (scheduler_) scheduler_->fail_all(error);
  for (const SourceSentence& sentence : under_way_) sentence.receiver->fail(error);
  for (const SourceSentence& sentence : again_) sentence.receiver->fail(error);
  under_way_.clear();
  again_.clear();
}

// ---- the engine --------------------------------------------------------------------------------

std::shared_ptr<SentenceScheduler> DeviceEngine::own_scheduler(std::int64_t rows) {
  constexpr std::int64_t kStepsPerPoll = 8;
  const auto make = [this](std::int64_t of_step) {
    model_->shape(0, 1);  // frees its memory
    return std::make_shared<DeviceScheduler>(
        *model_, never_emitted_,
        DeviceScheduler::Options{
            .rows = of_step, .steps_per_poll = kStepsPerPoll, .launch = launch_});
  };
  return std::make_shared<HalvingScheduler>(make, rows > 0 ? rows : model_->preferred_rows(),
                                            on_fewer_rows_);
}

}  // namespace dragoman
