// What to score with: the metrics, sacreBLEU's options for them under sacreBLEU's names, and how to
// print the scores.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "evaluation/bleu.h"
#include "evaluation/chrf.h"

namespace dragoman {

enum class ReportFormat { Text, Json, Markdown };

constexpr std::array<std::string_view, 3> names_of(ReportFormat) {
  return {"text", "json", "markdown"};
}

struct EvaluateConfig {
  std::vector<std::string> metrics = {"bleu", "chrf"};  ///< of "bleu", "chrf", "chrf++"
  bool sentence_level = false;                          ///< a score for each line
  BleuTokenizer tokenize = BleuTokenizer::V13a;
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
  ReportFormat format = ReportFormat::Text;
  std::int64_t width = 2;

  BleuConfig bleu() const;
  /// Of the metric "chrf" or "chrf++"; the latter has two orders of words, whatever the option
  /// says.
  ChrfConfig chrf(std::string_view metric) const;

  /// Throws UsageError naming the flag.
  void validate() const;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    constexpr std::string_view kMetrics = "Metrics", kBleu = "BLEU", kChrf = "chrF and chrF++";
    constexpr std::string_view kOutput = "Output of scores";
    visit({.name = "metrics", .help = "bleu, chrf, chrf++", .group = kMetrics}, metrics);
    visit({.name = "sentence-level",
           .help = "score each line by itself",
           .group = kMetrics,
           .aliases = "sl"},
          sentence_level);
    visit({.name = "tokenize",
           .help = "what BLEU's n-grams are made of",
           .group = kBleu,
           .aliases = "tok"},
          tokenize);
    visit({.name = "lowercase",
           .help = "BLEU ignores case (chrF has --chrf-lowercase)",
           .group = kBleu,
           .aliases = "lc"},
          lowercase);
    visit({.name = "smooth-method",
           .help = "what becomes of an n-gram order without a match",
           .group = kBleu},
          smooth_method);
    visit({.name = "smooth-value",
           .help = "for floor (negative: 0.1) and add-k (negative: 1)",
           .group = kBleu,
           .aliases = "sv"},
          smooth_value);
    visit({.name = "effective-order",
           .help = "leave out orders longer than the line, for --sentence-level",
           .group = kBleu},
          effective_order);
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
    visit({.name = "format", .help = "how scores are printed", .group = kOutput}, format);
    visit({.name = "width", .help = "decimals of a score", .group = kOutput}, width);
  }
};

}  // namespace dragoman
