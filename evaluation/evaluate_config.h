// The settings of an evaluation: the metrics, sacreBLEU's options for them under sacreBLEU's names,
// significance tests, and the format of the output. Then the metrics that they ask for.
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

/// The names in texts like "BLEU,chrF++", in lower case.
std::vector<std::string> metric_names(const std::vector<std::string>& texts);

struct EvaluateConfig {
  std::vector<std::string> metrics = {"bleu", "chrf"};  ///< of kMetricNames
  bool sentence_level = false;                          ///< a score for each line
  BleuTokenizer tokenize = BleuTokenizer::Auto;
  TokenizerData tokenizer;
  bool lowercase = false;
  SmoothMethod smooth_method = SmoothMethod::Exp;
  double smooth_value = -1;
  bool effective_order = false;
  ChrfConfig chrf;
  TerConfig ter;
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
  ChrfConfig chrf_of(std::string_view metric) const;

  /// Throws UsageError naming the flag, or Error if BLEU's tokenizer cannot be loaded.
  void check() const;

  void for_each_field(const auto& visit) {
    metric_fields(fields_under("Metrics", visit));
    bleu_fields(fields_under("BLEU", visit));
    chrf_fields(fields_under("chrF and chrF++", visit));
    ter_fields(fields_under("TER", visit));
    significance_fields(fields_under("Significance", visit));
    output_fields(fields_under("Output of scores", visit));
  }

 private:
  void metric_fields(const auto& field) {
    field("metrics", metrics,
          "bleu, chrf, chrf++, ter; bleu-tokenized and bleu-compound-split: the figures of older "
          "papers, which are not comparable with bleu",
          {.placeholder = "bleu|chrf|chrf++|ter|bleu-tokenized|bleu-compound-split"});
    field("target-language", tokenizer.target_language,
          "code of the language of the translations, for example de; decides the tokenizer of "
          "--tokenize auto, "
          "and how bleu-tokenized separates apostrophes",
          {.aliases = "tgt-lang,target-lang", .placeholder = "CODE"});
    field("sentence-level", sentence_level, "score each line by itself", {.aliases = "sl"});
  }

  void bleu_fields(const auto& field) {
    field("tokenize", tokenize,
          "tokenizer of BLEU; auto: zh, ja-mecab or ko-mecab by --target-language, otherwise 13a",
          {.aliases = "tok"});
    field("spm-model", tokenizer.spm_model,
          "SentencePiece model of --tokenize spm, for example that of FLORES-200",
          {.placeholder = "FILE"});
    field("mecab-dictionary", tokenizer.mecab_dictionary,
          "folder of the dictionary for --tokenize ja-mecab and ko-mecab, if MeCab is not set up "
          "with one",
          {.placeholder = "FOLDER"});
    field("lowercase", lowercase, "BLEU ignores case (chrF has --chrf-lowercase)",
          {.aliases = "lc"});
    field("smooth-method", smooth_method, "smoothing of n-gram orders without a match");
    field("smooth-value", smooth_value,
          "value for the smoothing methods floor (negative: 0.1) and add-k (negative: 1)",
          {.aliases = "sv"});
    field("effective-order", effective_order,
          "leave out orders longer than the line, for --sentence-level");
  }

  void chrf_fields(const auto& field) {
    field("chrf-char-order", chrf.char_order, "longest n-gram of characters", {.aliases = "cc"});
    field("chrf-word-order", chrf.word_order, "longest n-gram of words for chrf (chrf++ has 2)",
          {.aliases = "cw"});
    field("chrf-beta", chrf.beta, "recall counts this many times as much as precision");
    field("chrf-lowercase", chrf.lowercase, "chrF ignores case");
    field("chrf-whitespace", chrf.whitespace, "white space counts as characters");
    field("chrf-eps-smoothing", chrf.eps_smoothing,
          "smooth as chrF++.py, NLTK and Moses do, instead of by effective order");
  }

  void ter_fields(const auto& field) {
    field("ter-normalized", ter.normalized,
          "treat punctuation as words of its own, as Tercom does");
    field("ter-no-punct", ter.no_punct, "leave out punctuation");
    field("ter-asian-support", ter.asian_support,
          "apply --ter-normalized and --ter-no-punct to Chinese and Japanese characters, too");
    field("ter-case-sensitive", ter.case_sensitive, "TER distinguishes upper and lower case");
  }

  void significance_fields(const auto& field) {
    field("confidence", confidence,
          "95 % intervals of each system's scores, by bootstrap resampling", {.aliases = "ci"});
    field("confidence-n", confidence_n, "resampled corpora of --confidence", {.aliases = "cin"});
    field("paired-bootstrap", paired_bootstrap,
          "p-values of the differences between the other systems and the first, by bootstrap "
          "resampling",
          {.aliases = "paired-bs,pbs"});
    field("paired-bootstrap-n", paired_bootstrap_n, "resampled corpora of --paired-bootstrap",
          {.aliases = "paired-bs-n,pbsn"});
    field("paired-approximate-randomization", paired_approximate_randomization,
          "p-values of these differences, by exchanging lines with the first system",
          {.aliases = "paired-ar,par"});
    field("paired-approximate-randomization-n", paired_approximate_randomization_n,
          "exchanges of --paired-approximate-randomization", {.aliases = "paired-ar-n,parn"});
  }

  void output_fields(const auto& field) {
    field("format", format, "how scores are printed");
    field("width", width, "decimals of a score");
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
  /// As sacreBLEU writes them: "BLEU", "chrF2", "chrF2++", "TER"; "tokenized BLEU".
  std::string name, signature;
  bool lower_is_better = false;
  std::function<LineStatistics(std::span<const std::string> hypotheses,
                               const References& references)>
      count;
  std::function<double(std::span<const double> sum)> score;
  /// Only BLEU has these: sacreBLEU's text, and its parts for people.
  std::function<std::string(std::span<const double> sum)> details = [](std::span<const double>) {
    return "";
  };
  std::function<std::vector<ScorePart>(std::span<const double> sum)> parts =
      [](std::span<const double>) { return std::vector<ScorePart>(); };
  /// The score of a resampled corpus, whose sums are in float, with sacreBLEU's roundings.
  std::function<double(std::span<const float> sum)> resampled_score;
  bool scores_are_float = false;  ///< sacreBLEU keeps resampled scores as float, too
};

/// The metrics in the order of config.metrics. `references` has a line or more; `version` ends the
/// signatures. The configuration must be valid. Errors: those of tokenization_of.
std::vector<Metric> metrics_of(const EvaluateConfig& config, const References& references,
                               std::string_view version);

}  // namespace dragoman
