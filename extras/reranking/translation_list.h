// Several translations of a line, and which of them to take: the one with the least Bayes risk
// (Kumar and Byrne 2004), which is the one that is most like all of them. Here chrF says how alike
// two translations are.
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
};
using TranslationList = std::vector<ListedTranslation>;  ///< of one line

/// Reads a line of an n-best list: "line ||| translation ||| F0= log-probability ||| score", as
/// `translate --n-best` and Marian write it. Without F0= the score is the last column. Nothing if
/// it is not such a line.
std::optional<ListedTranslation> read_listed(std::string_view line);

/// For each line the number of the translation with the greatest expected chrF against all of them.
/// Each counts by exp(score / temperature): at a high temperature all count alike, at a low one
/// only the best. Of equals the first is taken. Computed on all cores. No line may be without
/// translations.
std::vector<std::size_t> least_risks(std::span<const TranslationList> lines, double temperature);

}  // namespace dragoman
