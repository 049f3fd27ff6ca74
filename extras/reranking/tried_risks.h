// Which weights suit a text: the scores of its translations with each.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "extras/reranking/translation_list.h"

namespace dragoman {

struct TriedRisk {
  RiskConfig config;
  double bleu = 0, chrf = 0;  ///< of the translations that it takes
};

/// BLEU (13a) and chrF with several temperatures, and with several reverse weights if
/// `with_reverse`; weight 0 comes first. `references` has a line for each list.
std::vector<TriedRisk> try_risks(std::span<const TranslationList> lines,
                                 const std::vector<std::string>& references, bool with_reverse);

}  // namespace dragoman
