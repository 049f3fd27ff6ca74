#include "evaluation/evaluate_config.h"

#include <algorithm>

#include "base/error.h"
#include "evaluation/moses_tokenizer.h"

namespace dragoman {

namespace {

void check_range(std::string_view flag, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least || value > most)
    throw UsageError("--", flag, " ", value, ": must be from ", least, " to ", most);
}

void check_metrics(const std::vector<std::string>& metrics) {
  std::string known;
  for (const std::string_view name : kMetricNames)
    known += join_text(known.empty() ? "" : ", ", name);
  if (metrics.empty()) throw UsageError("--metrics: name one of ", known);
  for (const std::string& metric : metrics) {
    if (std::find(kMetricNames.begin(), kMetricNames.end(), metric) != kMetricNames.end()) continue;
    const std::string near = nearest_name(metric, {kMetricNames.begin(), kMetricNames.end()});
    throw UsageError("--metrics ", metric, ": unknown, must be one of ", known,
                     near.empty() ? "" : join_text("; did you mean ", near, "?"));
  }
}

}  // namespace

BleuConfig EvaluateConfig::bleu() const {
  return {.tokenization = tokenization_of(tokenize, {.target_language = target_language,
                                                     .spm_model = spm_model,
                                                     .mecab_dictionary = mecab_dictionary}),
          .lowercase = lowercase,
          .smooth_method = smooth_method,
          .smooth_value = smooth_value,
          .effective_order = effective_order};
}

BleuConfig EvaluateConfig::multi_bleu(bool splits_compounds) const {
  const auto apply = [language = target_language, splits_compounds](std::string_view line) {
    const std::string tokens = tokenize_moses(line, language);
    return splits_compounds ? split_compounds(tokens) : tokens;
  };
  return {.tokenization = {splits_compounds ? "moses-split" : "moses", apply},
          .lowercase = lowercase,
          .smooth_method = SmoothMethod::None};
}

ChrfConfig EvaluateConfig::chrf(std::string_view metric) const {
  return {.char_order = static_cast<int>(chrf_char_order),
          .word_order = metric == "chrf++" ? 2 : static_cast<int>(chrf_word_order),
          .beta = static_cast<int>(chrf_beta),
          .lowercase = chrf_lowercase,
          .whitespace = chrf_whitespace,
          .eps_smoothing = chrf_eps_smoothing};
}

TerConfig EvaluateConfig::ter() const {
  return {.normalized = ter_normalized,
          .no_punct = ter_no_punct,
          .asian_support = ter_asian_support,
          .case_sensitive = ter_case_sensitive};
}

void EvaluateConfig::check() const {
  check_metrics(metrics);
  check_range("chrf-char-order", chrf_char_order, 0, 100);
  check_range("chrf-word-order", chrf_word_order, 0, 100);
  if (chrf_char_order + chrf_word_order == 0)
    throw UsageError("--chrf-char-order and --chrf-word-order must not both be 0");
  check_range("chrf-beta", chrf_beta, 0, 100);
  check_range("width", width, 0, 17);
  check_range("confidence-n", confidence_n, 2, 1'000'000);
  check_range("paired-bootstrap-n", paired_bootstrap_n, 2, 1'000'000);
  check_range("paired-approximate-randomization-n", paired_approximate_randomization_n, 2,
              1'000'000);
  if (confidence + paired_bootstrap + paired_approximate_randomization > 1)
    throw UsageError(
        "--confidence, --paired-bootstrap and --paired-approximate-randomization: only one of "
        "them at a time");
  if (sentence_level && (confidence || paired_bootstrap || paired_approximate_randomization))
    throw UsageError("--sentence-level: a single line has no confidence interval and no p-value");
  // Written so that "not a number" fails too.
  if (!(smooth_value <= 1e9))
    throw UsageError("--smooth-value ", smooth_value, ": must be a number up to 1e9");
  if (tokenize == BleuTokenizer::Spm && spm_model.empty())
    throw UsageError("--tokenize spm: name a SentencePiece model with --spm-model");
  if (std::find(metrics.begin(), metrics.end(), "bleu") != metrics.end())
    bleu();  // throws where the tokenizer lacks its data
}

}  // namespace dragoman
