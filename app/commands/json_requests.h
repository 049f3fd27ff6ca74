// translate --json. Each input line is a JSON object, a request. The answer is one line: the same
// object with the translation, or with an error.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/json_members.h"
#include "app/commands/translation_format.h"
#include "inference/translation.h"
#include "inference/translation_request.h"

namespace dragoman {

/// The fields that an answer has beside the translation.
struct AnswerFormat {
  std::int64_t n_best = 1;
  bool word_scores = false;
  AlignmentFormat alignment = AlignmentFormat::None;
};

class JsonRequests {
 public:
  /// Checks a request, as TranslationService::prepare() does.
  using Prepare = std::function<std::shared_ptr<const PreparedRequest>(const TranslationRequest&)>;

  /// `defaults` and `format` are for the fields that a request leaves out.
  JsonRequests(Prepare prepare, TranslationRequest defaults, const AnswerFormat& format);

  /// Reads the request of a line, which then waits for its answer. If the line is no request, the
  /// returned text is empty.
  LineInput read(std::string line);

  struct Answer {
    std::string text;   ///< one line, an object
    std::string error;  ///< why there is no translation; empty where there is one
  };
  /// The answer to the request that has waited longest; `translation` must be that of its text.
  Answer answer(const Translation& translation);

 private:
  struct Request {
    std::string line;
    std::vector<JsonMember> members;  ///< of the object, if they can be passed on
    AnswerFormat format;
    std::string error;
  };

  /// The fields that change the search or its report.
  struct Choice {
    std::int64_t beam_size, n_best;
    bool reports_attention;
    auto operator<=>(const Choice&) const = default;
  };

  LineInput understand(Request& request);
  std::shared_ptr<const PreparedRequest> prepared(const Choice& choice);

  Prepare prepare_;
  TranslationRequest defaults_;
  AnswerFormat format_;
  std::map<Choice, std::shared_ptr<const PreparedRequest>> prepared_;
  std::deque<Request> waiting_;
};

/// Lines of a file of answers that have an error instead of a translation; 0 for no file (empty).
std::int64_t failed_answers(const std::string& path);

}  // namespace dragoman
