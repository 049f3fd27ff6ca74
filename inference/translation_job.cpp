#include "inference/translation_job.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/one_line.h"
#include "base/utf8.h"
#include "inference/assemble_translation.h"

namespace dragoman {

namespace {

/// Adds the hypotheses that a search has found. Returns a wider search while the list is too short.
/// None takes the place of the best one, which is that of the beam that was asked for.
std::optional<SourceSentence> fill_up(PreparedPart& part, std::vector<Hypothesis> found,
                                      const Tokenizer& target) {
  constexpr int kWiderSearches = 2;
  NBestList& list = *part.n_best;
  const bool is_first = list.wider_searches == 0;
  if (is_first) list.wanted = found.size();
  for (Hypothesis& hypothesis : found) {
    if (list.hypotheses.size() == list.wanted) break;
    std::string text = one_line(std::string(strip(translated_text(part, hypothesis, target))));
    if (std::ranges::find(list.texts, text) != list.texts.end() ||
        (!is_first && hypothesis.score > list.hypotheses.front().score))
      continue;
    list.texts.push_back(std::move(text));
    list.hypotheses.push_back(std::move(hypothesis));
  }
  if (list.hypotheses.size() == list.wanted || list.wider_searches == kWiderSearches)
    return std::nullopt;
  ++list.wider_searches;
  SourceSentence wider = list.sentence;
  auto settings = std::make_shared<SearchSettings>(*wider.settings);
  settings->config.beam_size <<= list.wider_searches;
  settings->config.n_best = settings->config.beam_size;
  wider.settings = std::move(settings);
  return wider;
}

}  // namespace

TranslationJob::TranslationJob(const LinePreparer& preparer,
                               const RequiredTextSearch& required_texts, SentenceCache& cache,
                               const Tokenizer& target)
    : preparer_(preparer), required_texts_(required_texts), cache_(cache), target_(target) {}

std::vector<SourceSentence> TranslationJob::begin(Submission submission) {
  first_line_ = submission.first_line;
  std::vector<SourceSentence> sentences;
  MutexLock lock(mutex_);
  try {
    for (LineInput& input : submission.lines) {
      const auto number = submission.first_line + static_cast<std::int64_t>(lines_.size());
      auto request = input.request ? std::move(input.request) : submission.request;
      if (request->settings->config.sampling && !input.terms.empty())
        throw UsageError("--sampling: draws cannot be made to have terms");
      auto& line = lines_.emplace_back(std::make_unique<PreparedLine>(number, std::move(request)));
      const std::size_t before = sentences.size();
      for (SourceSentence& sentence : preparer_.prepare(std::move(input), *line, submission.stop))
        if (auto searched = look_up(*line, std::move(sentence)))
          sentences.push_back(addressed(*std::move(searched)));
      order_.add(sentences.size() - before);
    }
  } catch (const LinePreparer::Stopped&) {
    order_.add(1);  // it is never finished, so neither it nor a line after it is answered
  }
  on_progress_ = std::move(submission.on_progress);
  if (order_.ready() && on_progress_) on_progress_();
  lock.unlock();  // stop_work() locks it
  on_stop_.emplace(submission.stop, [this] { stop_work(); });
  return sentences;
}

PreparedPart& TranslationJob::part_of(std::int64_t line, std::int64_t part) {
  return lines_[static_cast<std::size_t>(line - first_line_)]
      ->parts[static_cast<std::size_t>(part)];
}

SourceSentence TranslationJob::addressed(SourceSentence sentence) {
  const DecodeConfig& config = sentence.settings->config;
  auto& n_best = part_of(sentence.line, sentence.part).n_best;
  if (config.n_best > 1 && !config.sampling && !n_best) n_best.emplace(NBestList{sentence});
  sentence.receiver = shared_from_this();
  sentence.stop = cancelled_.get_token();
  return sentence;
}

std::optional<SourceSentence> TranslationJob::look_up(PreparedLine& line, SourceSentence sentence) {
  // Settings with texts to avoid are made for a request and do not come again.
  auto key = line.request->demands->avoided.empty() ? cache_.key_of(sentence) : std::nullopt;
  if (!key) return sentence;
  const auto part = static_cast<std::size_t>(sentence.part);
  if (auto known = cache_.find(*key))
    return required_texts_.keep_or_search_again(line, part, *std::move(known));
  line.parts[part].cache_key = std::move(key);
  return sentence;
}

std::optional<SourceSentence> TranslationJob::finish(FinishedSentence sentence) {
  const auto line = static_cast<std::size_t>(sentence.line - first_line_);
  const auto part = static_cast<std::size_t>(sentence.part);
  if (PreparedPart& its_part = lines_[line]->parts[part]; its_part.n_best) {
    if (auto wider = fill_up(its_part, std::move(sentence.hypotheses), target_))
      return addressed(*std::move(wider));
    sentence.hypotheses = std::move(its_part.n_best->hypotheses);
    its_part.n_best.reset();
  }
  if (auto key = std::exchange(lines_[line]->parts[part].cache_key, std::nullopt))
    cache_.keep(*std::move(key), sentence.hypotheses);
  if (auto again =
          required_texts_.keep_or_search_again(*lines_[line], part, std::move(sentence.hypotheses)))
    return addressed(std::move(*again));
  const MutexLock lock(mutex_);
  order_.finish(line);
  if (order_.ready()) changed_.notify_all();
  if (on_progress_) on_progress_();
  return std::nullopt;
}

void TranslationJob::fail(std::exception_ptr error) noexcept {
  {
    const MutexLock lock(mutex_);
    if (error_ == nullptr) error_ = std::move(error);
  }
  stop_work();
}

void TranslationJob::stop_work() noexcept {
  cancelled_.request_stop();
  const MutexLock lock(mutex_);
  changed_.notify_all();
  if (on_progress_) on_progress_();
}

void TranslationJob::cancel() {
  {
    const MutexLock lock(mutex_);
    on_progress_ = nullptr;
  }
  stop_work();
}

std::optional<Translation> TranslationJob::next(Wait wait) {
  std::unique_ptr<PreparedLine> line;
  {
    MutexLock lock(mutex_);
    if (wait == Wait::UntilFinished)
      while (!order_.ready() && order_.left() > 0 && !cancelled_.stop_requested())
        changed_.wait(lock);
    if (!order_.ready()) {
      if (order_.left() > 0 && error_) std::rethrow_exception(error_);
      return std::nullopt;
    }
    line = std::move(lines_[order_.take()]);
  }
  return assemble_translation(*line, target_);
}

std::size_t TranslationJob::left() const {
  const MutexLock lock(mutex_);
  return order_.left();
}

}  // namespace dragoman
