// Lines that the tests of metrics score, with their references, and functions that score them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "evaluation/bleu.h"
#include "evaluation/chrf.h"
#include "evaluation/line_statistics.h"
#include "evaluation/ter.h"

namespace dragoman {

// Six lines with punctuation, numbers, an empty hypothesis, a missing reference (None in
// sacreBLEU), case, and a language without spaces; made for these tests.
inline const std::vector<std::string> kHypotheses = {"The cat sat on the mat.",
                                                     "It's 1,000.50 dollars (approx.), no?",
                                                     "Das ist ein Test – „gut“.",
                                                     "",
                                                     "one",
                                                     "猫はマットの上に座った。"};
inline const References kReferences = {
    {"The cat is sitting on the mat.", "It is 1,000.50 dollars (about), isn't it?",
     "Das ist ein guter Test – „gut“!", "not empty", "ONE", "猫がマットの上に座っている。"},
    {"A cat sat on a mat .", "That's 1,000.50 dollars, approximately.", "Dies ist ein Test.", "",
     "One", "猫はマットに座った。"}};

/// The first `count` references.
inline References first_references(std::size_t count) {
  return {kReferences.begin(), kReferences.begin() + static_cast<std::ptrdiff_t>(count)};
}

/// The references of one sentence, each as a text of one line.
inline References single_references(std::span<const std::string> references) {
  References texts;
  for (const std::string& reference : references) texts.push_back({reference});
  return texts;
}

inline BleuScore corpus_bleu(std::span<const std::string> hypotheses, const References& references,
                             const BleuConfig& config = {}) {
  return bleu_of_statistics(
      std::span<const double>(bleu_statistics(hypotheses, references, config).sum()), config);
}

inline BleuScore sentence_bleu(const std::string& hypothesis,
                               std::span<const std::string> references,
                               const BleuConfig& config = {}) {
  return corpus_bleu({&hypothesis, 1}, single_references(references), config);
}

inline double corpus_chrf(std::span<const std::string> hypotheses, const References& references,
                          const ChrfConfig& config = {}) {
  return chrf_of_statistics(
      std::span<const double>(chrf_statistics(hypotheses, references, config).sum()), config);
}

inline double sentence_chrf(const std::string& hypothesis, std::span<const std::string> references,
                            const ChrfConfig& config = {}) {
  return corpus_chrf({&hypothesis, 1}, single_references(references), config);
}

inline double corpus_ter(std::span<const std::string> hypotheses, const References& references,
                         const TerConfig& config = {}) {
  return ter_of_statistics(
      std::span<const double>(ter_statistics(hypotheses, references, config).sum()));
}

}  // namespace dragoman
