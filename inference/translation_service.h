// The resident translator: engines, their threads and rows, for as long as it lives. Lines may be
// given to it from any thread, each with a request of its own; they share rows, and a line's
// translation does not depend on what else is under way. There is no other way to translate.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "inference/engine.h"
#include "inference/line_preparer.h"
#include "inference/token_rules.h"
#include "inference/translation_answers.h"
#include "inference/translation_request.h"
#include "inference/workers.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

struct ServiceConfig {
  Workers::Limits limits = {};
  /// Of the model: the share of its training pairs with several sentences, for splits_sentences().
  std::optional<double> several_sentences = std::nullopt;
};

class TranslationService {
 public:
  /// One engine or several of the same model, each of which works on a thread of its own. Engines
  /// and tokenizers must outlive the service, the tokenizers also its answers.
  TranslationService(const std::vector<Engine*>& engines, const Tokenizer& source,
                     const Tokenizer& target, const ServiceConfig& config = {});
  TranslationService(const TranslationService&) = delete;
  TranslationService& operator=(const TranslationService&) = delete;
  /// Answers that are not finished fail.
  ~TranslationService() = default;

  /// Checks a request, which then serves any number of lines. Throws UsageError naming the flag
  /// that is wrong.
  std::shared_ptr<const PreparedRequest> prepare(const TranslationRequest& request) const;

  /// Prepares the lines on the caller's thread and hands them over: all, or none. Throws
  /// ServiceBusy where too much waits already, and when no engine works any more, what the first
  /// has thrown.
  TranslationAnswers submit(Submission submission);

  /// How many sentences with such a search can be under way at once.
  std::int64_t capacity(const DecodeConfig& search) const { return workers_.capacity(search); }
  /// Sentences that are not under way yet.
  std::int64_t waiting() const { return workers_.waiting(); }
  /// What the first engine that failed has thrown; null while all work. The others go on.
  std::exception_ptr failure() const { return workers_.failure(); }

 private:
  const Engine& engine_;
  const Tokenizer& target_;
  const LinePreparer preparer_;
  const std::vector<TokenEdges> edges_;  ///< [V] of the target
  Workers workers_;                      ///< last: what is under way uses all above
};

}  // namespace dragoman
