#include "app/commands/json_requests.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/one_line.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

using Json = nlohmann::ordered_json;

/// The answer's own fields, which requests cannot pass through.
constexpr std::string_view kAnswerFields[] = {
    "translation", "score", "log_probability", "words", "alignment", "alternatives",
    "copied",      "unmet", "unknown",         "error", "line"};

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

/// The value of a field; none where the request has no such field.
std::optional<nlohmann::json> field(const std::vector<JsonMember>& request, const char* name) {
  const JsonMember* member = find_member(request, name);
  if (member == nullptr) return std::nullopt;
  try {
    return nlohmann::json::parse(member->value);
  } catch (const nlohmann::json::parse_error&) {
    throw Error('"', name, "\" is not Unicode: half of a surrogate pair in it stands alone");
  } catch (const nlohmann::json::exception&) {
    throw Error('"', name, "\" has a number beyond all bounds");
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
  const auto names = names_of(AlignmentFormat());
  const auto* found =
      value->is_string() ? std::ranges::find(names, value->get<std::string>()) : names.end();
  if (found == names.end()) throw Error("\"alignment\" is none of \"none\", \"hard\", \"soft\"");
  return static_cast<AlignmentFormat>(found - names.begin());
}

Terms terms_field(const std::vector<JsonMember>& request) {
  const auto found = field(request, "terms");
  if (!found) return {};
  std::vector<std::pair<std::string, std::string>> terms;
  if (!found->is_object()) throw Error("\"terms\" is not an object of source and target terms");
  for (const auto& [source, target] : found->items())
    terms.emplace_back(source, target.is_string() ? target.get<std::string>() : "");
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
std::string joined(const std::vector<JsonMember>& members, const Json& fields) {
  const auto is_replaced = [&fields](const std::string& name) {
    return fields.contains(name) ||
           std::ranges::find(kAnswerFields, name) != std::end(kAnswerFields);
  };
  std::string object = "{";
  for (const JsonMember& member : members)
    if (!is_replaced(member.key)) object.append(member.whole) += ',';
  return object + fields.dump(-1, ' ', false, Json::error_handler_t::replace).substr(1);
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
  constexpr std::size_t kMost = 64;  // a stream may ask for a million unlike ones
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
  const Choice choice{.beam_size = number_field(fields, "beam_size", config.beam_size),
                      .n_best = request.format.n_best,
                      .reports_attention = request.format.alignment != AlignmentFormat::None};
  if (!config.sampling && choice.n_best > choice.beam_size)
    throw Error("\"n_best\" ", choice.n_best, " exceeds the beam size ", choice.beam_size);
  if (config.sampling && !input.terms.empty())
    throw Error("\"terms\": draws cannot be made to have them (--sampling)");
  input.request = prepared(choice);
  return input;
}

JsonRequests::Answer JsonRequests::answer(const Translation& translation) {
  const Request& request = waiting_.front();
  Answer answer{.text = {}, .error = request.error};
  const Json fields = request.error.empty()
                          ? answer_fields(translation, request.format)
                          : Json{{"error", request.error}, {"line", translation.line + 1}};
  answer.text = joined(request.members, fields);
  waiting_.pop_front();
  return answer;
}

std::int64_t failed_answers(const std::string& path) {
  if (path.empty()) return 0;
  const MappedFile file(path);
  std::int64_t failed = 0;
  std::string_view rest = file.bytes();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
    const JsonMembers answer = members_of(rest.substr(0, end));
    failed += find_member(answer.members, "error") != nullptr ? 1 : 0;
    rest.remove_prefix(end + 1);
  }
  return failed;
}

}  // namespace dragoman
