#include "inference/search/decode_config.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace dragoman {

namespace {

// A ratio means little for a short line: "2^31" is one word, its German forty pieces.
constexpr std::int64_t kShortestLimit = 50;

// With one pair in ten a model has learned to go on behind a full stop.
constexpr double kSingleSentences = 0.1;

constexpr std::int64_t kUnbounded = std::numeric_limits<std::int32_t>::max();

void check_range(std::string_view flag, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least || value > most)
    throw UsageError("--", flag, " ", value, ": must be from ", least, " to ", most);
}

// Written so that "not a number" fails too.
void check_range(std::string_view flag, double value, double least, double most) {
  if (!(value >= least && value <= most))
    throw UsageError("--", flag, " ", value, ": must be from ", least, " to ", most);
}

}  // namespace

bool splits_sentences(SplitSentences choice, std::optional<double> several_sentences) {
  if (choice != SplitSentences::Auto) return choice == SplitSentences::Always;
  return several_sentences.value_or(0) < kSingleSentences;
}

void DecodeConfig::validate() const {
  check_range("beam-size", beam_size, 1, kWidest);
  check_range("n-best", n_best, 1, kWidest);
  if (!sampling && n_best > beam_size)
    throw UsageError("--n-best ", n_best, ": must not exceed --beam-size ", beam_size);
  check_range("length-penalty", length_penalty, 0.0, 100.0);
  check_range("word-penalty", word_penalty, -100.0, 100.0);
  if (word_penalty != 0 && length_penalty_kind != LengthPenalty::Average)
    throw UsageError("--word-penalty: needs --length-penalty-kind average");
  check_range("coverage-penalty", coverage_penalty, 0.0, 100.0);
  check_range("repetition-penalty", repetition_penalty, 0.01, 100.0);
  check_range("no-repeat-ngram-size", no_repeat_ngram_size, 0, 1000);
  check_range("attention-layer", attention_layer, 0, 1000);
  check_range("attention-head", attention_head, 0, 1000);
  check_range("min-length", min_length, 0, 100'000);
  check_range("max-length", max_length, 0, 100'000);
  if (max_length > 0 && min_length > max_length)
    throw UsageError("--min-length ", min_length, ": must not exceed --max-length ", max_length);
  check_range("max-length-ratio", max_length_ratio, 0.01, 1000.0);
  check_range("split-length", split_length, 8, 100'000);
  check_range("sampling-topk", sampling_topk, 0, kUnbounded);
  check_range("sampling-topp", sampling_topp, 1e-6, 1.0);
  check_range("temperature", temperature, 0.01, 100.0);
  if (!sampling && sampling_topk != 0) throw UsageError("--sampling-topk: needs --sampling");
  if (!sampling && sampling_topp != 1.0) throw UsageError("--sampling-topp: needs --sampling");
  if (!sampling && temperature != 1.0) throw UsageError("--temperature: needs --sampling");
  check_range("batch-size", batch_size, 0, 1'000'000);
}

std::int64_t DecodeConfig::max_target_length(std::int64_t source_pieces) const {
  const double by_ratio = std::ceil(max_length_ratio * static_cast<double>(source_pieces));
  const auto limit =
      std::max(min_length + 1,  // </s>
               static_cast<std::int64_t>(std::clamp(by_ratio, static_cast<double>(kShortestLimit),
                                                    static_cast<double>(kUnbounded))));
  return max_length > 0 ? std::min(limit, max_length) : limit;
}

}  // namespace dragoman
