#include "inference/translation_answers.h"

#include <utility>

#include "inference/translation_job.h"

namespace dragoman {

TranslationAnswers::TranslationAnswers(std::shared_ptr<TranslationJob> job)
    : job_(std::move(job)) {}
TranslationAnswers::TranslationAnswers(TranslationAnswers&&) noexcept = default;

TranslationAnswers& TranslationAnswers::operator=(TranslationAnswers&& other) noexcept {
  std::swap(job_, other.job_);
  return *this;
}

TranslationAnswers::~TranslationAnswers() {
  if (job_) job_->cancel();
}

std::optional<Translation> TranslationAnswers::next() {
  return job_->next(TranslationJob::Wait::UntilFinished);
}

std::optional<Translation> TranslationAnswers::next_if_finished() {
  return job_->next(TranslationJob::Wait::Never);
}

std::size_t TranslationAnswers::left() const { return job_->left(); }

}  // namespace dragoman
