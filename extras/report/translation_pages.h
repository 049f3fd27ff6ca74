// Pages about translations: one about an evaluation, one about a single sentence. A page needs no
// network. Its script draws it from one block of JSON, so that a page of thousands of sentences
// opens at once.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "extras/report/line_chart.h"

namespace dragoman {

struct PageChart {
  std::string title;
  LineChart chart;
};

/// The page about translations of the same text by one system or several: the scores, their parts,
/// and the sentences side by side.
///
/// `charts`: curves that stand after the scores, perhaps none. `data`, which
/// extras/report/page/*.js read:
///   width        decimals of scores
///   systems      [{name, path, model: whether it is one that explain can open}]
///   paired       whether p-values of the scores are those of differences from the first system
///   samples      resampled corpora behind the pairs
///   lowercase    whether n-grams are lower-cased
///   metrics      [{name, signature, lower (is better),
///                  scores: [system]{score, mean?, interval?, p?},
///                  parts: [{name, kind: precision | count | factor, values: [system]}],
///                  lengths: [group of lengths][system] score,
///                  pairs: [{first, second, low, high, p}] of every two systems, first < second,
///                  sentences: [system][line] score}]
///   lengths      {of: source | reference, groups: [{name, words, lines}]}
///   frequencies  [{name, words, f1: [system]}]
///   ngrams       [{text, order, reference, found: [system], superfluous: [system]}]
///   explanations [{system, line, page: its address}], perhaps none
///   search       the flags by which explain searches as the models did, or null: it cannot
///   source       [line] texts, or nothing
///   references   [reference][line] texts
///   translations [system][line] texts
std::string evaluation_page(const std::string& title, const std::vector<PageChart>& charts,
                            const nlohmann::ordered_json& data);

/// The page about what a model does with a sentence: its attention, the computation of one word's,
/// the search, the sizes of the model. `json`: the text of one explanation (docs/explanation.md).
/// `nonce`: HtmlPage::nonce.
std::string explanation_page(std::string_view json, const std::string& nonce = "");

}  // namespace dragoman
