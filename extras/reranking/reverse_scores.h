// A model of the other direction reads each translation, and says how probable the source is.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>

#include "extras/reranking/translation_list.h"
#include "inference/forced_scores.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// It translates from the language of the translations.
struct ReverseModel {
  const TokenizerPair& tokenizers;
  std::int64_t max_positions = 0;  ///< of a sentence and of its translation, in tokens
  PairScorer score;
  Pairing pairing;
};

/// Fills in ListedTranslation::reverse; `sources` has the line of each list. If a sentence of a
/// line or of one of its translations is too long for the model, the line stays as it is. Returns
/// the number of such lines. After a stop the scores are of no use.
std::int64_t add_reverse_scores(std::span<TranslationList> lines,
                                std::span<const std::string> sources, const ReverseModel& model,
                                const std::stop_token& stop);

}  // namespace dragoman
