// What is asked of a translation. It belongs to the line: lines with unlike requests share an
// engine's rows and change nothing about each other.
#pragma once

#include <memory>
#include <string>

#include "inference/decode_config.h"
#include "inference/demands.h"
#include "inference/search.h"
#include "tokenizer/terms.h"

namespace dragoman {

struct TranslationRequest {
  DecodeConfig search = {};                     ///< but for batch_size, which is the service's
  std::shared_ptr<const Demands> demands = {};  ///< null: none
  bool reports_words = false;
  bool reports_attention = false;  ///< of each word
};

/// A request that has been checked, with its texts as tokens; made by TranslationService::prepare.
struct PreparedRequest {
  std::shared_ptr<const SearchSettings> search;
  std::shared_ptr<const Demands> demands;  ///< not null
  bool reports_words, reports_attention;
};

/// A line as it comes.
struct LineInput {
  std::string text;  ///< any bytes
  /// The translation begins with it, valid UTF-8; where white space ends it, so does its last word.
  std::string prefix = {};
  Terms terms = {};  ///< of this line alone; they come before the others
  std::shared_ptr<const PreparedRequest> request = {};  ///< null: as for the other lines
};

}  // namespace dragoman
