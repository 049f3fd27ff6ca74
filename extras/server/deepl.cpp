// DeepL's interface, version 2: texts, languages and usage.
#include "extras/server/deepl.h"

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/language_codes.h"
#include "base/utf8.h"

namespace dragoman::deepl {

namespace {

using Json = nlohmann::ordered_json;

std::string parse_language(const RequestFields& fields, const char* name,
                           const std::vector<std::string>& served) {
  const std::string code = fields.text(name);
  if (code.empty()) return {};
  std::string found = find_served_code(code, served);
  if (found.empty()) throw HttpError(400, join_text("Value for '", name, "' not supported."));
  return found;
}

/// The value of a parameter, which is one of these or empty.
std::string one_of(const RequestFields& fields, const char* name,
                   std::initializer_list<std::string_view> values) {
  std::string value = fields.text(name);
  if (!value.empty() && !is_among(value, values))
    throw HttpError(400, join_text("Value for '", name, "' not supported."));
  return value;
}

void parse_splitting(const RequestFields& fields, TranslateParameters& parameters) {
  // Clients send 0 and 1 as texts, numbers or truth values.
  const std::string split = ascii_lower(fields.scalar("split_sentences"));
  LineEnds& line_ends = parameters.markup_options.line_ends;
  if (split.empty()) {
    if (parameters.markup == MarkupFormat::Xml) line_ends = LineEnds::Split;
    return;
  }
  const bool splits = split == "1" || split == "true";
  line_ends = splits ? LineEnds::Split : LineEnds::Blanks;
  if (splits) {
    parameters.split = SplitSentences::Always;
    return;
  }
  parameters.line_breaks = LineBreaks::Blanks;
  if (split == "nonewlines")
    parameters.split = SplitSentences::Always;
  else if (split == "0" || split == "false")
    parameters.split = SplitSentences::Never;
  else
    throw HttpError(400, "Value for 'split_sentences' not supported.");
}

/// A list, or names with commas between them.
MarkupOptions::Names parse_names(const RequestFields& fields, const char* name) {
  MarkupOptions::Names names;
  for (const std::string& text : fields.texts(name))
    for (const std::string_view part : split_at(text, ','))
      if (const std::string_view found = strip(part); !found.empty()) names.emplace(found);
  return names;
}

void parse_tag_handling(const RequestFields& fields, TranslateParameters& parameters) {
  const std::string handling = one_of(fields, "tag_handling", {"xml", "html"});
  if (handling == "xml") parameters.markup = MarkupFormat::Xml;
  if (handling == "html") parameters.markup = MarkupFormat::Html;
  parameters.markup_options = {
      .ignore_tags = parse_names(fields, "ignore_tags"),
      .splitting_tags = parse_names(fields, "splitting_tags"),
      .non_splitting_tags = parse_names(fields, "non_splitting_tags"),
      .outline_detection = fields.flag("outline_detection").value_or(true)};
}

void check_other_parameters(const RequestFields& fields) {
  for (const char* name : {"style_id", "translation_memory_id", "custom_instructions"})
    if (fields.has(name) && !(fields.is_list(name) && fields.texts(name).empty()))
      throw HttpError(400, join_text("Parameter '", name, "' is not supported by this server."));
  one_of(fields, "tag_handling_version", {"v1", "v2"});
  const std::string formality =
      one_of(fields, "formality", {"default", "more", "less", "prefer_more", "prefer_less"});
  if (formality == "more" || formality == "less")
    throw HttpError(400, "'formality' is not supported for given 'target_lang'.");
  fields.flag("preserve_formatting");  // it always is; a value that is not a flag is refused
}

/// POST /v2/translate, and GET.
TranslateParameters parse_translate(const ServerRequest& request, const ServerParts& server) {
  const RequestFields& fields = *request.fields;
  const RequestLimits& limits = server.config.limits;
  std::vector<std::string> texts = fields.texts("text");
  if (texts.empty()) throw HttpError(400, "Parameter 'text' not specified.");
  TranslateParameters parameters = parse_languages(request, server);
  parameters.texts = std::move(texts);
  parse_tag_handling(fields, parameters);
  parse_splitting(fields, parameters);
  parameters.shows_characters = fields.flag("show_billed_characters").value_or(false);
  check_size(static_cast<std::int64_t>(parameters.texts.size()), limits.texts, "texts");
  check_size(count_characters(parameters.texts), limits.characters, "characters");
  return parameters;
}

/// What a client learns if it asks for one of DeepL's models; here each pair of languages has one.
std::string parse_model_type(const RequestFields& fields) {
  const std::string type = one_of(
      fields, "model_type", {"quality_optimized", "prefer_quality_optimized", "latency_optimized"});
  return type == "prefer_quality_optimized" ? "quality_optimized" : type;
}

HttpResponse translate_answer(const TranslateParameters& parameters, const std::string& model_type,
                              const std::vector<TextAnswer>& answers) {
  Json translations = Json::array();
  for (const TextAnswer& answer : answers) {
    Json translation = {{"detected_source_language", ascii_upper(answer.source)},
                        {"text", answer.texts.front()}};
    if (parameters.shows_characters) translation["billed_characters"] = answer.characters;
    if (!model_type.empty()) translation["model_type_used"] = model_type;
    if (!answer.pivot.empty()) translation["pivot_language"] = ascii_upper(answer.pivot);
    translations.push_back(std::move(translation));
  }
  return json_response(200, Json{{"translations", std::move(translations)}});
}

}  // namespace

// ---- shared with documents and glossaries -------------------------------------------------------

std::string DeepLInterface::key_of(const ServerRequest& request) const {
  for (const std::string& key : {header_key(request.http, "deepl-auth-key"),
                                 request.fields->text("auth_key"), header_key(request.http)})
    if (!key.empty()) return key;
  return {};
}

Interface::RefusalCodes DeepLInterface::refusal_codes() const {
  return {.missing_key = 403, .used_up = 456, .too_large = 413};
}

HttpResponse DeepLInterface::error_answer(const ServerRequest&, const HttpError& error) const {
  Json body = {{"message", error.what()}};
  if (!error.detail().empty()) body["detail"] = error.detail();
  return json_response(error.status(), body);
}

std::string owner_of(const ServerRequest& request, const ServerConfig& config) {
  return request.key ? config.api_keys->owner_of(*request.key) : "";
}

TranslateParameters parse_languages(const ServerRequest& request, const ServerParts& server) {
  const RequestFields& fields = *request.fields;
  const ServedModels& models = server.models;
  if (fields.text("target_lang").empty())
    throw HttpError(400, "Parameter 'target_lang' not specified.");
  const std::vector<std::string> served = models.languages();
  TranslateParameters parameters{.texts = {},
                                 .source = parse_language(fields, "source_lang", served),
                                 .target = parse_language(fields, "target_lang", served)};
  const LanguagePair languages{parameters.source, parameters.target};
  if (languages.source.empty() && !models.is_target(languages.target))
    throw HttpError(400, "Value for 'target_lang' not supported.");
  if (!languages.source.empty() && !models.route(languages))
    throw HttpError(400, join_text("No translation from ", ascii_upper(languages.source), " to ",
                                   ascii_upper(languages.target), " is available."));
  check_other_parameters(fields);
  parameters.demands = parse_glossary_terms(request, server, languages);
  return parameters;
}

void check_size(std::int64_t size, std::int64_t limit, const char* unit) {
  if (limit >= 0 && size > limit)
    throw HttpError(413, join_text("Request Entity Too Large: ", size, ' ', unit, ", at most ",
                                   limit, " are allowed"));
}

// ---- the endpoints ------------------------------------------------------------------------------

namespace {

class DeepL : public DeepLInterface {
 public:
  using DeepLInterface::DeepLInterface;

  std::vector<Endpoint> endpoints() override {
    using enum Access;
    using Request = ServerRequest;
    const auto languages_answer = [this](Request& request) { return languages(*request.fields); };
    const auto usage_answer = [this](Request& request) { return usage(request); };
    const auto translation = [this](Request& request) { return translate(request); };
    return {{"POST", "/v2/translate", Admitted, translation},
            {"GET", "/v2/translate", Admitted, translation},  // of old clients
            {"GET", "/v2/languages", Admitted, languages_answer},
            {"POST", "/v2/languages", Admitted, languages_answer},
            {"GET", "/v2/usage", Admitted, usage_answer},
            {"POST", "/v2/usage", Admitted, usage_answer}};
  }

  /// Clients also ask for paths of other versions, which this server does not have.
  bool claims(const std::string& path) const override {
    return path.starts_with("/v1/") || path.starts_with("/v2/") || path.starts_with("/v3/");
  }

 private:
  WantedTexts translate(ServerRequest& request) const {
    TranslateParameters parameters = parse_translate(request, server_);
    const std::string model_type = parse_model_type(*request.fields);
    request.fields.reset();  // its memory: no error shows them again
    return {.parameters = std::move(parameters),
            .markup_fault = "Tag handling parsing failed, please check input",
            .answer = [model_type](const TranslateParameters& asked,
                                   const std::vector<TextAnswer>& answers) {
              return translate_answer(asked, model_type, answers);
            }};
  }

  HttpResponse languages(const RequestFields& fields) const {
    const bool is_target = one_of(fields, "type", {"source", "target"}) == "target";
    Json list = Json::array();
    const auto add = [&list, is_target](const std::string& code, const std::string& name) {
      Json language = {{"language", code}, {"name", name}};
      if (is_target) language["supports_formality"] = false;
      list.push_back(std::move(language));
    };
    const ServedModels& models = server_.models;
    for (const std::string& code : models.languages()) {
      if (!(is_target ? models.is_target(code) : models.is_source(code))) continue;
      // DeepL's clients know these two targets only with a region.
      if (is_target && code == "en") {
        add("EN-GB", "English (British)");
        add("EN-US", "English (American)");
      } else if (is_target && code == "pt") {
        add("PT-BR", "Portuguese (Brazilian)");
        add("PT-PT", "Portuguese (European)");
      } else {
        add(ascii_upper(code), language_name(code));
      }
    }
    return json_response(200, list);
  }

  /// If there is no limit, the answer has DeepL's number for that.
  HttpResponse usage(const ServerRequest& request) const {
    constexpr std::int64_t kNoLimit = 1'000'000'000'000;
    const ApiKeys::Use use =
        request.key ? server_.config.api_keys->use_of(*request.key)
                    : ApiKeys::Use{.characters = server_.metrics.characters(), .limit = {}};
    return json_response(200, Json{{"character_count", use.characters},
                                   {"character_limit", use.limit.value_or(kNoLimit)}});
  }
};

}  // namespace

}  // namespace dragoman::deepl

namespace dragoman {

std::unique_ptr<Interface> deepl_interface(const ServerParts& server) {
  return std::make_unique<deepl::DeepL>(server);
}

}  // namespace dragoman
