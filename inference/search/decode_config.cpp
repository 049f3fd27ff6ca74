#include "inference/search/decode_config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>

#include "base/error.h"

namespace dragoman {

namespace {

// A ratio means little for a short line: "2^31" is one word, its German forty pieces.
constexpr std::int64_t kShortestLimit = 50;

// With one pair in ten a model has learned to continue after a full stop.
constexpr double kSingleSentences = 0.1;

constexpr std::int64_t kUnbounded = std::numeric_limits<std::int32_t>::max();

// The comparison also refuses "not a number".
template <class Number>
void check_range(std::string_view flag, Number value) {
  const auto range = setting_range(flag);
  if (!range ||
      (static_cast<double>(value) >= range->least && static_cast<double>(value) <= range->most))
    return;
  throw UsageError("--", flag, " ", value, ": must be from ", static_cast<Number>(range->least),
                   " to ", static_cast<Number>(range->most));
}

}  // namespace

bool splits_sentences(SplitSentences choice, std::optional<double> several_sentences) {
  if (choice != SplitSentences::Auto) return choice == SplitSentences::Always;
  return several_sentences.value_or(0) < kSingleSentences;
}

std::optional<SettingRange> setting_range(std::string_view flag) {
  static const std::map<std::string_view, SettingRange> ranges = {
      {"beam-size", {1, DecodeConfig::kWidest}},
      {"n-best", {1, DecodeConfig::kWidest}},
      {"length-penalty", {0, 100}},
      {"word-penalty", {-100, 100}},
      {"coverage-penalty", {0, 100}},
      {"repetition-penalty", {0.01, 100}},
      {"no-repeat-ngram-size", {0, 1000}},
      {"min-length", {0, 100'000}},
      {"max-length", {0, 100'000}},
      {"max-length-ratio", {0.01, 1000}},
      {"split-length", {8, 100'000}},
      {"sampling-topk", {0, kUnbounded}},
      {"sampling-topp", {1e-6, 1}},
      {"temperature", {0.01, 100}},
      {"batch-size", {0, 1'000'000}},
      {"attention-layer", {-1, 1000}},
      {"attention-head", {0, 1000}}};
  const auto found = ranges.find(flag);
  if (found == ranges.end()) return std::nullopt;
  return found->second;
}

void DecodeConfig::check() const {
  DecodeConfig copy = *this;  // to visit its fields
  copy.for_each_field([](const FieldInfo& info, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, std::int64_t> || std::is_same_v<Value, double>)
      check_range(info.name, value);
  });
  if (attention_layer == 0)
    throw UsageError(
        "--attention-layer 0: layers count from 1; write -1 for the last but one, which 0 meant");
  if (!sampling && n_best > beam_size)
    throw UsageError("--n-best ", n_best, ": must not exceed --beam-size ", beam_size);
  if (word_penalty != 0 && length_penalty_kind != LengthPenalty::Average)
    throw UsageError("--word-penalty: needs --length-penalty-kind average");
  if (max_length > 0 && min_length > max_length)
    throw UsageError("--min-length ", min_length, ": must not exceed --max-length ", max_length);
  if (!sampling && sampling_topk != 0) throw UsageError("--sampling-topk: needs --sampling");
  if (!sampling && sampling_topp != 1.0) throw UsageError("--sampling-topp: needs --sampling");
  if (!sampling && temperature != 1.0) throw UsageError("--temperature: needs --sampling");
  if (!sampling && seed != DecodeConfig().seed) throw UsageError("--seed: needs --sampling");
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
