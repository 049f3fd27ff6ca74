// The lines that are submitted to a TranslationService, and their translations as they are
// finished.
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
  std::stop_token stop = {};                       ///< ends the work on unfinished lines
  /// Called on any thread, each time a sentence is finished, and once the rest will not be.
  /// submit() itself calls it if the first lines have no text, since these are finished at once.
  /// The function may only wake up another thread: it must not wait or throw, and must not call the
  /// answers or the service.
  std::function<void()> on_progress = {};
};

/// For one thread at a time. The destructor stops the work on lines that are not finished. The
/// service may be destroyed before the answers, its tokenizers may not.
class TranslationAnswers {
 public:
  explicit TranslationAnswers(std::shared_ptr<TranslationJob> job);
  TranslationAnswers(TranslationAnswers&&) noexcept;
  TranslationAnswers& operator=(TranslationAnswers&&) noexcept;
  ~TranslationAnswers();

  /// Waits for the translation of the next line and returns it. Returns nothing after the last
  /// line, and when a stop was requested before the line was finished. Throws the error that kept
  /// the line from being finished.
  std::optional<Translation> next();
  /// The same without waiting: returns nothing, too, if the line is not finished yet.
  std::optional<Translation> next_if_finished();
  /// The number of lines that were not returned yet.
  std::size_t left() const;

 private:
  std::shared_ptr<TranslationJob> job_;
};

}  // namespace dragoman
