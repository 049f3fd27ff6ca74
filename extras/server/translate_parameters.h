// The common form of both interfaces: a translation as it is asked for and as it is answered.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "extras/markup/markup_format.h"
#include "extras/server/http.h"
#include "extras/server/text_layout.h"
#include "extras/server/word_report.h"
#include "inference/demands.h"
#include "inference/search/decode_config.h"

namespace dragoman {

/// The bounds of a request; below 0: none.
struct RequestLimits {
  std::int64_t characters = 100'000;  ///< Unicode code points of all texts
  std::int64_t texts = 1'000;
  std::int64_t alternatives = 10;
  std::int64_t explained_characters = 500;  ///< of a text that is explained; 0: none is
};

struct TranslateParameters {
  std::vector<std::string> texts;
  bool is_list = true;       ///< the answer is a list, too
  std::string source;        ///< a code that is served; empty: to be detected
  std::string target;        ///< a code that is served
  bool detects_each = true;  ///< the language of each text, or of all together
  std::int64_t alternatives = 0;
  std::optional<SplitSentences> split = std::nullopt;
  LineBreaks line_breaks = LineBreaks::Kept;
  bool shows_characters = false;
  bool shows_alignment = false, shows_word_scores = false;
  std::shared_ptr<const Demands> demands = nullptr;  ///< terms; null: none
  std::string glossary = {};                         ///< id of one that is kept; empty: none
  std::string file_name = {};                        ///< of the one text, where it is a file
  std::string file_mark = {};                        ///< its byte order mark, if it has one
  MarkupFormat markup = MarkupFormat::None;
  MarkupOptions markup_options = {};
};

struct TextAnswer {
  std::string source;                    ///< given or detected
  double confidence = 100;               ///< in percent, of the detection
  std::string pivot = {};                ///< the language between source and target; empty: none
  std::vector<std::string> texts = {};   ///< the best, then alternatives
  std::int64_t characters = 0;           ///< of the source text, without its markup
  std::vector<ReportedWord> words = {};  ///< of the best, where they were asked for
};

/// Unicode code points of a text (valid UTF-8).
std::int64_t count_characters(std::string_view text);
std::int64_t count_characters(const std::vector<std::string>& texts);

/// A response with a JSON value as its body.
template <class Json>
HttpResponse json_response(int status, const Json& value) {
  return {.status = status,
          .body = value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
}

}  // namespace dragoman
