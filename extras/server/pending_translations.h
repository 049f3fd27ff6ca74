// The translations of requests that are under way. One thread submits their lines and gathers the
// answers; it waits for none of them in particular.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "extras/markup/document.h"
#include "extras/server/http.h"
#include "extras/server/request_texts.h"
#include "extras/server/served_models.h"
#include "extras/server/work_queue.h"
#include "inference/translation_service.h"

namespace dragoman {

/// Bytes of text that the thread of all requests prepares by itself; that takes about 5 ms at most.
inline constexpr std::size_t kLittleText = 4096;

struct TextToTranslate {
  std::string text;                                     ///< valid UTF-8
  Route route;                                          ///< none: the translation is the text
  std::shared_ptr<const MarkupDocument> document = {};  ///< the text, if it has markup
};

struct TextsToTranslate {
  std::vector<TextToTranslate> texts;
  std::int64_t alternatives = 0;                       ///< of each, besides the best one
  std::optional<SplitSentences> split = std::nullopt;  ///< none: as the model needs it
  LineBreaks line_breaks = LineBreaks::Kept;
  std::shared_ptr<const Demands> demands = nullptr;  ///< null: none; of routes of one model
  bool reports_words = false;
  bool reports_attention = false;  ///< of these words, in lines of at most kMostAlignedWords
  std::stop_token stop = {};       ///< nobody waits any more
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

struct TranslatedTexts {
  std::vector<std::vector<std::string>> texts;  ///< of each text the best first, then alternatives
  std::int64_t target_tokens = 0;               ///< of the best ones
  /// The words of each text's best translation; empty if they were not asked for.
  std::vector<std::vector<ReportedWord>> words = {};
};

/// The status of the HttpError: 400 if the model does not allow what is asked for, 499 after a
/// stop, 503 if too much waits or the server stops, 504 at the deadline, else 500.
using TranslationOutcome = std::variant<TranslatedTexts, HttpError>;

class PendingTranslations {
 public:
  using Done = std::function<void(TranslationOutcome)>;

  /// A job of `long_texts` splits and tokenizes the lines of a long text, so that requests with
  /// little text do not wait for it.
  explicit PendingTranslations(WorkQueue& long_texts);
  PendingTranslations(const PendingTranslations&) = delete;
  PendingTranslations& operator=(const PendingTranslations&) = delete;
  /// Translations that are not finished end with 503. Posted work that has not begun may be
  /// dropped.
  ~PendingTranslations();

  /// Calls `work` on this object's thread, soon. From any thread. `work` must not throw.
  void post(std::function<void()> work);

  /// Begins a translation. Only posted work may call it. It calls `done` once, on this object's
  /// thread, perhaps before it returns. If it throws, because memory runs out before the
  /// translation begins, it does not call `done`.
  void start(TextsToTranslate task, Done done);

 private:
  class PendingTranslation;
  class News;
  struct Inbox;
  using UnderWay = std::map<std::uint64_t, std::unique_ptr<PendingTranslation>>;

  void work(const std::stop_token& stop);
  void hear(std::list<std::uint64_t> progressed);
  void advance(UnderWay::iterator translation);

  WorkQueue& long_texts_;
  const std::shared_ptr<Inbox> inbox_;
  const HttpError stopping_{503, "the server is stopping", 1};
  UnderWay under_way_;  // only thread_ uses it and the next
  std::uint64_t last_id_ = 0;
  std::jthread thread_;
};

}  // namespace dragoman
