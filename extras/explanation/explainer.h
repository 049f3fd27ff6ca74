// What a model does with a sentence: the pieces of its words, its attention and the vectors behind
// it, the most probable tokens of each step, and the search.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "extras/explanation/search_trace.h"
#include "inference/cpu/cpu_engine.h"
#include "inference/scheduler.h"
#include "inference/search/search.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

enum class KeyMask {
  None,
  Causal,  ///< a query attends to its own position and those before it
};

/// softmax(q k^T / sqrt(d_k)) of each head (equation 1), computed in double precision.
struct AttentionWeights {
  std::int64_t heads, queries, keys;
  KeyMask mask;
  std::vector<float> values;   ///< [heads, queries, keys]; a masked key has exactly 0
  std::vector<double> scores;  ///< q k^T / sqrt(d_k) of the keys that are not masked, in the order
                               ///< of the values

  float at(std::int64_t head, std::int64_t query, std::int64_t key) const {
    return values[static_cast<std::size_t>((head * queries + query) * keys + key)];
  }
};

/// A row of the recorded queries and keys has `d_model` floats, which `heads` divides.
AttentionWeights attention_weights(const Activations::Attention& attention, std::int64_t heads,
                                   std::int64_t d_model, KeyMask mask);

/// Finds which pieces of a text begin a word. A word begins at a space, and in scripts that are
/// written without spaces (is_unspaced) at each piece. A space that is a piece by itself belongs to
/// the word after it. The bytes of a character that is not a piece ("<0xE5>") stay together.
class WordStarts {
 public:
  /// Whether a word begins with the next piece, which must be valid UTF-8.
  bool next(std::string_view piece);

 private:
  bool has_begun_ = false;
  bool is_after_space_ = false;     // the last piece was a space by itself
  bool is_after_unspaced_ = false;  // the last character is of a script without spaces
};

/// A translation that has another token at some position and continues from there by greedy search.
struct Alternative {
  TokenId token;
  std::string text;
  double sum;  ///< of log-probabilities
};

struct ExplainedToken {
  TokenId id;
  std::string piece;
  std::optional<std::int64_t> word;  ///< the number of its word; none for </s> and tags
  bool is_unseen = false;            ///< its characters were not in the training text
  // The rest is only for target tokens.
  float log_probability = 0;
  std::vector<Candidate> most_probable = {};  ///< of its step, best first
  std::vector<Alternative> alternatives = {};
};

struct TracedTranslation {
  SearchTrace trace;
  std::string greedy;                  ///< the text that greedy search finds
  std::vector<TokenId> greedy_tokens;  ///< its pieces, with </s>
  double greedy_sum, greedy_score;
};

/// The piece that is shown for the decoder's first input, the zero vector.
inline constexpr std::string_view kBeginPiece = "<s>";

struct SentenceExplanation {
  std::string source, target;
  std::vector<ExplainedToken> source_tokens = {}, target_tokens = {};  ///< as the model sees them
  Activations activations = {};
  std::vector<AttentionWeights> encoder = {}, decoder = {}, cross = {};  ///< one for each layer
  std::optional<TracedTranslation> search = {};  ///< none if the target was given
};

/// A text that cannot be explained, because it has no piece or too many.
class UnfitText : public Error {
 public:
  using Error::Error;
};

/// Called before each step of the engine. An exception from it ends the explanation.
using OnStep = std::function<void()>;

class Explainer {
 public:
  /// The most pieces of a sentence and of its translation, </s> included.
  static constexpr std::int64_t kMostPieces = 256;

  /// `search` must not draw samples. Throws UsageError if it names heads that the model lacks.
  /// After `on_step` has thrown, the explainer must not be used.
  Explainer(std::shared_ptr<const CpuModel> model, TokenizerPair tokenizers,
            const DecodeConfig& search, OnStep on_step = {});

  /// `target`: the translation to look at; without it, the model translates. Throws UnfitText if a
  /// side has no text, is not valid UTF-8 or has more than kMostPieces pieces.
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
  /// Feeds the target to the decoder, and records what is computed.
  void force(const SourceSentence& source, SentenceExplanation& explanation);
  void find_alternatives(const SourceSentence& source, SentenceExplanation& explanation);

  std::shared_ptr<const CpuModel> model_;
  TokenizerPair tokenizers_;
  std::shared_ptr<const SearchSettings> settings_, greedy_;
  ObservedEngine engine_;
};

}  // namespace dragoman
