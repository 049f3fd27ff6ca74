#include "extras/server/libretranslate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/lines.h"
#include "base/utf8.h"
#include "data/languages.h"
#include "extras/server/translated_files.h"

namespace dragoman::libretranslate {

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& text) { throw HttpError(400, text); }

std::string required_text(const RequestFields& fields, const char* name) {
  std::string text = fields.text(name);
  if (text.empty()) refuse(join_text("Invalid request: missing ", name, " parameter"));
  return text;
}

/// The served code that the code means, or else the code itself.
std::string parse_language(const RequestFields& fields, const char* name,
                           const ServedModels& models) {
  std::string code = required_text(fields, name);
  std::string served = find_served_code(code, models.languages());
  return served.empty() ? code : served;
}

/// Empty if it is to be detected.
std::string parse_source(const RequestFields& fields, const ServedModels& models) {
  std::string code = parse_language(fields, "source", models);
  return ascii_lower(code) == "auto" ? "" : code;
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

MarkupFormat parse_format(const RequestFields& fields) {
  const std::string format = fields.text("format");
  if (format == "html") return MarkupFormat::Html;
  if (!format.empty() && format != "text") refuse(format + " format is not supported");
  return MarkupFormat::None;
}

void check_languages(const TranslateParameters& parameters, const ServedModels& models) {
  const std::vector<std::string> served = models.languages();
  for (const std::string& code : {parameters.source, parameters.target})
    if (!code.empty() && std::ranges::find(served, code) == served.end())
      refuse(code + " is not supported");
  if (parameters.source.empty() && !models.is_target(parameters.target))
    refuse(join_text(language_name(parameters.target), " (", parameters.target,
                     ") is not available as a target language"));
  if (parameters.source.empty() || models.route({parameters.source, parameters.target})) return;
  refuse(join_text(language_name(parameters.target), " (", parameters.target,
                   ") is not available as a target language from ",
                   language_name(parameters.source), " (", parameters.source, ')'));
}

/// "source=target" or "source<TAB>target", one term per line; a byte order mark may stand in front.
std::shared_ptr<const Demands> parse_terms(const RequestFields& fields) {
  std::vector<std::pair<std::string, std::string>> terms;
  std::string text = fields.text("terms");
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  for (LineCursor lines(text); !lines.at_end();) {
    const std::string_view line = strip(lines.next());
    if (line.empty()) continue;
    const std::size_t at = line.find(line.find('\t') != line.npos ? '\t' : '=');
    const std::string_view source = strip(line.substr(0, at));
    const std::string_view target = at == line.npos ? "" : strip(line.substr(at + 1));
    if (source.empty() || target.empty())
      refuse(join_text("Invalid request: terms parameter: '", line, "' is not source=target"));
    if (has_control_character(source) || has_control_character(target))
      refuse(join_text("Invalid request: terms parameter: the term of '", source,
                       "' has a control character"));
    terms.emplace_back(source, target);
  }
  if (terms.empty()) return nullptr;
  try {
    return std::make_shared<const Demands>(Demands{.terms = Terms(terms)});
  } catch (const Error& error) {
    refuse(join_text("Invalid request: ", error.what()));
  }
}

/// Characters of the texts, and of the terms that are looked for in them.
std::int64_t size_of(const std::vector<std::string>& texts, const RequestFields& fields) {
  return count_characters(texts) + count_characters(fields.text("terms"));
}

/// The places of source words and of their translations: [begin, end, begin, end].
Json links_of(const std::vector<ReportedWord>& words) {
  Json links = Json::array();
  for (const auto& [target, probability, source] : words)
    if (!source.empty()) links.push_back({source.begin, source.end, target.begin, target.end});
  return links;
}

Json scores_of(const std::vector<ReportedWord>& words) {
  Json scores = Json::array();
  for (const ReportedWord& word : words)
    scores.push_back(
        {word.target.begin, word.target.end, std::round(word.probability * 1e4) / 1e4});
  return scores;
}

Json detection(const std::string& language, double confidence) {
  return {{"confidence", confidence}, {"language", language}};
}

HttpResponse translate_answer(const TranslateParameters& parameters,
                              const std::vector<TextAnswer>& answers) {
  Json texts = Json::array(), languages = Json::array(), alternatives = Json::array();
  Json links = Json::array(), scores = Json::array();
  for (const TextAnswer& answer : answers) {
    texts.push_back(answer.texts.front());
    languages.push_back(detection(answer.source, answer.confidence));
    alternatives.push_back(std::vector<std::string>(answer.texts.begin() + 1, answer.texts.end()));
    links.push_back(links_of(answer.words));
    scores.push_back(scores_of(answer.words));
  }
  const auto shown = [&parameters](Json& list) -> Json& {
    return parameters.is_list ? list : list[0];
  };
  Json body = {{"translatedText", shown(texts)}};
  if (parameters.source.empty()) body["detectedLanguage"] = shown(languages);
  if (parameters.alternatives > 0) body["alternatives"] = shown(alternatives);
  if (parameters.shows_alignment) body["alignment"] = shown(links);
  if (parameters.shows_word_scores) body["wordScores"] = shown(scores);
  // All texts have the same languages, and so the same route.
  if (!answers.front().pivot.empty()) body["pivotLanguage"] = answers.front().pivot;
  return json_response(200, body);
}

}  // namespace

WantedTexts parse_translate(const RequestFields& fields, const ServedModels& models,
                            const RequestLimits& limits) {
  TranslateParameters parameters{.texts = fields.texts("q"),
                                 .is_list = fields.is_list("q"),
                                 .source = {},
                                 .target = {},
                                 .detects_each = false};
  const auto is_empty = [](const std::string& text) { return text.empty(); };
  if (parameters.texts.empty() || (!parameters.is_list && is_empty(parameters.texts.front())))
    refuse("Invalid request: missing q parameter");
  parameters.source = parse_source(fields, models);
  parameters.target = parse_language(fields, "target", models);
  parameters.shows_alignment = fields.flag("alignment").value_or(false);
  parameters.shows_word_scores = fields.flag("word_scores").value_or(false);
  parameters.alternatives = parse_alternatives(fields, limits.alternatives);
  check_size(static_cast<std::int64_t>(parameters.texts.size()), limits.texts, "texts");
  check_size(size_of(parameters.texts, fields), limits.characters, "characters");
  parameters.demands = parse_terms(fields);
  parameters.markup = parse_format(fields);
  check_languages(parameters, models);
  return {.parameters = std::move(parameters),
          .markup_fault = "Invalid request: q parameter",
          .answer = translate_answer};
}

TranslateParameters parse_explain(const RequestFields& fields, const ServedModels& models,
                                  const RequestLimits& limits) {
  if (!strip(fields.text("terms")).empty())
    refuse("Invalid request: terms parameter: an explanation takes no terms");
  TranslateParameters parameters{.texts = {required_text(fields, "q")},
                                 .is_list = false,
                                 .source = parse_source(fields, models),
                                 .target = parse_language(fields, "target", models),
                                 .detects_each = false};
  check_size(count_characters(parameters.texts), limits.explained_characters, "characters");
  check_languages(parameters, models);
  return parameters;
}

// ---- the endpoints ------------------------------------------------------------------------------

namespace {

FileToTranslate read_file(const FileKind& kind, UploadedFile uploaded) {
  try {
    return file_to_translate(kind, std::move(uploaded.bytes));
  } catch (const Error& error) {
    refuse(join_text("Invalid request: the file '", uploaded.name, "' ", error.what()));
  }
}

/// "letter_de.txt"
std::string translated_name(const std::string& name, const std::string& target) {
  const std::size_t dot = std::min(name.rfind('.'), name.size());
  return join_text(name.substr(0, dot), '_', target, name.substr(dot));
}

/// Clients want a whole address. A proxy in front says by which scheme it was asked. The server has
/// checked the host.
std::string address_of_files(const HttpRequest& request, const std::string& public_url) {
  if (!public_url.empty()) return public_url + "/download_file/";
  const std::string host(request.header("host"));
  const bool is_https = request.header("x-forwarded-proto") == "https";
  const std::string root = host.empty() ? "" : join_text(is_https ? "https://" : "http://", host);
  return root + "/download_file/";
}

class LibreTranslate : public Interface {
 public:
  using Interface::Interface;

  std::vector<Endpoint> endpoints() override {
    using enum Access;
    using Request = ServerRequest;
    return {
        {"POST", "/translate", Admitted, [this](Request& request) { return translate(request); }},
        {"POST", "/translate_file", Admitted,
         [this](Request& request) { return translate_file(request); }},
        {"GET", "/download_file/", Free,
         [this](Request& request) { return download_file(request.rest); }},
        {"POST", "/detect", Admitted, [this](Request& request) { return detect(*request.fields); }},
        {"POST", "/suggest", Changing,
         [this](Request& request) { return suggest(*request.fields); }},
        {"GET", "/languages", Free, [this](Request&) { return languages(); }},
        {"GET", "/frontend/settings", Free, [this](Request&) { return frontend_settings(); }}};
  }

 private:
  const RequestLimits& limits() const { return server_.config.limits; }

  WantedTexts translate(ServerRequest& request) const {
    WantedTexts wanted = parse_translate(*request.fields, server_.models, limits());
    request.fields.reset();  // its memory: no error shows them again
    return wanted;
  }

  /// Its one text is the file's.
  WantedTexts translate_file(ServerRequest& request) {
    const RequestFields& fields = *request.fields;
    std::optional<UploadedFile> uploaded = fields.file("file");
    if (!uploaded) refuse("Invalid request: missing file parameter");
    const FileKind* kind = file_kind_of(uploaded->name);
    if (kind == nullptr) refuse("Invalid request: file format not supported");
    const std::string name = safe_file_name(uploaded->name);
    FileToTranslate file = read_file(*kind, *std::move(uploaded));
    TranslateParameters parameters{.texts = {std::move(file.text)},
                                   .is_list = false,
                                   .source = parse_source(fields, server_.models),
                                   .target = parse_language(fields, "target", server_.models),
                                   .detects_each = false,
                                   .markup = kind->markup};
    parameters.markup_options.charset = file.charset;
    // Text within markup is counted when the markup has been read.
    std::int64_t characters = count_characters(fields.text("terms"));
    if (parameters.markup == MarkupFormat::None) characters += count_characters(parameters.texts);
    check_size(characters, limits().characters, "characters");
    parameters.demands = parse_terms(fields);
    check_languages(parameters, server_.models);
    request.fields.reset();
    file.text.clear();  // it is the parameters' now
    const std::string translated = translated_name(name, parameters.target);
    return {
        .parameters = std::move(parameters),
        .markup_fault = join_text("Invalid request: the file '", name, '\''),
        .answer = [this, file, address = address_of_files(request.http, server_.config.public_url),
                   translated](const TranslateParameters&, const std::vector<TextAnswer>& answers) {
          const TextAnswer& answer = answers.front();
          const std::string kept = files_.keep({.name = translated,
                                                .text = file.byte_order_mark + answer.texts.front(),
                                                .charset = file.charset},
                                               std::chrono::steady_clock::now());
          Json body = {{"translatedFileUrl", address + kept}};
          if (!answer.pivot.empty()) body["pivotLanguage"] = answer.pivot;
          return json_response(200, body);
        }};
  }

  HttpResponse download_file(const std::string& name) {
    std::optional<TranslatedFile> file = files_.find(name, std::chrono::steady_clock::now());
    if (!file) throw HttpError(404, "there is no such file, or no longer");
    HttpResponse response = attachment(*std::move(file));
    response.headers.emplace_back("Cache-Control", "private, no-store");
    return response;
  }

  HttpResponse detect(const RequestFields& fields) const {
    const std::vector<std::string> texts = fields.texts("q");
    std::string all;
    for (const std::string& text : texts) all += text + "\n";
    if (all.size() <= 1) refuse("Invalid request: missing q parameter");
    check_size(count_characters(texts), limits().characters, "characters");
    const DetectedLanguage detected = detect_language(all, server_.models.languages());
    return json_response(200, Json::array({detection(detected.language, detected.confidence)}));
  }

  /// Keeps the suggestion as a line of JSON.
  HttpResponse suggest(const RequestFields& fields) const {
    if (!server_.config.suggestions)
      throw HttpError(403, "Suggestions are disabled on this server.");
    Json suggestion = Json::object();
    for (const char* name : {"q", "s"}) suggestion[name] = required_text(fields, name);
    for (const char* name : {"source", "target"})
      suggestion[name] = parse_language(fields, name, server_.models);
    std::int64_t size = 0;
    for (const Json& text : suggestion)
      size += count_characters(text.get_ref<const std::string&>());
    check_size(size, limits().characters, "characters");
    try {
      if (!server_.config.suggestions->append(json_text(suggestion) + "\n"))
        throw HttpError(500, "the suggestion could not be kept");
    } catch (const FileLocked&) {
      throw HttpError(503, "the file of suggestions is in use; try again later", 1);
    }
    return json_response(200, Json{{"success", true}});
  }

  HttpResponse languages() const {
    Json list = Json::array();
    for (const std::string& code : server_.models.languages())
      list.push_back({{"code", code},
                      {"name", language_name(code)},
                      {"targets", server_.models.targets_of(code)}});
    return json_response(200, list);
  }

  HttpResponse frontend_settings() const {
    // Milliseconds that a page waits for the next key before it translates; LibreTranslate's
    // default.
    constexpr int kFrontendTimeout = 500;
    const std::string target = server_.models.first_target();
    const bool has_keys = server_.config.api_keys != nullptr;
    Json endings = Json::array();
    for (const FileKind& kind : file_kinds()) endings.push_back(kind.ending);
    return json_response(200,
                         Json{{"charLimit", limits().characters},
                              {"bodyLimit", limits().body_bytes},
                              {"frontendTimeout", kFrontendTimeout},
                              {"apiKeys", has_keys},
                              {"keyRequired", has_keys},
                              {"suggestions", server_.config.suggestions != nullptr},
                              {"filesTranslation", true},
                              {"supportedFilesFormat", std::move(endings)},
                              {"language",
                               {{"source", {{"code", "auto"}, {"name", "Auto Detect"}}},
                                {"target", {{"code", target}, {"name", language_name(target)}}}}}});
  }

  TranslatedFiles files_;
};

}  // namespace

}  // namespace dragoman::libretranslate

namespace dragoman {

std::unique_ptr<Interface> libretranslate_interface(const ServerParts& server) {
  return std::make_unique<libretranslate::LibreTranslate>(server);
}

}  // namespace dragoman
