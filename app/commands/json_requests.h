// translate --json. Each input line is a JSON object (RFC 8259), a request. The answer is one line:
// the same object with the translation, or with an error.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/translation.h"

namespace dragoman {

/// A member of an object in a line of text. Values are not converted, so that numbers of any size
/// and strings of any kind are passed on unchanged, byte for byte.
struct JsonMember {
  std::string key;         ///< escapes decoded, unless they are not Unicode
  std::string_view value;  ///< text of JSON
  std::string_view whole;  ///< key and value
};

struct JsonMembers {
  std::vector<JsonMember> members;
  /// The first byte, from 0, at which the line is not an object; npos if it is one. The members
  /// before that byte are there in any case.
  std::size_t fault = std::string_view::npos;
};

/// The views point into `line`. Strings are assumed to be UTF-8.
JsonMembers members_of(std::string_view line);

/// The last member with that key, as other JSON readers take it; null if there is none.
const JsonMember* find_member(const std::vector<JsonMember>& members, std::string_view key);

/// Word alignment in Pharaoh format.
enum class AlignmentFormat {
  None,
  Hard,  ///< "0-0 1-2": for each target word the source word with most attention
  Soft,  ///< for each target word its attention to all source words: "0.9,0.1 0.2,0.8"
};
constexpr std::array<std::string_view, 3> names_of(AlignmentFormat) {
  return {"none", "hard", "soft"};
}

/// For each target word that has attention, (source, target) with the source word of most
/// attention.
std::vector<std::pair<std::int64_t, std::int64_t>> hard_alignment(
    const std::vector<TranslatedWord>& words);

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

  /// Reads the request of a line, which then waits for its answer. If the line is not a request,
  /// the returned text is empty.
  LineInput read(std::string line);

  struct Answer {
    std::string text;   ///< one line, an object
    std::string error;  ///< why there is no translation; empty if there is one
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

/// The number of lines in a file of answers that have an error instead of a translation; 0 if
/// `path` is empty.
std::int64_t failed_answers(const std::string& path);

}  // namespace dragoman
