// Several translations of a line, and which of them to take: the one with the least Bayes risk
// (Kumar and Byrne 2004), which is the one that is most like all of them. Here chrF says how alike
// two translations are. A translation counts more if it is probable given the source, and if the
// source is probable given the translation, says a model of the other direction (Yee, Dauphin and
// Auli 2019).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// A translation of a line.
struct ListedTranslation {
  std::int64_t line = 0;  ///< the number of that line
  std::string text;
  double score = 0;  ///< its log-probability, divided by a power of its length
  /// log P(source | translation), divided by the number of the source's tokens; 0 if no model of
  /// the other direction was asked.
  double reverse = 0;
};
using TranslationList = std::vector<ListedTranslation>;  ///< of one line

/// Reads a line of an n-best list: "line ||| translation ||| F0= log-probability ||| score", as
/// `translate --n-best` and Marian write it. Without F0= the score is the last column. Nothing if
/// it is not such a line.
std::optional<ListedTranslation> read_listed(std::string_view line);

/// chrF of each of n translations against each of them: [n, n], row by row.
using Likeness = std::vector<double>;

/// Computed on all cores. No line may be without translations.
std::vector<Likeness> likeness_of(std::span<const TranslationList> lines);

struct RiskConfig {
  double reverse_weight = 0;  ///< of ListedTranslation::reverse beside the score
  /// A translation counts by exp((score + reverse_weight * reverse) / temperature): at a high
  /// temperature all count alike, at a low one only the best.
  double temperature = 0.05;
};

/// The number of the translation with the greatest expected chrF against all of them; of equals the
/// first.
std::size_t least_risk(const TranslationList& translations, const Likeness& likeness,
                       const RiskConfig& config);

/// A choice of weights, and the scores of the translations that it takes.
struct TriedRisk {
  RiskConfig config;
  double bleu = 0, chrf = 0;  ///< BLEU with 13a tokens, chrF2
};

/// The scores with several temperatures, and with several reverse weights if `with_reverse`; weight
/// 0 comes first. `references` has a line for each list.
std::vector<TriedRisk> try_risks(std::span<const TranslationList> lines,
                                 const std::vector<std::string>& references, bool with_reverse);

}  // namespace dragoman
