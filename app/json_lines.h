// translate --json: a line of input is a request, an object of JSON, and is answered by one line,
// the same object with the translation. What is no request is answered by an object that says why.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "app/json_members.h"
#include "app/translation_format.h"
#include "inference/decode_config.h"
#include "inference/translation_queue.h"

namespace dragoman {

/// What an answer has beside the translation.
struct AnswerFormat {
  std::int64_t n_best = 1;
  bool word_scores = false;
  AlignmentFormat alignment = AlignmentFormat::None;
};

class JsonLines {
 public:
  /// What holds for requests that do not say otherwise.
  JsonLines(const DecodeConfig& search, const AnswerFormat& format);

  /// The request of a line, which waits for its answer. Of a line that is none the text is empty.
  LineInput read(std::string line);

  struct Answer {
    std::string text;   ///< one line, an object
    std::string error;  ///< why there is no translation; empty where there is one
  };
  /// To the request that has waited longest, whose translation it must be.
  Answer answer(const Translation& translation);

 private:
  struct Request {
    std::string line;
    std::vector<JsonMember> members;  ///< of the object, that can be passed on
    AnswerFormat format;
    std::string error;
  };

  LineInput understand(Request& request) const;

  DecodeConfig search_;
  AnswerFormat format_;
  std::deque<Request> waiting_;
};

/// Lines of a file of answers that have an error instead of a translation; 0 for no file (empty).
std::int64_t failed_answers(const std::string& path);

}  // namespace dragoman
