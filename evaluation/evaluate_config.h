// The settings of an evaluation: the metrics, sacreBLEU's options for them under sacreBLEU's names,
// tests of significance, and the format of the output. Then the metrics that they ask for.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "evaluation/bleu.h"
#include "evaluation/chrf.h"
#include "evaluation/line_statistics.h"
#include "evaluation/ter.h"

namespace dragoman {

enum class ReportFormat { Text, Json, Markdown, Latex };

constexpr std::array<std::string_view, 4> names_of(ReportFormat) {
  return {"text", "json", "markdown", "latex"};
}

inline constexpr std::array<std::string_view, 6> kMetricNames = {
    "bleu", "chrf", "chrf++", "ter", "bleu-tokenized", "bleu-compound-split"};

struct EvaluateConfig {
  std::vector<std::string> metrics = {"bleu", "chrf"};  ///< of kMetricNames
  bool sentence_level = false;                          ///< a score for each line
  std::string target_language;
  BleuTokenizer tokenize = BleuTokenizer::Auto;
  std::string spm_model;
  std::string mecab_dictionary;
  bool lowercase = false;
  SmoothMethod smooth_method = SmoothMethod::Exp;
  double smooth_value = -1;
  bool effective_order = false;
  std::int64_t chrf_char_order = 6;
  std::int64_t chrf_word_order = 0;
  std::int64_t chrf_beta = 2;
  bool chrf_lowercase = false;
  bool chrf_whitespace = false;
  bool chrf_eps_smoothing = false;
  bool ter_normalized = false;
  bool ter_no_punct = false;
  bool ter_asian_support = false;
  bool ter_case_sensitive = false;
  bool confidence = false;
  std::int64_t confidence_n = 1000;
  bool paired_bootstrap = false;
  std::int64_t paired_bootstrap_n = 1000;
  bool paired_approximate_randomization = false;
  std::int64_t paired_approximate_randomization_n = 10000;
  ReportFormat format = ReportFormat::Text;
  std::int64_t width = 2;

  BleuConfig bleu() const;  ///< Errors: those of tokenization_of
  /// The BLEU of multi-bleu.perl on Moses's tokens, without smoothing.
  BleuConfig multi_bleu(bool splits_compounds) const;
  /// For the metric "chrf" or "chrf++". The latter has two orders of words, whatever the option
  /// says.
  ChrfConfig chrf(std::string_view metric) const;
  TerConfig ter() const;

  /// Throws UsageError naming the flag, or Error if BLEU's tokenizer cannot be loaded.
  void check() const;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    metric_fields(visit);
    bleu_fields(visit);
    chrf_fields(visit);
    ter_fields(visit);
    significance_fields(visit);
    output_fields(visit);
  }

 private:
  template <class Visit>
  void metric_fields(Visit& visit) {
    constexpr std::string_view kMetrics = "Metrics";
    visit(
        {.name = "metrics",
         .help = "bleu, chrf, chrf++, ter; bleu-tokenized and bleu-compound-split: the figures of "
                 "older papers, which are not comparable with bleu",
         .group = kMetrics},
        metrics);
    visit({.name = "target-language",
           .help = "language of the translations, two letters; decides the tokenizer of --tokenize "
                   "auto, and how bleu-tokenized separates apostrophes",
           .group = kMetrics,
           .aliases = "tgt-lang,target-lang"},
          target_language);
    visit({.name = "sentence-level",
           .help = "score each line by itself",
           .group = kMetrics,
           .aliases = "sl"},
          sentence_level);
  }

  template <class Visit>
  void bleu_fields(Visit& visit) {
    constexpr std::string_view kBleu = "BLEU";
    visit(
        {.name = "tokenize",
         .help = "tokenizer of BLEU; auto: zh, ja-mecab or ko-mecab by --target-language, else 13a",
         .group = kBleu,
         .aliases = "tok"},
        tokenize);
    visit({.name = "spm-model",
           .help = "SentencePiece model of --tokenize spm, for example that of FLORES-200",
           .group = kBleu,
           .placeholder = "FILE"},
          spm_model);
    visit(
        {.name = "mecab-dictionary",
         .help = "folder of the dictionary of --tokenize ja-mecab and ko-mecab, where MeCab is not "
                 "set up with one",
         .group = kBleu,
         .placeholder = "FOLDER"},
        mecab_dictionary);
    visit({.name = "lowercase",
           .help = "BLEU ignores case (chrF has --chrf-lowercase)",
           .group = kBleu,
           .aliases = "lc"},
          lowercase);
    visit({.name = "smooth-method",
           .help = "smoothing of n-gram orders without a match",
           .group = kBleu},
          smooth_method);
    visit({.name = "smooth-value",
           .help = "value of the smoothing floor (negative: 0.1) or add-k (negative: 1)",
           .group = kBleu,
           .aliases = "sv"},
          smooth_value);
    visit({.name = "effective-order",
           .help = "leave out orders longer than the line, for --sentence-level",
           .group = kBleu},
          effective_order);
  }

  template <class Visit>
  void chrf_fields(Visit& visit) {
    constexpr std::string_view kChrf = "chrF and chrF++";
    visit({.name = "chrf-char-order",
           .help = "longest n-gram of characters",
           .group = kChrf,
           .aliases = "cc"},
          chrf_char_order);
    visit({.name = "chrf-word-order",
           .help = "longest n-gram of words for chrf (chrf++ has 2)",
           .group = kChrf,
           .aliases = "cw"},
          chrf_word_order);
    visit({.name = "chrf-beta",
           .help = "recall counts this many times as much as precision",
           .group = kChrf},
          chrf_beta);
    visit({.name = "chrf-lowercase", .help = "chrF ignores case", .group = kChrf}, chrf_lowercase);
    visit({.name = "chrf-whitespace", .help = "white space counts as characters", .group = kChrf},
          chrf_whitespace);
    visit({.name = "chrf-eps-smoothing",
           .help = "smooth as chrF++.py, NLTK and Moses do, instead of by effective order",
           .group = kChrf},
          chrf_eps_smoothing);
  }

  template <class Visit>
  void ter_fields(Visit& visit) {
    constexpr std::string_view kTer = "TER";
    visit({.name = "ter-normalized",
           .help = "make words of punctuation, as Tercom does",
           .group = kTer},
          ter_normalized);
    visit({.name = "ter-no-punct", .help = "leave out punctuation", .group = kTer}, ter_no_punct);
    visit({.name = "ter-asian-support",
           .help =
               "apply --ter-normalized and --ter-no-punct to Chinese and Japanese characters, too",
           .group = kTer},
          ter_asian_support);
    visit({.name = "ter-case-sensitive",
           .help = "TER distinguishes upper and lower case",
           .group = kTer},
          ter_case_sensitive);
  }

  template <class Visit>
  void significance_fields(Visit& visit) {
    constexpr std::string_view kSignificance = "Significance";
    visit({.name = "confidence",
           .help = "95 % intervals of each system's scores, by bootstrap resampling",
           .group = kSignificance,
           .aliases = "ci"},
          confidence);
    visit({.name = "confidence-n",
           .help = "resampled corpora of --confidence",
           .group = kSignificance,
           .aliases = "cin"},
          confidence_n);
    visit(
        {.name = "paired-bootstrap",
         .help =
             "p-values of the differences of several systems to the first, by bootstrap resampling",
         .group = kSignificance,
         .aliases = "paired-bs,pbs"},
        paired_bootstrap);
    visit({.name = "paired-bootstrap-n",
           .help = "resampled corpora of --paired-bootstrap",
           .group = kSignificance,
           .aliases = "paired-bs-n,pbsn"},
          paired_bootstrap_n);
    visit({.name = "paired-approximate-randomization",
           .help = "p-values of these differences, by exchanging lines with the first system",
           .group = kSignificance,
           .aliases = "paired-ar,par"},
          paired_approximate_randomization);
    visit({.name = "paired-approximate-randomization-n",
           .help = "exchanges of --paired-approximate-randomization",
           .group = kSignificance,
           .aliases = "paired-ar-n,parn"},
          paired_approximate_randomization_n);
  }

  template <class Visit>
  void output_fields(Visit& visit) {
    constexpr std::string_view kOutput = "Output of scores";
    visit({.name = "format", .help = "how scores are printed", .group = kOutput}, format);
    visit({.name = "width", .help = "decimals of a score", .group = kOutput}, width);
  }
};

/// A part of a score, with a name for people: "2-grams found, %".
struct ScorePart {
  enum class Kind { Precision, Count, Factor };

  std::string name;
  double value;
  Kind kind;
};

/// A metric with its options: a function that counts lines, and one that makes a score of a sum of
/// counts.
struct Metric {
  std::string
      name;  ///< as sacreBLEU writes it: "BLEU", "chrF2", "chrF2++", "TER"; "tokenized BLEU"
  std::string signature;  ///< sacreBLEU's
  bool lower_is_better = false;
  std::function<LineStatistics(std::span<const std::string> hypotheses,
                               const References& references)>
      count;
  std::function<double(std::span<const double> sum)> score;
  std::function<std::string(std::span<const double> sum)> details;           ///< empty text: none
  std::function<std::vector<ScorePart>(std::span<const double> sum)> parts;  ///< perhaps none
  /// The score of a resampled corpus, whose sums are in float, with sacreBLEU's roundings.
  std::function<double(std::span<const float> sum)> resampled_score;
  bool scores_are_float = false;  ///< sacreBLEU keeps resampled scores as float, too
};

/// The metrics in the order of config.metrics. `references` has a line or more; `version` ends the
/// signatures. The configuration must be valid. Errors: those of tokenization_of.
std::vector<Metric> metrics_of(const EvaluateConfig& config, const References& references,
                               std::string_view version);

}  // namespace dragoman
