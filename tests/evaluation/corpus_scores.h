// The scores of a corpus, and of one sentence with its references.
#pragma once

#include <span>
#include <string>

#include "evaluation/bleu.h"
#include "evaluation/chrf.h"
#include "evaluation/ter.h"

namespace dragoman {

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
