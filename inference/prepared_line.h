// A line on its way: its sentences, and what has been found for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "inference/search.h"
#include "inference/split.h"
#include "inference/translation.h"
#include "inference/translation_request.h"
#include "tokenizer/term_marks.h"
#include "tokenizer/terms.h"

namespace dragoman {

/// A part of a line that is translated by itself.
struct PreparedPart {
  LinePart text = {};                   ///< views of the line's text
  std::vector<std::size_t> words = {};  ///< of the line, for each source piece; where asked for
  std::string_view tag = {};            ///< in front of its text
  MarkedText marked = {};               ///< the text with its terms, for a model that knows them
  Requirements prefix = {};             ///< what it begins with
  std::vector<RequiredText> required = {};
  std::vector<RequiredText> missing = {};  ///< of `required`, in the translation
  std::vector<RequiredText> asked = {};    ///< of the search
  std::vector<Hypothesis> hypotheses = {};
};

/// Does not move, since its parts are views of its text.
struct PreparedLine {
  PreparedLine(std::int64_t its_number, std::shared_ptr<const PreparedRequest> its_request)
      : number(its_number), request(std::move(its_request)) {}
  PreparedLine(const PreparedLine&) = delete;
  PreparedLine& operator=(const PreparedLine&) = delete;

  std::int64_t number;
  std::shared_ptr<const PreparedRequest> request;
  std::string text = {};    ///< valid UTF-8
  std::string prefix = {};  ///< what its translation begins with
  Terms terms = {};
  std::vector<PreparedPart> parts = {};  ///< none for an empty line
  std::size_t words = 0;                 ///< where attention is asked for
  TranslationFacts facts = {};
};

}  // namespace dragoman
