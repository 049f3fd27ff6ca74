// What the interfaces have in common: a translation as it is asked for and as it is answered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "inference/decode_config.h"
#include "server/http.h"
#include "server/text_layout.h"

namespace dragoman {

/// The bounds of a request; below 0: none.
struct RequestLimits {
  std::int64_t characters = 100'000;  ///< Unicode code points of all texts
  std::int64_t texts = 1'000;
  std::int64_t alternatives = 10;
};

struct TranslateCall {
  std::vector<std::string> texts;
  bool is_list = true;       ///< the answer is a list, too
  std::string source;        ///< a code that is served; empty: to be detected
  std::string target;        ///< a code that is served
  bool detects_each = true;  ///< the language of each text, or of all together
  std::int64_t alternatives = 0;
  std::optional<SplitSentences> split = std::nullopt;
  LineBreaks line_breaks = LineBreaks::Kept;
  bool shows_characters = false;
};

struct TextAnswer {
  std::string source;                   ///< given or detected
  double confidence = 100;              ///< in percent, of the detection
  std::string pivot = {};               ///< the language between source and target; empty: none
  std::vector<std::string> texts = {};  ///< the best, then alternatives
  std::int64_t characters = 0;          ///< of the source text
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
