// The settings of a translation. Each line may have its own: lines with different settings share an
// engine's rows and do not change each other's translations.
#pragma once

#include <memory>
#include <string>

#include "inference/demands.h"
#include "inference/search/decode_config.h"
#include "inference/search/search.h"
#include "tokenizer/terms.h"

namespace dragoman {

struct TranslationRequest {
  DecodeConfig config = {};                     ///< batch_size is ignored: see Workers::Limits
  std::shared_ptr<const Demands> demands = {};  ///< null: none
  bool reports_words = false;
  bool reports_attention = false;    ///< of each word; words are then reported, too
  bool words_of_best_alone = false;  ///< the other n_best are texts and scores
};

/// A request that has been checked, with its texts as tokens; made by TranslationService::prepare.
struct PreparedRequest {
  std::shared_ptr<const SearchSettings> settings;
  std::shared_ptr<const Demands> demands;  ///< not null
  bool reports_words, reports_attention;
  bool words_of_best_alone = false;
};

/// A line to be translated.
struct LineInput {
  std::string text;  ///< any bytes
  /// Valid UTF-8; the translation begins with it. If white space ends it, its last word is
  /// complete.
  std::string prefix = {};
  Terms terms = {};  ///< of this line alone; they come before the others. None with sampling
  std::shared_ptr<const PreparedRequest> request = {};  ///< null: Submission::request
};

}  // namespace dragoman
