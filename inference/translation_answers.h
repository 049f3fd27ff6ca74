// The answers to lines that were given to a TranslationService, as they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "inference/translation.h"
#include "inference/translation_request.h"

namespace dragoman {

class TranslationJob;

/// Lines to be translated.
struct Submission {
  std::vector<LineInput> lines;
  std::shared_ptr<const PreparedRequest> request;  ///< of lines that have none of their own
  std::int64_t first_line = 0;                     ///< number of the first; it decides random draws
  std::stop_token stop = {};                       ///< what is not finished then is given up
  /// Called when more is finished or nothing more will be, on any thread. It only wakes up who
  /// waits: it calls nothing of the answers or the service, and does not wait itself.
  std::function<void()> on_progress = {};
};

/// One thread at a time may ask. Who lets go of the answers gives up what is not finished. The
/// service may end before them, its tokenizers may not.
class TranslationAnswers {
 public:
  explicit TranslationAnswers(std::shared_ptr<TranslationJob> job);
  TranslationAnswers(TranslationAnswers&&) noexcept;
  TranslationAnswers& operator=(TranslationAnswers&&) noexcept;
  ~TranslationAnswers();

  /// The next line's translation, in the order of the lines; waits for it. Nothing when all have
  /// been given, or a stop was requested and the next one is not finished. Throws what has kept it
  /// from being finished.
  std::optional<Translation> next();
  /// The same without waiting: nothing also where it is still under way.
  std::optional<Translation> next_if_finished();
  /// Lines that have not been given.
  std::size_t left() const;

 private:
  std::shared_ptr<TranslationJob> job_;
};

}  // namespace dragoman
