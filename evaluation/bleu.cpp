#include "evaluation/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/fields.h"
#include "base/formatted_text.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

double smooth_value_of(const BleuConfig& config) {
  if (config.smooth_value >= 0) return config.smooth_value;
  return config.smooth_method == SmoothMethod::AddK ? 1 : 0.1;
}

/// Counts lines one after the other, in the same tables.
class BleuCounter {
 public:
  explicit BleuCounter(const BleuConfig& config) : config_(config), matcher_(config.max_order) {}

  void operator()(const std::string& hypothesis, const std::vector<const std::string*>& references,
                  std::span<double> row) {
    const std::string text = bleu_tokens(hypothesis, config_);
    const auto words = split_words(text);
    const auto length = std::ssize(words);
    row[0] = static_cast<double>(length);
    row[1] = static_cast<double>(add_references(references, length));
    const auto order = static_cast<std::size_t>(config_.max_order);
    matches_.assign(order, 0);
    matcher_.match(numbering_.find(words), matches_);
    for (std::size_t n = 1; n <= order; ++n) {
      row[1 + n] = static_cast<double>(matches_[n - 1]);
      row[1 + order + n] = static_cast<double>(ngram_count(words.size(), static_cast<int>(n)));
    }
  }

 private:
  /// Returns the reference length that is closest to the hypothesis's; of two such lengths, the
  /// shorter.
  std::int64_t add_references(const std::vector<const std::string*>& references,
                              std::int64_t length) {
    numbering_.clear();
    texts_.clear();
    for (const std::string* reference : references)
      texts_.push_back(bleu_tokens(*reference, config_));
    std::vector<std::vector<std::uint32_t>> words;
    std::size_t symbols = 0;
    for (const std::string& text : texts_) {
      words.push_back(numbering_.add(split_words(text)));
      symbols += words.back().size();
    }
    matcher_.start(symbols);
    std::int64_t closest = -1;
    for (const auto& reference : words) {
      matcher_.add_reference(reference);
      const auto candidate = std::ssize(reference);
      const auto distance = std::abs(length - candidate), best = std::abs(length - closest);
      if (closest < 0 || distance < best || (distance == best && candidate < closest))
        closest = candidate;
    }
    return closest;
  }

  const BleuConfig& config_;
  std::vector<std::string> texts_;  ///< the line's references, which the numbering points into
  WordNumbering numbering_;
  NgramMatcher matcher_;
  std::vector<std::int64_t> matches_;
};

/// The precisions in percent up to the first order that has no n-gram. Sets `effective_order` to
/// the number of these orders.
template <class Real>
std::vector<double> precisions_of(std::span<const Real> counts, std::span<const Real> totals,
                                  const BleuConfig& config, std::size_t& effective_order) {
  std::vector<double> precisions(counts.size());
  const double smooth_value = smooth_value_of(config);
  Real smooth_exp = 1;
  effective_order = 0;
  for (std::size_t n = 0; n < precisions.size(); ++n) {
    const auto added =
        static_cast<Real>(config.smooth_method == SmoothMethod::AddK && n > 0 ? smooth_value : 0);
    const Real count = counts[n] + added, total = totals[n] + added;
    if (total == 0) break;
    effective_order = n + 1;
    if (count != 0) {
      precisions[n] = 100 * count / total;
    } else if (config.smooth_method == SmoothMethod::Exp) {
      smooth_exp *= 2;
      precisions[n] = 100 / (smooth_exp * total);
    } else if (config.smooth_method == SmoothMethod::Floor) {
      precisions[n] = static_cast<Real>(100. * smooth_value) / total;
    }
  }
  return precisions;
}

/// The logarithm with sacreBLEU's floor, which is so low that one such order makes the score 0.
double floored_log(double x) { return x == 0 ? -9999999999. : std::log(x); }

}  // namespace

template <class Real>
BleuScore bleu_of_statistics(std::span<const Real> sum, const BleuConfig& config) {
  const auto order = static_cast<std::size_t>(config.max_order);
  const auto counts = sum.subspan(2, order), totals = sum.subspan(2 + order, order);
  BleuScore score;
  score.sys_len = static_cast<std::int64_t>(sum[0]);
  score.ref_len = static_cast<std::int64_t>(sum[1]);
  for (const Real count : counts) score.counts.push_back(static_cast<std::int64_t>(count));
  for (const Real total : totals) score.totals.push_back(static_cast<std::int64_t>(total));
  score.precisions.assign(order, 0);
  if (score.sys_len < score.ref_len) {
    score.brevity_penalty =
        score.sys_len > 0
            ? std::exp(1 - static_cast<double>(score.ref_len) / static_cast<double>(score.sys_len))
            : 0;
  }
  if (std::ranges::all_of(counts, [](Real count) { return count == 0; })) return score;
  std::size_t effective_order;
  score.precisions = precisions_of(counts, totals, config, effective_order);
  const std::size_t orders = config.effective_order ? effective_order : order;
  double logarithms = 0;
  for (std::size_t n = 0; n < orders; ++n) logarithms += floored_log(score.precisions[n]);
  score.score = score.brevity_penalty * std::exp(logarithms / static_cast<double>(orders));
  return score;
}
template BleuScore bleu_of_statistics(std::span<const double>, const BleuConfig&);
template BleuScore bleu_of_statistics(std::span<const float>, const BleuConfig&);

std::string bleu_tokens(const std::string& line, const BleuConfig& config) {
  std::string text = valid_line(line);
  if (config.lowercase) text = lower_case(text);
  return config.tokenization.apply(text);
}

LineStatistics bleu_statistics(std::span<const std::string> hypotheses,
                               const References& references, const BleuConfig& config) {
  const std::size_t width = 2 + 2 * static_cast<std::size_t>(config.max_order);
  return count_lines(hypotheses, references, width, [&] { return BleuCounter(config); });
}

std::string bleu_signature(const BleuConfig& config, std::string_view references,
                           std::string_view version) {
  std::string value;
  if (config.smooth_method == SmoothMethod::Floor || config.smooth_method == SmoothMethod::AddK)
    value = join_text("[", fixed_text(smooth_value_of(config), 2), "]");
  return join_text("nrefs:", references, config.lowercase ? "|case:lc" : "|case:mixed",
                   config.effective_order ? "|eff:yes" : "|eff:no",
                   "|tok:", config.tokenization.name, "|smooth:", name_of(config.smooth_method),
                   value, "|version:", version);
}

std::string bleu_details(const BleuScore& score) {
  std::vector<std::string> precisions;
  for (double precision : score.precisions) precisions.push_back(fixed_text(precision, 1));
  const double ratio =
      score.ref_len == 0 ? 0
                         : static_cast<double>(score.sys_len) / static_cast<double>(score.ref_len);
  return join_text(joined(precisions, "/"), " (BP = ", fixed_text(score.brevity_penalty, 3),
                   " ratio = ", fixed_text(ratio, 3), " hyp_len = ", score.sys_len,
                   " ref_len = ", score.ref_len, ")");
}

}  // namespace dragoman
