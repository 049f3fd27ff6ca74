#include "app/json_lines.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/fields.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

using Json = nlohmann::ordered_json;
/// Of requests: no number that people write is too large for it.
using RequestJson = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t,
                                         std::uint64_t, long double>;

/// The answer's own fields, which requests cannot pass through.
constexpr std::string_view kAnswerFields[] = {
    "translation", "score", "log_probability", "words", "alternatives", "unmet", "error"};

/// The members of a valid object, without the commas between them.
std::vector<std::string_view> members_of(std::string_view object) {
  std::vector<std::string_view> members;
  const std::size_t last = object.rfind('}');
  std::size_t begin = object.find('{') + 1;
  std::int64_t depth = 0;
  bool in_string = false;
  for (std::size_t i = begin; i <= last; ++i) {
    const char c = object[i];
    if (in_string) {
      in_string = c != '"';
      if (c == '\\') ++i;
    } else if (i == last || (c == ',' && depth == 0)) {
      const std::string_view member = strip(object.substr(begin, i - begin));
      if (!member.empty()) members.push_back(member);
      begin = i + 1;
    } else if (c == '"') {
      in_string = true;
    } else {
      depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    }
  }
  return members;
}

/// The key of a member.
std::string key_of(std::string_view member) {
  std::size_t end = 1;
  while (member[end] != '"') end += member[end] == '\\' ? 2 : 1;
  return Json::parse(member.substr(0, end + 1)).get<std::string>();
}

RequestJson parse_request(const std::string& line) {
  if (const std::size_t bad = find_invalid_utf8(line); bad != std::string::npos)
    throw Error("no JSON object: invalid UTF-8 at byte ", bad + 1);
  if (strip(line).empty()) throw Error("no JSON object: the line is empty");
  try {
    RequestJson object = RequestJson::parse(line);
    if (!object.is_object()) throw Error("no JSON object");
    return object;
  } catch (const RequestJson::parse_error& error) {
    throw Error("no JSON object: a syntax error at byte ", error.byte);
  } catch (const RequestJson::exception&) {
    throw Error("no JSON object: a number beyond all bounds");
  }
}

std::string text_field(const RequestJson& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return "";
  if (!found->is_string()) throw Error('"', name, "\" is no string");
  return found->get<std::string>();
}

std::int64_t number_field(const RequestJson& object, const char* name, std::int64_t otherwise) {
  const auto found = object.find(name);
  if (found == object.end()) return otherwise;
  const auto number = found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
  if (number < 1 || number > DecodeConfig::kWidest)
    throw Error('"', name, "\" is no whole number from 1 to ", DecodeConfig::kWidest);
  return static_cast<std::int64_t>(number);
}

AlignmentFormat alignment_field(const RequestJson& object, AlignmentFormat otherwise) {
  if (!object.contains("alignment")) return otherwise;
  const std::string name = text_field(object, "alignment");
  const auto names = names_of(AlignmentFormat());
  const auto* found = std::ranges::find(names, name);
  if (found == names.end()) throw Error("\"alignment\" is none of none, hard, soft");
  return static_cast<AlignmentFormat>(found - names.begin());
}

Terms terms_field(const RequestJson& object) {
  const auto found = object.find("terms");
  if (found == object.end()) return {};
  std::vector<std::pair<std::string, std::string>> terms;
  if (!found->is_object()) throw Error("\"terms\" is no object of source and target terms");
  for (const auto& [source, target] : found->items()) {
    if (!target.is_string() || strip(source).empty() ||
        strip(target.get_ref<const std::string&>()).empty())
      throw Error("\"terms\": '", source, "' has no target term");
    terms.emplace_back(source, target.get<std::string>());
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
  if (!translation.unmet.empty()) fields["unmet"] = translation.unmet;
  return fields;
}

/// One object of both.
std::string joined(const std::vector<std::string_view>& members, const Json& fields) {
  const auto is_replaced = [&fields](const std::string& name) {
    return fields.contains(name) ||
           std::ranges::find(kAnswerFields, name) != std::end(kAnswerFields);
  };
  std::string object = "{";
  for (const std::string_view member : members)
    if (!is_replaced(key_of(member))) object.append(member) += ',';
  return object + fields.dump(-1, ' ', false, Json::error_handler_t::replace).substr(1);
}

}  // namespace

JsonLines::JsonLines(const TranslationService& service, TranslationRequest otherwise,
                     const AnswerFormat& format)
    : service_(service), otherwise_(std::move(otherwise)), format_(format) {}

LineInput JsonLines::read(std::string line) {
  Request& request = waiting_.emplace_back(
      Request{.line = std::move(line), .members = {}, .format = format_, .error = {}});
  try {
    return understand(request);
  } catch (const Error& error) {
    request.error = error.what();
    return {};
  }
}

std::shared_ptr<const PreparedRequest> JsonLines::prepared(const Choice& choice) {
  std::shared_ptr<const PreparedRequest>& request = prepared_[choice];
  if (!request) {
    TranslationRequest asked = otherwise_;
    asked.search.beam_size = choice.beam_size;
    asked.search.n_best = choice.n_best;
    asked.reports_attention = choice.reports_attention;
    request = service_.prepare(asked);
  }
  return request;
}

LineInput JsonLines::understand(Request& request) {
  const RequestJson object = parse_request(request.line);
  request.members = members_of(request.line);
  if (!object.contains("text")) throw Error("has no field \"text\"");
  LineInput input{.text = text_field(object, "text"),
                  .prefix = text_field(object, "prefix"),
                  .terms = terms_field(object)};
  // A line of text has no line ends.
  std::ranges::replace_if(
      input.text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  request.format.alignment = alignment_field(object, format_.alignment);
  request.format.n_best = number_field(object, "n_best", format_.n_best);
  const DecodeConfig& search = otherwise_.search;
  const Choice choice{.beam_size = number_field(object, "beam_size", search.beam_size),
                      .n_best = request.format.n_best,
                      .reports_attention = request.format.alignment != AlignmentFormat::None};
  if (!search.sampling && choice.n_best > choice.beam_size)
    throw Error("\"n_best\" ", choice.n_best, " exceeds the beam size ", choice.beam_size);
  if (search.sampling && !input.terms.empty())
    throw Error("\"terms\": draws cannot be made to have them (--sampling)");
  input.request = prepared(choice);
  return input;
}

JsonLines::Answer JsonLines::answer(const Translation& translation) {
  const Request& request = waiting_.front();
  Answer answer{.text = {}, .error = request.error};
  const Json fields = request.error.empty()
                          ? answer_fields(translation, request.format)
                          : Json{{"error", request.error}, {"line", translation.line + 1}};
  answer.text = joined(request.members, fields);
  waiting_.pop_front();
  return answer;
}

}  // namespace dragoman
