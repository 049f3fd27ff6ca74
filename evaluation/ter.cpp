#include "evaluation/ter.h"

#include "base/error.h"
#include "evaluation/words.h"

namespace dragoman {

namespace {

class TerCounter {
 public:
  TerCounter(std::span<const std::string> hypotheses, const References& references,
             const TerConfig& config)
      : hypotheses_(hypotheses), references_(references), config_(config) {}

  void operator()(std::size_t line, std::span<double> row) {
    texts_.clear();
    texts_.push_back(prepare(hypotheses_[line]));
    for (const std::string* reference : references_of(references_, line))
      texts_.push_back(prepare(prepare(*reference)));  // twice, as sacreBLEU does
    numbering_.clear();
    const auto hypothesis = numbering_.add(split_words(texts_.front()));
    std::int64_t fewest = -1;
    std::size_t words = 0;
    for (std::size_t r = 1; r < texts_.size(); ++r) {
      const auto reference = numbering_.add(split_words(texts_[r]));
      const std::int64_t edits = translation_edits(hypothesis, reference);
      if (fewest < 0 || edits < fewest) fewest = edits;
      words += reference.size();
    }
    row[0] = static_cast<double>(fewest);
    row[1] = static_cast<double>(words) / static_cast<double>(texts_.size() - 1);
  }

 private:
  std::string prepare(const std::string& line) const {
    return tokenize_for_ter(valid_line(line), config_);
  }

  std::span<const std::string> hypotheses_;
  const References& references_;
  const TerConfig& config_;
  std::vector<std::string> texts_;  ///< hypothesis and references; the vocabulary points into them
  WordNumbering numbering_;
};

template <class Real>
Real score_of(std::span<const Real> sum) {
  if (sum[1] > 0) return 100 * (sum[0] / sum[1]);
  return sum[0] > 0 ? 100 : 0;  // for empty references
}

}  // namespace

LineStatistics ter_statistics(std::span<const std::string> hypotheses, const References& references,
                              const TerConfig& config) {
  check_line_counts(hypotheses, references);
  return count_lines(hypotheses.size(), 2,
                     [&] { return TerCounter(hypotheses, references, config); });
}

double ter_of_statistics(std::span<const double> sum) { return score_of(sum); }

float ter_of_statistics(std::span<const float> sum) { return score_of(sum); }

std::string ter_signature(const TerConfig& config, std::string_view references,
                          std::string_view version) {
  const auto yes = [](bool value) { return value ? "yes" : "no"; };
  return join_text("nrefs:", references, "|case:", config.case_sensitive ? "mixed" : "lc",
                   "|tok:tercom|norm:", yes(config.normalized), "|punct:", yes(!config.no_punct),
                   "|asian:", yes(config.asian_support), "|version:", version);
}

}  // namespace dragoman
