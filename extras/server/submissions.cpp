#include "extras/server/submissions.h"

#include <cstddef>
#include <utility>

namespace dragoman {

namespace {

/// Bytes of text that are prepared at once. They take some 5 ms at most.
constexpr std::size_t kLittle = 4096;

bool is_long(const Submission& submission) {
  std::size_t bytes = 0;
  for (const LineInput& line : submission.lines) bytes += line.text.size();
  return bytes > kLittle;
}

}  // namespace

Submissions::Submissions() : thread_([this](const std::stop_token& stopping) { work(stopping); }) {}

Submissions::~Submissions() {
  thread_.request_stop();
  thread_.join();
}

std::future<TranslationAnswers> Submissions::submit(std::shared_ptr<const ServedModel> model,
                                                    Submission submission,
                                                    std::function<void()> done) {
  const bool waits = is_long(submission);
  Waiting added{.model = std::move(model), .stop = submission.stop, .done = std::move(done)};
  added.task = std::packaged_task<TranslationAnswers()>(
      [&service = added.model->service(), lines = std::move(submission)]() mutable {
        return service.submit(std::move(lines));
      });
  std::future<TranslationAnswers> answers = added.task.get_future();
  if (waits) {
    const MutexLock lock(mutex_);
    waiting_.push_back(std::move(added));
    changed_.notify_one();
  } else {
    added.task();
  }
  return answers;
}

void Submissions::work(const std::stop_token& stopping) {
  while (true) {
    MutexLock lock(mutex_);
    if (!changed_.wait(lock, stopping, [this]() REQUIRES(mutex_) { return !waiting_.empty(); }) ||
        stopping.stop_requested())
      return;
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    if (!next.stop.stop_requested()) next.task();
    next.done();
  }
}

}  // namespace dragoman
