// A submission in translation: its lines, their results, and the thread that waits for them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/mutex.h"
#include "inference/line_order.h"
#include "inference/line_preparer.h"
#include "inference/prepared_line.h"
#include "inference/required_text_search.h"
#include "inference/sentence.h"
#include "inference/sentence_cache.h"
#include "inference/translation.h"
#include "inference/translation_answers.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

class TranslationJob : public SentenceReceiver,
                       public std::enable_shared_from_this<TranslationJob> {
 public:
  /// The target's tokenizer must outlive the answers, the others the work.
  TranslationJob(const LinePreparer& preparer, const RequiredTextSearch& required_texts,
                 SentenceCache& cache, const Tokenizer& target);

  /// Prepares the lines and returns their sentences, without those that the cache has. Called once,
  /// before any other function.
  std::vector<SourceSentence> begin(Submission submission);

  std::optional<SourceSentence> finish(FinishedSentence sentence) override;
  void fail(std::exception_ptr error) noexcept override;

  enum class Wait { UntilFinished, Never };
  std::optional<Translation> next(Wait wait);  ///< see TranslationAnswers
  std::size_t left() const;
  /// Stops the work. on_progress is not called any more.
  void cancel();

 private:
  PreparedPart& part_of(std::int64_t line, std::int64_t part);
  SourceSentence addressed(SourceSentence sentence);
  /// Gives the sentence the hypotheses that the cache has of it. Returns the sentence that is to be
  /// searched for, if one is.
  std::optional<SourceSentence> look_up(PreparedLine& line, SourceSentence sentence);
  void stop_work() noexcept;

  const LinePreparer& preparer_;
  const RequiredTextSearch& required_texts_;
  SentenceCache& cache_;
  const Tokenizer& target_;
  std::int64_t first_line_ = 0;
  /// Null once next() has taken the line. No mutex guards it: workers write to different parts of a
  /// line, and next() takes a line only after all its parts are finished (order_).
  std::vector<std::unique_ptr<PreparedLine>> lines_;
  std::stop_source cancelled_;
  mutable Mutex mutex_;
  LineOrder order_ GUARDED_BY(mutex_);
  std::exception_ptr error_ GUARDED_BY(mutex_);
  std::function<void()> on_progress_ GUARDED_BY(mutex_);
  std::condition_variable_any changed_;
  /// Last: what it calls uses all above.
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

}  // namespace dragoman
