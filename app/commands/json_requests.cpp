#include "app/commands/json_requests.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/json.h"
#include "base/lines.h"
#include "base/utf8.h"
#include "inference/model_settings.h"

namespace dragoman {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// Walks over a line of JSON. Each function skips one part of the grammar. It returns false, at the
/// position of the fault, if that part is not there.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::size_t place() const { return place_; }
  bool at_end() const { return place_ == text_.size(); }
  std::string_view since(std::size_t begin) const { return text_.substr(begin, place_ - begin); }

  void skip_space() { place_ = std::min(text_.find_first_not_of(" \t\r\n", place_), text_.size()); }

  bool take(char c) {
    const bool found = !at_end() && text_[place_] == c;
    place_ += found ? 1 : 0;
    return found;
  }

  bool string() {
    if (!take('"')) return false;
    while (!at_end() && text_[place_] != '"') {
      if (static_cast<unsigned char>(text_[place_]) < 0x20) return false;
      const bool is_escape = text_[place_++] == '\\';
      if (is_escape && !escape()) return false;
    }
    return take('"');
  }

  /// A member's key and the colon after it.
  bool key() {
    skip_space();
    if (!string()) return false;
    skip_space();
    return take(':');
  }

  /// A value. There is no recursion, as values may be nested to any depth.
  bool value() {
    std::string open;  // the closing brackets that are still to come
    do {
      skip_space();
      if (take('{')) {
        skip_space();
        open += '}';
        if (!is_next('}')) {
          if (!key()) return false;
          continue;
        }
      } else if (take('[')) {
        skip_space();
        open += ']';
        if (!is_next(']')) continue;
      } else if (!scalar()) {
        return false;
      }
      if (!close(open)) return false;
    } while (!open.empty());
    return true;
  }

 private:
  bool is_next(char c) const { return !at_end() && text_[place_] == c; }

  /// Called after a value: skips the brackets that close there, and the comma and the key before
  /// the next value.
  bool close(std::string& open) {
    while (!open.empty()) {
      skip_space();
      if (take(open.back()))
        open.pop_back();
      else
        return take(',') && (open.back() == ']' || key());
    }
    return true;
  }

  bool escape() {
    if (!take('u')) {
      if (at_end() || std::string_view("\"\\/bfnrt").find(text_[place_]) == std::string_view::npos)
        return false;
      ++place_;
      return true;
    }
    for (int digit = 0; digit < 4; ++digit, ++place_)
      if (at_end() || !is_hex(text_[place_])) return false;
    return true;
  }

  bool digits() {
    const std::size_t begin = place_;
    while (!at_end() && is_digit(text_[place_])) ++place_;
    return place_ > begin;
  }

  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      return digits();
    }
    return true;
  }

  bool scalar() {
    if (is_next('"')) return string();
    for (const std::string_view word : {"true", "false", "null"})
      if (text_.substr(place_).starts_with(word)) {
        place_ += word.size();
        return true;
      }
    return number();
  }

  std::string_view text_;
  std::size_t place_ = 0;
};

std::string unescaped(std::string_view string) {
  const auto key = parse_json_or_discard(string);
  return key.is_string() ? key.get<std::string>() : std::string(string);
}

/// Members up to the closing bracket; false at a fault.
bool take_members(Scanner& scanner, std::vector<JsonMember>& members) {
  scanner.skip_space();
  if (!scanner.take('{')) return false;
  scanner.skip_space();
  if (scanner.take('}')) return true;
  for (;;) {
    scanner.skip_space();
    const std::size_t begin = scanner.place();
    if (!scanner.string()) return false;
    JsonMember member{.key = unescaped(scanner.since(begin)), .value = {}, .whole = {}};
    scanner.skip_space();
    if (!scanner.take(':')) return false;
    scanner.skip_space();
    const std::size_t value = scanner.place();
    if (!scanner.value()) return false;
    member.value = scanner.since(value);
    member.whole = scanner.since(begin);
    scanner.skip_space();
    const bool is_last = scanner.take('}');
    // A number that is cut off may look like a whole one.
    if (!is_last && !scanner.take(',')) return false;
    members.push_back(std::move(member));
    if (is_last) return true;
  }
}

}  // namespace

JsonMembers members_of(std::string_view line) {
  Scanner scanner(line);
  JsonMembers found;
  const bool is_object = take_members(scanner, found.members);
  if (is_object) scanner.skip_space();
  if (!is_object || !scanner.at_end()) found.fault = scanner.place();
  return found;
}

const JsonMember* find_member(const std::vector<JsonMember>& members, std::string_view key) {
  const JsonMember* last = nullptr;
  for (const JsonMember& member : members)
    if (member.key == key) last = &member;
  return last;
}

std::vector<std::pair<std::int64_t, std::int64_t>> hard_alignment(
    const std::vector<TranslatedWord>& words) {
  std::vector<std::pair<std::int64_t, std::int64_t>> links;
  for (std::size_t target = 0; target < words.size(); ++target)
    if (const std::vector<float>& attention = words[target].attention; !attention.empty())
      links.emplace_back(std::ranges::max_element(attention) - attention.begin(), target);
  return links;
}

namespace {

using Json = nlohmann::ordered_json;

/// The members that can be passed on: those in valid UTF-8.
std::vector<JsonMember> readable(std::vector<JsonMember> members) {
  std::erase_if(members, [](const JsonMember& member) {
    return find_invalid_utf8(member.whole) != std::string_view::npos;
  });
  return members;
}

void refuse_no_object(std::string_view line, const JsonMembers& object) {
  if (const std::size_t bad = find_invalid_utf8(line); bad != std::string_view::npos)
    throw Error("not a JSON object: invalid UTF-8 at byte ", bad + 1);
  if (object.fault == std::string_view::npos) return;
  const std::string_view text = strip(line);
  if (text.empty()) throw Error("not a JSON object: the line is empty");
  if (text.front() != '{') throw Error("not a JSON object");
  const bool is_nul = object.fault < line.size() && line[object.fault] == '\0';
  throw Error("not a JSON object: ", is_nul ? "NUL" : "a syntax error", " at byte ",
              object.fault + 1);
}

/// The value of a field; none if the request has no such field.
std::optional<nlohmann::json> field(const std::vector<JsonMember>& request, const char* name) {
  const JsonMember* member = find_member(request, name);
  if (member == nullptr) return std::nullopt;
  try {
    return parse_json(member->value);
  } catch (const nlohmann::json::parse_error&) {
    throw Error('"', name, "\" is not Unicode: half of a surrogate pair in it stands alone");
  } catch (const nlohmann::json::exception&) {
    throw Error('"', name, "\" has a number that is too large");
  } catch (const Error& error) {
    throw Error('"', name, "\": ", error.what());
  }
}

std::string text_field(const std::vector<JsonMember>& request, const char* name) {
  const auto found = field(request, name);
  if (!found) return "";
  if (!found->is_string()) throw Error('"', name, "\" is not a string");
  return found->get<std::string>();
}

std::int64_t number_field(const std::vector<JsonMember>& request, const char* name,
                          std::int64_t default_value) {
  const auto found = field(request, name);
  if (!found) return default_value;
  const auto number = found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
  if (number < 1 || number > DecodeConfig::kWidest)
    throw Error('"', name, "\" is not a whole number from 1 to ", DecodeConfig::kWidest);
  return static_cast<std::int64_t>(number);
}

AlignmentFormat alignment_field(const std::vector<JsonMember>& request,
                                AlignmentFormat default_value) {
  const auto value = field(request, "alignment");
  if (!value) return default_value;
  const auto format =
      value_named<AlignmentFormat>(value->is_string() ? value->get<std::string>() : "");
  if (!format) throw Error("\"alignment\" is none of \"none\", \"hard\", \"soft\"");
  return *format;
}

Terms terms_field(const std::vector<JsonMember>& request) {
  const auto found = field(request, "terms");
  if (!found) return {};
  if (!found->is_object()) throw Error("\"terms\" is not an object of source and target terms");
  std::vector<std::pair<std::string, std::string>> terms;
  // `found` has lost the first of two terms with the same source.
  for (const JsonMember& term : members_of(find_member(request, "terms")->value).members) {
    const auto target = parse_json(term.value);
    terms.emplace_back(term.key, target.is_string() ? target.get<std::string>() : "");
  }
  return Terms(terms);
}

Json alignment_json(const std::vector<TranslatedWord>& words, AlignmentFormat format) {
  if (format == AlignmentFormat::Hard) return hard_alignment(words);
  Json alignment = Json::array();
  for (const TranslatedWord& word : words) alignment.push_back(word.attention);
  return alignment;
}

Json answer_fields(const TranslatedText& text, const AnswerFormat& format) {
  Json fields = Json::object();
  fields["translation"] = text.text;
  fields["score"] = text.score;
  fields["log_probability"] = text.sum;
  if (format.word_scores) {
    Json words = Json::array();
    for (const TranslatedWord& word : text.words)
      words.push_back({{"text", word.text}, {"log_probability", word.sum}});
    fields["words"] = std::move(words);
  }
  if (format.alignment != AlignmentFormat::None)
    fields["alignment"] = alignment_json(text.words, format.alignment);
  return fields;
}

Json answer_fields(const Translation& translation, const AnswerFormat& format) {
  Json fields = answer_fields(translation.n_best.front(), format);
  if (format.n_best > 1) {
    Json others = Json::array();
    for (std::size_t rank = 1; rank < translation.n_best.size(); ++rank)
      others.push_back(answer_fields(translation.n_best[rank], format));
    fields["alternatives"] = std::move(others);
  }
  if (translation.facts.copied > 0) fields["copied"] = true;
  if (!translation.unmet.empty()) fields["unmet"] = translation.unmet;
  if (!translation.unknown.empty()) fields["unknown"] = translation.unknown;
  return fields;
}

/// One object that has the members and the fields.
std::string object_of(const std::vector<JsonMember>& members, const Json& fields) {
  // The answer's own fields, which requests cannot pass through.
  const auto is_of_answers = [](std::string_view name) {
    return is_among(name, {"translation", "score", "log_probability", "words", "alignment",
                           "alternatives", "copied", "unmet", "unknown", "error", "line"});
  };
  std::string object = "{";
  for (const JsonMember& member : members)
    if (!is_of_answers(member.key)) object.append(member.whole) += ',';
  return object + json_text(fields).substr(1);
}

}  // namespace

JsonRequests::JsonRequests(Prepare prepare, TranslationRequest defaults, const AnswerFormat& format)
    : prepare_(std::move(prepare)), defaults_(std::move(defaults)), format_(format) {}

LineInput JsonRequests::read(std::string line) {
  Request& request = waiting_.emplace_back(
      Request{.line = std::move(line), .members = {}, .format = format_, .error = {}});
  try {
    return understand(request);
  } catch (const Error& error) {
    request.error = error.what();
    return {};
  }
}

std::shared_ptr<const PreparedRequest> JsonRequests::prepared(const Choice& choice) {
  constexpr std::size_t kMost = 64;  // a stream may ask for a million different ones
  if (prepared_.size() >= kMost && !prepared_.contains(choice)) prepared_.clear();
  std::shared_ptr<const PreparedRequest>& request = prepared_[choice];
  if (!request) {
    TranslationRequest asked = defaults_;
    asked.config.beam_size = choice.beam_size;
    asked.config.n_best = choice.n_best;
    asked.reports_attention = choice.reports_attention;
    request = prepare_(asked);
  }
  return request;
}

LineInput JsonRequests::understand(Request& request) {
  const JsonMembers object = members_of(request.line);
  request.members = readable(object.members);
  refuse_no_object(request.line, object);
  const std::vector<JsonMember>& fields = request.members;
  if (find_member(fields, "text") == nullptr) throw Error("has no field \"text\"");
  LineInput input{.text = one_line(text_field(fields, "text")),
                  .prefix = one_line(text_field(fields, "prefix")),
                  .terms = terms_field(fields)};
  request.format.alignment = alignment_field(fields, format_.alignment);
  request.format.n_best = number_field(fields, "n_best", format_.n_best);
  const DecodeConfig& config = defaults_.config;
  const std::int64_t n_best = request.format.n_best;
  const Choice choice{
      .beam_size = number_field(fields, "beam_size", open_beam_size(config, n_best)),
      .n_best = n_best,
      .reports_attention = request.format.alignment != AlignmentFormat::None};
  if (!config.sampling && choice.n_best > choice.beam_size)
    throw Error("\"n_best\" ", choice.n_best, " exceeds the beam size ", choice.beam_size);
  if (config.sampling && find_member(fields, "beam_size") != nullptr)
    throw Error("\"beam_size\": random draws (--sampling) have no beam");
  if (config.sampling && !input.terms.empty())
    throw Error("\"terms\": random draws (--sampling) cannot be made to have them");
  input.request = prepared(choice);
  return input;
}

JsonRequests::Answer JsonRequests::answer(const Translation& translation) {
  const Request& request = waiting_.front();
  Answer answer{.text = {}, .error = request.error};
  const Json fields = request.error.empty()
                          ? answer_fields(translation, request.format)
                          : Json{{"error", request.error}, {"line", translation.line + 1}};
  answer.text = object_of(request.members, fields);
  waiting_.pop_front();
  return answer;
}

std::int64_t failed_answers(const std::string& path) {
  if (path.empty()) return 0;
  const MappedFile file(path);
  std::int64_t failed = 0;
  for (LineCursor lines(file.bytes()); !lines.at_end();)
    failed += find_member(members_of(lines.next()).members, "error") != nullptr ? 1 : 0;
  return failed;
}

}  // namespace dragoman
