// The texts of a request: what is asked for, the lines into which a text is taken apart, and the
// words of its translation. This form is common to all interfaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "extras/markup/document.h"
#include "extras/server/http.h"
#include "inference/demands.h"
#include "inference/search/decode_config.h"
#include "inference/translation.h"

namespace dragoman {

// ---- a text is a paragraph or several: its lines are translated, and the rest stays -------------

/// The meaning of line ends within a text.
enum class LineBreaks {
  Kept,   ///< each line is translated by itself
  Blanks  ///< they are white space like any other
};

struct TextLayout {
  std::vector<std::string> lines;  ///< without white space around them, none empty
  /// Line ends (also VT, FF, U+0085, U+2028 and U+2029) and white space: in front of the first
  /// line (a byte order mark may stand there, too), between lines, and after the last one; one more
  /// than there are lines.
  std::vector<std::string> around;
};

/// `text` is valid UTF-8. With LineBreaks::Kept, around and lines in turn are the text.
TextLayout take_apart(std::string_view text, LineBreaks breaks);

/// The text with other lines in the places of its own.
std::string put_together(const TextLayout& layout, const std::vector<std::string>& lines);

// ---- the words of a translation, as an answer reports them --------------------------------------

/// Code points [begin, end) of a text.
struct TextSpan {
  std::size_t begin = 0, end = 0;
  bool empty() const { return begin == end; }
  bool operator==(const TextSpan&) const = default;
};

struct ReportedWord {
  TextSpan target = {};    ///< in the translation
  double probability = 0;  ///< of the word's pieces, given the words before it
  TextSpan source = {};    ///< the word that gets the most attention; empty: none, or not asked for
  bool operator==(const ReportedWord&) const = default;
};

/// The words of a line's translation. `source` is the line, valid UTF-8.
std::vector<ReportedWord> report_words(std::string_view source, const TranslatedText& translation);

/// The attention of the second of two models to the words of the first one's source. A word has
/// none if the words of the line between the models are not those that the second model read.
std::vector<TranslatedWord> through_pivot(const std::vector<TranslatedWord>& first,
                                          std::vector<TranslatedWord> second);

// ---- what is asked for, and what is answered ----------------------------------------------------

/// The bounds of a request; below 0: none.
struct RequestLimits {
  std::int64_t characters = 100'000;  ///< Unicode code points of all texts
  std::int64_t texts = 1'000;
  std::int64_t body_bytes = 2'097'152;  ///< of a body, also when it is unpacked
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
  MarkupFormat markup = MarkupFormat::None;
  MarkupOptions markup_options = {};
};

struct TextAnswer {
  std::string source;                    ///< given or detected
  double confidence = 100;               ///< in percent, of the detection
  std::string pivot = {};                ///< the language between source and target; empty: none
  std::vector<std::string> texts = {};   ///< the best, then alternatives
  std::int64_t characters = 0;           ///< of the source text, without its markup
  std::vector<ReportedWord> words = {};  ///< of the best, if they were asked for
};

/// Unicode code points of a text (valid UTF-8).
std::int64_t count_characters(std::string_view text);
std::int64_t count_characters(const std::vector<std::string>& texts);

/// A response with a JSON value as its body.
template <class Json>
HttpResponse json_response(int status, const Json& value) {
  return {.status = status, .body = json_text(value) + "\n"};
}

}  // namespace dragoman
