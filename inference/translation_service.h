// The resident translator. It has a thread for each engine, for as long as it lives. Any thread may
// submit lines, and each line may have its own request. Lines of different requests share rows, and
// do not change each other's translations.
//
// The path of a line:
//
//   step                           function                                           thread
//   read                           StreamTranslation::read (translate_text.cpp)       caller
//   submit                         TranslationService::submit, TranslationJob::begin  caller
//   repair, split, tokenize        LinePreparer::prepare, split_line                  caller
//   look up                        SentenceCache::find                                caller
//   wait                           Workers::add, Workers::take                        -
//   encode; get a slot             Scheduler::admit, HostEngine::admit                worker
//   step: requests to the engine   SearchStep::add, SentenceSearch::prepare_step      worker
//   step: candidates               SearchStep::take, HostEngine::step                 worker
//   step: new hypotheses           Scheduler::advance, SentenceSearch::advance        worker
//   hand over                      Workers::deliver, TranslationJob::finish           worker
//   keep, or search again          RequiredTextSearch::keep_or_search_again           worker
//   wait for the lines before it   LineOrder                                          -
//   join the parts                 TranslationJob::next, assemble_translation         caller
//   write                          StreamTranslation::write_finished                  caller
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "inference/line_preparer.h"
#include "inference/required_text_search.h"
#include "inference/search/engine.h"
#include "inference/search/token_rules.h"
#include "inference/sentence_cache.h"
#include "inference/translation.h"
#include "inference/workers.h"
#include "model/file/model_file.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

class TranslationJob;

/// Lines to be translated.
struct Submission {
  std::vector<LineInput> lines = {};
  std::shared_ptr<const PreparedRequest> request;  ///< for lines that have none of their own
  std::int64_t first_line = 0;  ///< number of the first line; random draws depend on it
  std::stop_token stop = {};    ///< ends the work on unfinished lines
  /// Called on any thread, each time that a sentence is finished, and when the others never will
  /// be. submit() itself calls it if the first lines have no text, because these are finished at
  /// once. The function may only wake up another thread: it must not wait or throw, and must not
  /// call the answers or the service.
  std::function<void()> on_progress = {};
};

/// The translations of a submission, as they are finished. One thread at a time may use them. The
/// destructor stops the work on lines that are not finished. The service may be destroyed before
/// the answers, but its tokenizers must outlive them.
class TranslationAnswers {
 public:
  explicit TranslationAnswers(std::shared_ptr<TranslationJob> job);
  TranslationAnswers(TranslationAnswers&&) noexcept;
  TranslationAnswers& operator=(TranslationAnswers&&) noexcept;
  ~TranslationAnswers();

  /// Waits for the translation of the next line and returns it. Returns nothing after the last
  /// line, and if a stop was requested before the line was finished. Throws the error that kept the
  /// line from being finished.
  std::optional<Translation> next();
  /// The same without waiting: also returns nothing if the line is not finished yet.
  std::optional<Translation> next_if_finished();
  /// The number of lines that have not been returned yet.
  std::size_t left() const;

 private:
  std::shared_ptr<TranslationJob> job_;
};

struct ServiceConfig {
  Workers::Limits limits = {};
  TextRecord record = {};        ///< of the model
  std::int64_t cache_bytes = 0;  ///< of SentenceCache; 0: no cache
};

class TranslationService {
 public:
  /// One engine or several of the same model, each of which works on a thread of its own. Engines
  /// must outlive the service, and the target's tokenizer its answers.
  TranslationService(const std::vector<Engine*>& engines, const TokenizerPair& tokenizers,
                     const ServiceConfig& config = {});
  TranslationService(const TranslationService&) = delete;
  TranslationService& operator=(const TranslationService&) = delete;
  /// Lines that are not finished fail: TranslationAnswers::next() throws.
  ~TranslationService() = default;

  /// Checks a request, which then serves any number of lines. Throws UsageError naming the flag
  /// that is wrong.
  std::shared_ptr<const PreparedRequest> prepare(const TranslationRequest& request) const;
  /// A prepared request with other demands. If they avoid no texts, it shares its settings with the
  /// given one, so both find the same sentences in the cache. Throws UsageError as prepare() does.
  std::shared_ptr<const PreparedRequest> with_demands(const PreparedRequest& request,
                                                      std::shared_ptr<const Demands> demands) const;

  /// Prepares the lines on the caller's thread and adds their sentences to the queue. Adds none if
  /// it throws: ServiceBusy if too many sentences wait, the first engine's error if all engines
  /// have failed, or Error if a line cannot be prepared.
  TranslationAnswers submit(Submission submission);

  /// The number of sentences with these settings that can be in translation at once.
  std::int64_t capacity(const DecodeConfig& config) const { return workers_.capacity(config); }
  /// If this many sentences wait, no more are taken.
  std::int64_t most_waiting() const { return workers_.limits().waiting; }
  /// The number of sentences that no engine has taken yet.
  std::int64_t waiting() const { return workers_.waiting(); }
  std::int64_t rows_in_use() const { return workers_.rows_in_use(); }
  SentenceCache::Counts cache_counts() const { return cache_.counts(); }
  /// The error of the first engine that failed; null while all work. The other engines continue.
  std::exception_ptr failure() const { return workers_.failure(); }

 private:
  const Engine& engine_;
  const std::shared_ptr<const Tokenizer> target_;
  const LinePreparer preparer_;
  const RequiredTextSearch required_texts_;
  const std::vector<TokenEdges> edges_;  ///< [V] of the target
  SentenceCache cache_;
  Workers workers_;  ///< last: its threads use all members above
};

}  // namespace dragoman
