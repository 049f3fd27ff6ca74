// What a model does with a sentence: its attention, the vectors behind it, each step's most
// probable tokens, and the search.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "extras/explanation/attention_weights.h"
#include "extras/explanation/search_trace.h"
#include "inference/cpu/cpu_engine.h"
#include "inference/search/search.h"
#include "inference/sentence.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

/// A translation that goes on with another token at some position, by greedy search.
struct Alternative {
  TokenId token;
  std::string text;
  double sum;  ///< of log-probabilities
};

struct ExplainedToken {
  TokenId id;
  std::string piece;
  std::optional<std::int64_t> word;  ///< number of its word; none for </s> and tags
  bool is_unseen = false;            ///< it stands for characters that the model has never seen
  // Of a target token:
  float log_probability = 0;
  std::vector<Candidate> most_probable = {};  ///< of its step, best first
  std::vector<Alternative> alternatives = {};
};

struct TracedTranslation {
  SearchTrace trace;
  std::string greedy;                  ///< the text that greedy search makes
  std::vector<TokenId> greedy_tokens;  ///< its pieces, with </s>
  double greedy_sum, greedy_score;
};

/// The piece that stands for what the decoder reads first, the zero vector.
inline constexpr std::string_view kBeginPiece = "<s>";

struct SentenceExplanation {
  std::string source, target;
  std::vector<ExplainedToken> source_tokens = {}, target_tokens = {};  ///< as the model reads them
  Activations activations = {};
  std::vector<AttentionWeights> encoder = {}, decoder = {}, cross = {};  ///< of each layer
  std::optional<TracedTranslation> search = {};  ///< none where the target was given
};

/// A text that cannot be explained, as it has no piece or too many.
class UnfitText : public Error {
 public:
  using Error::Error;
};

/// Called before each step of the engine. What it throws ends an explanation.
using OnStep = std::function<void()>;

class Explainer {
 public:
  /// The most pieces of a sentence and of its translation, </s> included.
  static constexpr std::int64_t kMostPieces = 256;

  /// `search` draws no samples. Throws UsageError where it names heads that the model lacks. When
  /// `on_step` has thrown, the explainer is of no more use.
  Explainer(std::shared_ptr<const CpuModel> model, TokenizerPair tokenizers,
            const DecodeConfig& search, OnStep on_step = {});

  /// `target`: the translation to look at, or the model's own. Throws UnfitText where a side has no
  /// text, is no valid UTF-8 or has more than kMostPieces pieces.
  SentenceExplanation explain(std::string_view source, std::optional<std::string_view> target);

 private:
  class ObservedEngine : public CpuEngine {
   public:
    ObservedEngine(std::shared_ptr<const CpuModel> model, std::vector<TokenId> never_emitted,
                   OnStep on_step);
    void step(const StepRequest& step) override;

   private:
    const OnStep on_step_;
  };

  std::vector<TokenId> pieces_of(const Tokenizer& tokenizer, std::string_view text,
                                 std::string_view name) const;
  SourceSentence sentence_of(std::string_view source) const;
  TracedTranslation search(const SourceSentence& source);
  /// Feeds the target to the decoder, and writes down what is computed.
  void force(const SourceSentence& source, SentenceExplanation& explanation);
  void find_alternatives(const SourceSentence& source, SentenceExplanation& explanation);

  std::shared_ptr<const CpuModel> model_;
  TokenizerPair tokenizers_;
  std::shared_ptr<const SearchSettings> settings_, greedy_;
  ObservedEngine engine_;
};

}  // namespace dragoman
