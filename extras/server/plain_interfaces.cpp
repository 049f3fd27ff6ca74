// Interfaces of one request and one answer, which plug-ins speak: Google's Cloud Translation
// (version 2), DeepLX's, and the one that Immersive Translate expects of its users' servers.

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "data/languages.h"
#include "extras/server/interface.h"

namespace dragoman {

namespace {

using Json = nlohmann::ordered_json;

struct FieldNames {
  const char *texts, *source, *target;
};

void check_size(std::int64_t size, std::int64_t limit, const char* unit) {
  if (limit >= 0 && size > limit)
    throw HttpError(400, join_text(size, ' ', unit, ", at most ", limit, " are allowed"));
}

std::vector<std::string> parse_texts(const RequestFields& fields, const char* name,
                                     const RequestLimits& limits) {
  std::vector<std::string> texts = fields.texts(name);
  if (texts.empty()) throw HttpError(400, join_text("Missing parameter: ", name));
  check_size(static_cast<std::int64_t>(texts.size()), limits.texts, "texts");
  check_size(count_characters(texts), limits.characters, "characters");
  return texts;
}

std::string parse_language(const RequestFields& fields, const char* name,
                           const ServedModels& models) {
  const std::string code = fields.text(name);
  if (code.empty()) return {};
  std::string served = find_served_code(code, models.languages());
  if (served.empty()) throw HttpError(400, join_text(name, ": ", code, " is not supported"));
  return served;
}

/// The texts and the languages. A source that is missing or "auto" is detected.
TranslateParameters parse_translation(const RequestFields& fields, const FieldNames& names,
                                      const ServerParts& server) {
  const ServedModels& models = server.models;
  const bool is_detected = ascii_lower(fields.text(names.source)) == "auto";
  TranslateParameters parameters{
      .texts = parse_texts(fields, names.texts, server.config.limits),
      .source = is_detected ? "" : parse_language(fields, names.source, models),
      .target = parse_language(fields, names.target, models)};
  if (parameters.target.empty())
    throw HttpError(400, join_text("Missing parameter: ", names.target));
  const bool is_served = parameters.source.empty()
                             ? models.is_target(parameters.target)
                             : models.route({parameters.source, parameters.target}).has_value();
  if (!is_served)
    throw HttpError(400, join_text("there is no model from ",
                                   parameters.source.empty() ? "any language" : parameters.source,
                                   " to ", parameters.target));
  return parameters;
}

// ---- Google's -----------------------------------------------------------------------------------

class Google : public Interface {
 public:
  using Interface::Interface;

  std::vector<Endpoint> endpoints() override {
    std::vector<Endpoint> all = {
        {"GET", "/language/translate/v2/languages", Access::Admitted,
         [this](ServerRequest& request) { return languages(*request.fields); }}};
    for (const char* method : {"POST", "GET"}) {
      all.push_back({method, "/language/translate/v2", Access::Admitted,
                     [this](ServerRequest& request) { return translate(*request.fields); }});
      all.push_back({method, "/language/translate/v2/detect", Access::Admitted,
                     [this](ServerRequest& request) { return detect(*request.fields); }});
    }
    return all;
  }

  bool claims(const std::string& path) const override {
    return path.starts_with("/language/translate/");
  }

  /// The parameter key, the header X-Goog-Api-Key, or a header that all interfaces know.
  std::string key_of(const ServerRequest& request) const override {
    for (const std::string& key :
         {request.fields->text("key"), std::string(request.http.header("x-goog-api-key"))})
      if (!key.empty()) return key;
    return header_key(request.http);
  }

  RefusalCodes refusal_codes() const override { return {.missing_key = 403}; }

  HttpResponse error_answer(const ServerRequest&, const HttpError& error) const override {
    const Json reason = {{"message", error.what()}, {"domain", "global"}, {"reason", "invalid"}};
    return json_response(error.status(), Json{{"error",
                                               {{"code", error.status()},
                                                {"message", error.what()},
                                                {"errors", Json::array({reason})}}}});
  }

 private:
  static HttpResponse data(const char* name, Json list) {
    return json_response(200, Json{{"data", {{name, std::move(list)}}}});
  }

  WantedTexts translate(const RequestFields& fields) const {
    TranslateParameters parameters = parse_translation(fields, {"q", "source", "target"}, server_);
    const std::string format = fields.text("format");
    if (!format.empty() && format != "html" && format != "text")
      throw HttpError(400, "Invalid Value: format");
    parameters.markup = format == "text" ? MarkupFormat::None : MarkupFormat::Html;
    return {
        .parameters = std::move(parameters),
        .markup_fault = "Invalid Value: q",
        .answer = [](const TranslateParameters& asked, const std::vector<TextAnswer>& answers) {
          Json list = Json::array();
          for (const TextAnswer& answer : answers) {
            Json& translation = list.emplace_back(Json{{"translatedText", answer.texts.front()}});
            if (asked.source.empty()) translation["detectedSourceLanguage"] = answer.source;
          }
          return data("translations", std::move(list));
        }};
  }

  /// A list of one finding for each text.
  HttpResponse detect(const RequestFields& fields) const {
    Json list = Json::array();
    for (const std::string& text : parse_texts(fields, "q", server_.config.limits)) {
      const DetectedLanguage found = detect_language(text, server_.models.languages());
      const Json finding = {{"language", found.language},
                            {"isReliable", false},
                            {"confidence", found.confidence / 100}};
      list.push_back(Json::array({finding}));
    }
    return data("detections", std::move(list));
  }

  /// With their names, in English, if `target` asks for names in any language.
  HttpResponse languages(const RequestFields& fields) const {
    Json list = Json::array();
    for (const std::string& code : server_.models.languages()) {
      Json& language = list.emplace_back(Json{{"language", code}});
      if (!fields.text("target").empty()) language["name"] = language_name(code);
    }
    return data("languages", std::move(list));
  }
};

// ---- DeepLX's -----------------------------------------------------------------------------------

/// DeepLX itself has the path /translate, which is LibreTranslate's here. Its clients let their
/// users write the whole address.
class DeepLX : public Interface {
 public:
  using Interface::Interface;

  std::vector<Endpoint> endpoints() override {
    return {{"POST", "/deeplx/translate", Access::Admitted,
             [this](ServerRequest& request) { return translate(*request.fields); }}};
  }

  std::string key_of(const ServerRequest& request) const override {
    const std::string token = request.fields->text("token");
    return token.empty() ? header_key(request.http) : token;
  }

  RefusalCodes refusal_codes() const override { return {.missing_key = 401}; }

  HttpResponse error_answer(const ServerRequest&, const HttpError& error) const override {
    return json_response(error.status(), Json{{"code", error.status()}, {"message", error.what()}});
  }

 private:
  WantedTexts translate(const RequestFields& fields) {
    fields.text("text");  // throws if it is a list
    TranslateParameters parameters =
        parse_translation(fields, {"text", "source_lang", "target_lang"}, server_);
    const std::string handling = fields.text("tag_handling");
    if (!handling.empty() && handling != "html" && handling != "xml")
      throw HttpError(400, "tag_handling is neither html nor xml");
    if (handling == "html") parameters.markup = MarkupFormat::Html;
    if (handling == "xml") parameters.markup = MarkupFormat::Xml;
    return {.parameters = std::move(parameters),
            .markup_fault = "text",
            .answer = [id = ++last_id_](const TranslateParameters& asked,
                                        const std::vector<TextAnswer>& answers) {
              return json_response(200, Json{{"code", 200},
                                             {"id", id},
                                             {"data", answers.front().texts.front()},
                                             {"alternatives", Json::array()},
                                             {"source_lang", ascii_upper(answers.front().source)},
                                             {"target_lang", ascii_upper(asked.target)},
                                             {"method", "Free"}});
            }};
  }

  std::int64_t last_id_ = 0;  // one thread answers
};

// ---- Immersive Translate's ----------------------------------------------------------------------

class Immersive : public Interface {
 public:
  using Interface::Interface;

  std::vector<Endpoint> endpoints() override {
    return {{"POST", "/immersive/translate", Access::Admitted,
             [this](ServerRequest& request) { return translate(*request.fields); }}};
  }

 private:
  WantedTexts translate(const RequestFields& fields) const {
    return {.parameters =
                parse_translation(fields, {"text_list", "source_lang", "target_lang"}, server_),
            .answer = [](const TranslateParameters&, const std::vector<TextAnswer>& answers) {
              Json list = Json::array();
              for (const TextAnswer& answer : answers)
                list.push_back(
                    {{"detected_source_lang", answer.source}, {"text", answer.texts.front()}});
              return json_response(200, Json{{"translations", std::move(list)}});
            }};
  }
};

}  // namespace

std::unique_ptr<Interface> google_interface(const ServerParts& server) {
  return std::make_unique<Google>(server);
}

std::unique_ptr<Interface> deeplx_interface(const ServerParts& server) {
  return std::make_unique<DeepLX>(server);
}

std::unique_ptr<Interface> immersive_interface(const ServerParts& server) {
  return std::make_unique<Immersive>(server);
}

}  // namespace dragoman
