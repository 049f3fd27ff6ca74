// The settings of the search. All of them change the output, except batch_size, which changes only
// speed and memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace dragoman {

/// When the search of a sentence ends. If nothing else ends it, its maximum length does.
enum class Stop {
  Full,    ///< as many hypotheses are finished as the beam is wide (CTranslate2)
  Exact,   ///< no open hypothesis can still enter the n best
  Hf,      ///< Hugging Face's early_stopping=False: the best open hypothesis, scored as if it ended
           ///< now, does not beat the worst of the beam-size best finished ones. At the maximum
           ///< length the open ones end with </s>, at no cost (forced_eos_token_id)
  Marian,  ///< each hypothesis that is finished leaves the beam one narrower, until none is open
  Fairseq,  ///< as Full, but the last token of a translation of the maximum length is </s>
  Opennmt,  ///< OpenNMT-py's: n hypotheses are finished, and the best extension of a step is
            ///< finished, too. In that step finished ones take places of the beam
};
constexpr std::array<std::string_view, 6> names_of(Stop) {
  return {"full", "exact", "hf", "marian", "fairseq", "opennmt"};
}

/// The divisor of the sum of log-probabilities; length counts </s>.
enum class LengthPenalty {
  Average,  ///< length^alpha
  Gnmt,     ///< ((5 + length) / 6)^alpha, Wu et al. 2016, equation 14
};
constexpr std::array<std::string_view, 2> names_of(LengthPenalty) { return {"average", "gnmt"}; }

/// Whether lines are translated sentence by sentence.
enum class SplitSentences {
  Auto,  ///< if the model was trained on single sentences, or nothing is known about it
  Always,
  Never,
};
constexpr std::array<std::string_view, 3> names_of(SplitSentences) {
  return {"auto", "always", "never"};
}

/// Whether lines are split. `several_sentences` is the fraction of the model's training pairs that
/// have several sentences on a side, if it is known.
bool splits_sentences(SplitSentences choice, std::optional<double> several_sentences);

/// What becomes of text in characters that the model has never seen (unseen_text.h).
enum class UnknownWords {
  Copy,       ///< it is copied into the translation
  Translate,  ///< the model translates it as well as it can
};
constexpr std::array<std::string_view, 2> names_of(UnknownWords) { return {"copy", "translate"}; }

/// The least and the most that DecodeConfig::check() takes for a number.
struct SettingRange {
  double least, most;
};
/// The range of a flag, by its name; if there is none, any number is allowed.
std::optional<SettingRange> setting_range(std::string_view flag);

struct DecodeConfig {
  static constexpr std::int64_t kWidest = 1000;  ///< beam

  std::int64_t beam_size = 5;
  std::int64_t n_best = 1;
  double length_penalty = 1.0;
  LengthPenalty length_penalty_kind = LengthPenalty::Average;
  double word_penalty = 0;
  double coverage_penalty = 0;
  double repetition_penalty = 1;
  std::int64_t no_repeat_ngram_size = 0;
  std::vector<std::string> suppress = {};
  Stop stop = Stop::Full;
  std::int64_t min_length = 0;
  std::int64_t max_length = 0;
  double max_length_ratio = 3.0;
  SplitSentences split_sentences = SplitSentences::Auto;
  std::int64_t split_length = 150;
  bool translate_all = false;
  UnknownWords unknown_words = UnknownWords::Copy;

  bool sampling = false;
  std::int64_t sampling_topk = 0;
  double sampling_topp = 1.0;
  double temperature = 1.0;
  std::int64_t seed = 1;

  std::int64_t batch_size = 0;

  std::int64_t attention_layer = -1;
  std::int64_t attention_head = 0;

  bool operator==(const DecodeConfig&) const = default;
  /// Throws UsageError naming the flag.
  void check() const;

  /// The most tokens, </s> included, of the translation of a sentence of `source_pieces`.
  std::int64_t max_target_length(std::int64_t source_pieces) const;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Search", visit);
    score_fields(field);
    length_fields(field);
    attention_fields(field);
    sampling_fields(fields_under("Sampling", visit));
    field("batch-size", batch_size,
          "hypotheses to compute together; 0: as suits the device; changes speed and memory, not "
          "the output",
          {.aliases = "max-rows,mini-batch"});
  }

 private:
  void score_fields(const auto& field) {
    field("beam-size", beam_size, "hypotheses kept open at each step; 1 is greedy",
          {.aliases = "beam,num-beams"});
    field("n-best", n_best, "translations of each line, best first",
          {.aliases = "nbest,num-hypotheses"});
    field("length-penalty", length_penalty,
          "alpha: scores are divided by length^alpha; 0 prefers short translations",
          {.aliases = "lenpen,normalize,alpha"});
    field("length-penalty-kind", length_penalty_kind,
          "divide by length^alpha or by GNMT's ((5 + length) / 6)^alpha");
    field("word-penalty", word_penalty,
          "number to subtract from the log-probability of a translation for each of its pieces");
    field("coverage-penalty", coverage_penalty,
          "beta of GNMT's penalty for source pieces that get little attention; 0: none");
    field("repetition-penalty", repetition_penalty,
          "factor for the log-probabilities of pieces that the translation already has; 1: none");
    field("no-repeat-ngram-size", no_repeat_ngram_size,
          "no translation repeats a sequence of N pieces; 0: no such rule");
    field("suppress", suppress, "pieces that are never produced", {.aliases = "suppress-tokens"});
  }

  void length_fields(const auto& field) {
    field("stop", stop,
          "when the search of a sentence ends; full: --beam-size translations are finished; exact: "
          "no unfinished one can still become one of the best; hf: as Hugging Face's rule says; "
          "marian: each finished translation has made the beam one narrower, and none is left; "
          "fairseq: as full, but translations that are unfinished at the maximum length end with "
          "</s>; opennmt: the best one of a step is finished");
    field("min-length", min_length,
          "minimum number of pieces in a translation, not counting its end </s>",
          {.aliases = "min-len,min-decoding-length"});
    field("max-length", max_length,
          "maximum number of pieces in a translation, counting its end </s>; 0: only "
          "--max-length-ratio applies",
          {.aliases = "max-len,max-decoding-length"});
    field("max-length-ratio", max_length_ratio,
          "maximum number of pieces in a translation for each source piece; 50 are always allowed",
          {.aliases = "max-length-factor,max-len-a"});
    field("split-sentences", split_sentences,
          "translate the sentences of a line one by one; auto: if the model was trained on single "
          "sentences");
    field("split-length", split_length,
          "maximum number of source pieces to translate at once; longer lines are split at "
          "sentence ends, then at clauses, then between words");
    field("translate-all", translate_all,
          "also translate what is otherwise copied: lines and sentences that have only signs, "
          "numbers, addresses, placeholders or identifiers, and the signs at the ends of others");
    field("unknown-words", unknown_words,
          "what to do with text in characters that the training text did not have; copying needs a "
          "model with a record of them (dragoman inspect shows it)");
  }

  void attention_fields(const auto& field) {
    field("attention-layer", attention_layer,
          "decoder layer whose attention alignments and --coverage-penalty use, from 1; -1: the "
          "last but one, if there are several");
    field("attention-head", attention_head, "head of that layer, from 1; 0: the mean of all");
  }

  void sampling_fields(const auto& field) {
    field("sampling", sampling,
          "draw each token at random instead of searching for the best translation",
          {.aliases = "output-sampling"});
    field("sampling-topk", sampling_topk, "draw from the k most probable tokens; 0: from all",
          {.aliases = "top-k,topk"});
    field("sampling-topp", sampling_topp,
          "draw from the fewest tokens that together have this probability",
          {.aliases = "top-p,topp"});
    field("temperature", temperature,
          "below 1 sharpens the distribution that is drawn from, above 1 flattens it",
          {.aliases = "sampling-temperature,softmax-temperature"});
    field("seed", seed, "seed of the random draws");
  }
};

}  // namespace dragoman
