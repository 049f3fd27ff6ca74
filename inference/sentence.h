// A sentence on its way through the search: in its tokens, out its hypotheses.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "inference/search/engine.h"
#include "inference/search/search.h"

namespace dragoman {

class SentenceReceiver;

struct SourceSentence {
  std::int64_t line;
  std::int64_t part;            ///< of the line; seed, line and part decide the random draws
  std::vector<TokenId> tokens;  ///< TokenizerPair::source_tokens()
  std::shared_ptr<const SearchSettings> settings = {};
  bool needs_attention = false;  ///< fills Hypothesis::attention
  Requirements required = {};
  std::shared_ptr<SentenceReceiver> receiver = {};
  std::stop_token stop = {};  ///< requested once nobody waits for the sentence any more
  std::int64_t turn = 0;      ///< Workers' own: the number of its turn; lower ones come first
  bool has_end = true;        ///< whether the last of the tokens is </s>, which is no piece

  /// The source pieces that the rules about lengths count.
  std::int64_t pieces() const {
    return static_cast<std::int64_t>(tokens.size()) - (has_end ? 1 : 0);
  }
};

struct FinishedSentence {
  std::int64_t line, part;
  std::vector<Hypothesis> hypotheses;  ///< best first
  std::shared_ptr<SentenceReceiver> receiver = {};
  std::exception_ptr error = {};  ///< of its search; not null: there are no hypotheses
};

/// Receives translated sentences. Several worker threads may call it at once.
class SentenceReceiver {
 public:
  virtual ~SentenceReceiver() = default;
  /// Takes the hypotheses of a sentence. If it returns a sentence, that is put into the queue, and
  /// its hypotheses come here, too.
  virtual std::optional<SourceSentence> finish(FinishedSentence sentence) = 0;
  /// Some of its sentences will never be finished. May be called several times. Takes no memory, as
  /// the error may be that there is none.
  virtual void fail(std::exception_ptr error) noexcept = 0;
};

}  // namespace dragoman
