#include "server/libretranslate.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace dragoman::libretranslate {

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& text) { throw HttpError(400, text); }

std::string required_text(const RequestFields& fields, const char* name) {
  std::string text = fields.text(name);
  if (text.empty()) refuse(join_text("Invalid request: missing ", name, " parameter"));
  return text;
}

void check_size(std::int64_t size, std::int64_t limit, const char* unit) {
  if (limit >= 0 && size > limit)
    refuse(join_text("Invalid request: request (", size, ' ', unit, ") exceeds text limit (", limit,
                     ')'));
}

std::int64_t parse_alternatives(const RequestFields& fields, std::int64_t limit) {
  const std::int64_t number = std::max<std::int64_t>(0, fields.number("alternatives").value_or(0));
  const std::int64_t most = limit < 0 ? DecodeConfig::kWidest - 1 : limit;
  if (number > most) refuse(join_text("Invalid request: alternatives parameter must be <= ", most));
  return number;
}

void check_format(const RequestFields& fields) {
  const std::string format = fields.text("format");
  if (format == "html")
    refuse("html format is not supported yet: send text without markup and \"format\": \"text\"");
  if (!format.empty() && format != "text") refuse(format + " format is not supported");
}

void check_languages(const TranslateCall& call, const ServedModels& models) {
  const std::vector<std::string> served = models.languages();
  for (const std::string& code : {call.source, call.target})
    if (!code.empty() && std::ranges::find(served, code) == served.end())
      refuse(code + " is not supported");
  if (call.source.empty() || models.route({call.source, call.target})) return;
  refuse(join_text(language_name(call.target), " (", call.target,
                   ") is not available as a target language from ", language_name(call.source),
                   " (", call.source, ')'));
}

Json detection(const std::string& language, double confidence) {
  return {{"confidence", confidence}, {"language", language}};
}

}  // namespace

TranslateCall parse_translate(const RequestFields& fields, const ServedModels& models,
                              const RequestLimits& limits) {
  TranslateCall call{.texts = fields.texts("q"),
                     .is_list = fields.is_list("q"),
                     .source = {},
                     .target = {},
                     .detects_each = false};
  const auto is_empty = [](const std::string& text) { return text.empty(); };
  if (call.texts.empty() || (!call.is_list && is_empty(call.texts.front())))
    refuse("Invalid request: missing q parameter");
  call.source = required_text(fields, "source");
  call.target = required_text(fields, "target");
  if (call.source == "auto") call.source.clear();
  call.alternatives = parse_alternatives(fields, limits.alternatives);
  check_size(static_cast<std::int64_t>(call.texts.size()), limits.texts, "texts");
  check_size(count_characters(call.texts), limits.characters, "characters");
  check_format(fields);
  check_languages(call, models);
  return call;
}

HttpResponse translate_answer(const TranslateCall& call, const std::vector<TextAnswer>& answers) {
  Json texts = Json::array(), languages = Json::array(), alternatives = Json::array();
  for (const TextAnswer& answer : answers) {
    texts.push_back(answer.texts.front());
    languages.push_back(detection(answer.source, answer.confidence));
    alternatives.push_back(std::vector<std::string>(answer.texts.begin() + 1, answer.texts.end()));
  }
  const auto shown = [&call](Json& list) -> Json& { return call.is_list ? list : list[0]; };
  Json body = {{"translatedText", shown(texts)}};
  if (call.source.empty()) body["detectedLanguage"] = shown(languages);
  if (call.alternatives > 0) body["alternatives"] = shown(alternatives);
  // All texts have the same languages, and so the same way.
  if (!answers.front().pivot.empty()) body["pivotLanguage"] = answers.front().pivot;
  return json_response(200, body);
}

std::string parse_detect(const RequestFields& fields, const RequestLimits& limits) {
  std::string all;
  for (const std::string& text : fields.texts("q")) all += text + "\n";
  if (all.size() <= 1) refuse("Invalid request: missing q parameter");
  check_size(count_characters(all), limits.characters, "characters");
  return all;
}

HttpResponse detect_answer(const DetectedLanguage& detected) {
  return json_response(200, Json::array({detection(detected.language, detected.confidence)}));
}

HttpResponse languages(const ServedModels& models) {
  Json list = Json::array();
  for (const std::string& code : models.languages())
    list.push_back(
        {{"code", code}, {"name", language_name(code)}, {"targets", models.targets_of(code)}});
  return json_response(200, list);
}

HttpResponse frontend_settings(const ServedModels& models, const FrontendFacts& facts) {
  const auto first = models.all().front();
  const std::string& target = first->languages().target;
  return json_response(200,
                       Json{{"charLimit", facts.character_limit},
                            {"frontendTimeout", facts.timeout},
                            {"apiKeys", facts.has_api_keys},
                            {"keyRequired", facts.has_api_keys},
                            {"suggestions", facts.takes_suggestions},
                            {"filesTranslation", false},
                            {"supportedFilesFormat", Json::array()},
                            {"language",
                             {{"source", {{"code", "auto"}, {"name", "Auto Detect"}}},
                              {"target", {{"code", target}, {"name", language_name(target)}}}}}});
}

std::string parse_suggestion(const RequestFields& fields, const RequestLimits& limits) {
  Json suggestion = Json::object();
  std::int64_t size = 0;
  for (const char* name : {"q", "s", "source", "target"}) {
    suggestion[name] = required_text(fields, name);
    size += count_characters(suggestion[name].get_ref<const std::string&>());
  }
  check_size(size, limits.characters, "characters");
  return suggestion.dump() + "\n";
}

HttpResponse error_answer(const HttpError& error) {
  return json_response(error.status(), Json{{"error", error.what()}});
}

}  // namespace dragoman::libretranslate
