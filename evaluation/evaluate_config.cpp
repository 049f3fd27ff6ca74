#include "evaluation/evaluate_config.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/language_codes.h"
#include "base/utf8.h"
#include "evaluation/bleu_tokenizer.h"
#include "evaluation/line_statistics.h"

namespace dragoman {

namespace {

void check_range(std::string_view flag, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least || value > most)
    throw UsageError("--", flag, " ", value, ": must be from ", least, " to ", most);
}

void check_metrics(const std::vector<std::string>& metrics) {
  const std::string known = joined(kMetricNames, ", ");
  if (metrics.empty()) throw UsageError("--metrics: name one of ", known);
  for (const std::string& metric : metrics) {
    if (std::ranges::find(kMetricNames, metric) != kMetricNames.end()) continue;
    const std::string near = nearest_name(metric, {kMetricNames.begin(), kMetricNames.end()});
    throw UsageError("--metrics ", metric, ": unknown, must be one of ", known,
                     near.empty() ? "" : join_text("; did you mean ", near, "?"));
  }
  for (auto metric = metrics.begin(); metric != metrics.end(); ++metric)
    if (std::find(metrics.begin(), metric, *metric) != metric)
      throw UsageError("--metrics: ", *metric, " is named twice");
}

/// Refuses options of metrics that are not computed.
void check_metric_options(const EvaluateConfig& config) {
  struct Group {
    std::vector<std::string_view> metrics, options;
  };
  const Group groups[] = {
      {{"bleu"}, {"tokenize", "spm-model", "mecab-dictionary", "smooth-method", "effective-order"}},
      {{"bleu", "bleu-tokenized", "bleu-compound-split"}, {"lowercase"}},
      {{"chrf"}, {"chrf-word-order"}},
      {{"chrf", "chrf++"},
       {"chrf-char-order", "chrf-beta", "chrf-lowercase", "chrf-whitespace", "chrf-eps-smoothing"}},
      {{"ter"}, {"ter-normalized", "ter-no-punct", "ter-asian-support", "ter-case-sensitive"}}};
  EvaluateConfig given = config, usual;
  const auto values = configuration_of(fields_of(given)),
             defaults = configuration_of(fields_of(usual));
  for (const Group& group : groups) {
    const auto is_computed = [&config](std::string_view metric) {
      return std::ranges::find(config.metrics, metric) != config.metrics.end();
    };
    if (std::ranges::any_of(group.metrics, is_computed)) continue;
    for (const std::string_view option : group.options)
      if (const std::string name(option); values.at(name) != defaults.at(name))
        throw UsageError("--", option, ": needs --metrics ", joined(group.metrics, " or "));
  }
}

/// Refuses values that have no effect without another flag.
void check_needs(const EvaluateConfig& config) {
  const EvaluateConfig usual;
  const auto refuse_if = [](bool is_idle, std::string_view flag, std::string_view needs) {
    if (is_idle) throw UsageError("--", flag, ": needs ", needs);
  };
  const bool may_be_mecab = config.tokenize == BleuTokenizer::Auto ||
                            config.tokenize == BleuTokenizer::JaMecab ||
                            config.tokenize == BleuTokenizer::KoMecab;
  const bool has_value =
      config.smooth_method == SmoothMethod::Floor || config.smooth_method == SmoothMethod::AddK;
  const std::string& language = config.tokenizer.target_language;
  refuse_if(!config.tokenizer.spm_model.empty() && config.tokenize != BleuTokenizer::Spm,
            "spm-model", "--tokenize spm");
  refuse_if(!config.tokenizer.mecab_dictionary.empty() &&
                (!may_be_mecab || (config.tokenize == BleuTokenizer::Auto && language.empty())),
            "mecab-dictionary", "--tokenize ja-mecab or ko-mecab");
  refuse_if(config.smooth_value != usual.smooth_value && !has_value, "smooth-value",
            "--smooth-method floor or add-k");
  refuse_if(config.confidence_n != usual.confidence_n && !config.confidence, "confidence-n",
            "--confidence");
  refuse_if(config.paired_bootstrap_n != usual.paired_bootstrap_n && !config.paired_bootstrap,
            "paired-bootstrap-n", "--paired-bootstrap");
  refuse_if(config.paired_approximate_randomization_n != usual.paired_approximate_randomization_n &&
                !config.paired_approximate_randomization,
            "paired-approximate-randomization-n", "--paired-approximate-randomization");
}

}  // namespace

std::vector<std::string> metric_names(const std::vector<std::string>& texts) {
  std::vector<std::string> names;
  for (std::string text : texts) {
    std::ranges::replace(text, ',', ' ');
    for (const std::string_view name : split_words(text)) names.push_back(lower_case(name));
  }
  return names;
}

BleuConfig EvaluateConfig::bleu() const {
  return {.tokenization = tokenization_of(tokenize, tokenizer),
          .lowercase = lowercase,
          .smooth_method = smooth_method,
          .smooth_value = smooth_value,
          .effective_order = effective_order};
}

BleuConfig EvaluateConfig::multi_bleu(bool splits_compounds) const {
  const auto apply = [language = language_of(normal_code(tokenizer.target_language)),
                      splits_compounds](std::string_view line) {
    const std::string tokens = tokenize_moses(line, language);
    return splits_compounds ? split_compounds(tokens) : tokens;
  };
  return {.tokenization = {splits_compounds ? "moses-split" : "moses", apply},
          .lowercase = lowercase,
          .smooth_method = SmoothMethod::None};
}

ChrfConfig EvaluateConfig::chrf_of(std::string_view metric) const {
  ChrfConfig config = chrf;
  if (metric == "chrf++") config.word_order = 2;
  return config;
}

void EvaluateConfig::check() const {
  check_metrics(metrics);
  check_metric_options(*this);
  if (!tokenizer.target_language.empty())
    check_language_code("target-language", tokenizer.target_language);
  check_range("chrf-char-order", chrf.char_order, 0, 100);
  check_range("chrf-word-order", chrf.word_order, 0, 100);
  if (chrf.char_order + chrf.word_order == 0)
    throw UsageError("--chrf-char-order and --chrf-word-order must not both be 0");
  check_range("chrf-beta", chrf.beta, 0, 100);
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
  // Written so that NaN fails, too.
  if (!(smooth_value <= 1e9))
    throw UsageError("--smooth-value ", smooth_value, ": must be a number up to 1e9");
  if (tokenize == BleuTokenizer::Spm && tokenizer.spm_model.empty())
    throw UsageError("--tokenize spm: name a SentencePiece model with --spm-model");
  check_needs(*this);
  if (std::ranges::find(metrics, "bleu") != metrics.end())
    bleu();  // throws if the tokenizer lacks its data
}

namespace {

using Lines = std::span<const std::string>;

std::vector<ScorePart> parts_of(const BleuScore& score) {
  std::vector<ScorePart> parts;
  for (std::size_t n = 0; n < score.precisions.size(); ++n)
    parts.push_back(
        {join_text(n + 1, "-grams found, %"), score.precisions[n], ScorePart::Kind::Precision});
  parts.push_back({"words", static_cast<double>(score.sys_len), ScorePart::Kind::Count});
  parts.push_back(
      {"words of the reference", static_cast<double>(score.ref_len), ScorePart::Kind::Count});
  parts.push_back({"brevity penalty", score.brevity_penalty, ScorePart::Kind::Factor});
  return parts;
}

Metric bleu_metric(std::string name, const BleuConfig& config, std::string_view references,
                   std::string_view version) {
  return {
      .name = std::move(name),
      .signature = bleu_signature(config, references, version),
      .count = [config](Lines lines,
                        const References& refs) { return bleu_statistics(lines, refs, config); },
      .score =
          [config](std::span<const double> sum) { return bleu_of_statistics(sum, config).score; },
      .details =
          [config](std::span<const double> sum) {
            return bleu_details(bleu_of_statistics(sum, config));
          },
      .parts =
          [config](std::span<const double> sum) {
            return parts_of(bleu_of_statistics(sum, config));
          },
      .resampled_score =
          [config](std::span<const float> sum) { return bleu_of_statistics(sum, config).score; }};
}

Metric chrf_metric(const ChrfConfig& config, std::string_view references,
                   std::string_view version) {
  return {
      .name = chrf_name(config),
      .signature = chrf_signature(config, references, version),
      .count = [config](Lines lines,
                        const References& refs) { return chrf_statistics(lines, refs, config); },
      .score = [config](std::span<const double> sum) { return chrf_of_statistics(sum, config); },
      .resampled_score = [config](std::span<const float> sum) -> double {
        return chrf_of_statistics(sum, config);
      },
      .scores_are_float = true};
}

Metric ter_metric(const TerConfig& config, std::string_view references, std::string_view version) {
  return {.name = "TER",
          .signature = ter_signature(config, references, version),
          .lower_is_better = true,
          .count = [config](Lines lines,
                            const References& refs) { return ter_statistics(lines, refs, config); },
          .score = [](std::span<const double> sum) { return ter_of_statistics(sum); },
          .resampled_score = [](std::span<const float> sum) -> double {
            return ter_of_statistics(sum);
          },
          .scores_are_float = true};
}

}  // namespace

std::vector<Metric> metrics_of(const EvaluateConfig& config, const References& lines,
                               std::string_view version) {
  const std::string references = reference_count(lines);
  std::vector<Metric> metrics;
  for (const std::string& name : config.metrics) {
    if (name == "bleu")
      metrics.push_back(bleu_metric("BLEU", config.bleu(), references, version));
    else if (name == "bleu-tokenized")
      metrics.push_back(
          bleu_metric("tokenized BLEU", config.multi_bleu(false), references, version));
    else if (name == "bleu-compound-split")
      metrics.push_back(
          bleu_metric("compound-split BLEU", config.multi_bleu(true), references, version));
    else if (name == "ter")
      metrics.push_back(ter_metric(config.ter, references, version));
    else
      metrics.push_back(chrf_metric(config.chrf_of(name), references, version));
  }
  return metrics;
}

}  // namespace dragoman
