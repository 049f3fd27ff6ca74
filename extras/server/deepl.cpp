// DeepL's interface, version 2, with its glossaries: its parameters, answers, errors and status
// codes, as its OpenAPI description and its own clients have them.

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "extras/server/glossaries.h"
#include "extras/server/interface.h"
#include "extras/server/languages.h"

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
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      const std::string_view found = strip(std::string_view(text).substr(begin, end - begin));
      if (!found.empty()) names.emplace(found);
      begin = end + 1;
    }
  return names;
}

void parse_tag_handling(const RequestFields& fields, TranslateParameters& parameters) {
  const std::string handling = fields.text("tag_handling");
  if (handling == "xml")
    parameters.markup = MarkupFormat::Xml;
  else if (handling == "html")
    parameters.markup = MarkupFormat::Html;
  else if (!handling.empty())
    throw HttpError(400, "Value for 'tag_handling' not supported.");
  parameters.markup_options = {
      .ignore_tags = parse_names(fields, "ignore_tags"),
      .splitting_tags = parse_names(fields, "splitting_tags"),
      .non_splitting_tags = parse_names(fields, "non_splitting_tags"),
      .outline_detection = fields.flag("outline_detection").value_or(true)};
}

/// The value of a parameter, which is one of these or empty.
std::string one_of(const RequestFields& fields, const char* name,
                   std::initializer_list<std::string_view> values) {
  std::string value = fields.text(name);
  if (!value.empty() && std::ranges::find(values, value) == values.end())
    throw HttpError(400, join_text("Value for '", name, "' not supported."));
  return value;
}

/// Refuses parameters that would change the translation and that this server does not have.
void check_other_parameters(const RequestFields& fields) {
  for (const char* name :
       {"glossary_ids", "style_id", "translation_memory_id", "custom_instructions"})
    if (fields.has(name) && !(fields.is_list(name) && fields.texts(name).empty()))
      throw HttpError(400, join_text("Parameter '", name, "' is not supported by this server."));
  one_of(fields, "tag_handling_version", {"v1", "v2"});
  const std::string formality =
      one_of(fields, "formality", {"default", "more", "less", "prefer_more", "prefer_less"});
  if (formality == "more" || formality == "less")
    throw HttpError(400, "'formality' is not supported for given 'target_lang'.");
  fields.flag("preserve_formatting");  // it always is; a value that is no flag is refused
}

void check_size(std::int64_t size, std::int64_t limit, const char* unit) {
  if (limit >= 0 && size > limit)
    throw HttpError(413, join_text("Request Entity Too Large: ", size, ' ', unit, ", at most ",
                                   limit, " are allowed"));
}

TranslateParameters parse_translate(const RequestFields& fields, const ServedModels& models,
                                    const RequestLimits& limits) {
  TranslateParameters parameters{.texts = fields.texts("text"), .source = {}, .target = {}};
  if (parameters.texts.empty()) throw HttpError(400, "Parameter 'text' not specified.");
  if (fields.text("target_lang").empty())
    throw HttpError(400, "Parameter 'target_lang' not specified.");
  const std::vector<std::string> served = models.languages();
  parameters.source = parse_language(fields, "source_lang", served);
  parameters.target = parse_language(fields, "target_lang", served);
  if (parameters.source.empty() && !models.is_target(parameters.target))
    throw HttpError(400, "Value for 'target_lang' not supported.");
  if (!parameters.source.empty() && !models.route({parameters.source, parameters.target}))
    throw HttpError(400, join_text("No translation from ", ascii_upper(parameters.source), " to ",
                                   ascii_upper(parameters.target), " is available."));
  parse_tag_handling(fields, parameters);
  parse_splitting(fields, parameters);
  check_other_parameters(fields);
  if (!fields.text("glossary_id").empty() && parameters.source.empty())
    throw HttpError(400, "Parameter 'source_lang' not specified: a glossary needs it.");
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

// ---- glossaries ---------------------------------------------------------------------------------

using Entries = std::vector<std::pair<std::string, std::string>>;

[[noreturn]] void refuse(std::size_t line, std::string_view fault) {
  throw HttpError(400, join_text("Invalid glossary entries provided: line ", line, ": ", fault));
}

std::string required_text(const RequestFields& fields, const char* name) {
  std::string text(strip(fields.text(name)));
  if (text.empty()) throw HttpError(400, join_text("Parameter '", name, "' not specified."));
  return text;
}

/// The field whose opening quote is in front of the text. It is taken from the text, with the quote
/// that closes it.
std::string next_quoted_field(std::string_view& text, std::size_t line) {
  std::string field;
  while (true) {
    const std::size_t quote = text.find('"');
    if (quote == text.npos) refuse(line, "a quote is not closed");
    field += text.substr(0, quote);
    text.remove_prefix(quote + 1);
    if (!text.starts_with('"')) return field;
    field += '"';  // two quotes are one
    text.remove_prefix(1);
  }
}

/// The fields of a line of CSV (RFC 4180), which is taken from the text. White space may stand
/// around a field and its quotes.
std::vector<std::string> next_csv_line(std::string_view& text, std::size_t line) {
  std::vector<std::string> fields;
  while (true) {
    std::size_t end = std::min(text.find_first_of(",\n\""), text.size());
    std::string field(strip(text.substr(0, end)));
    if (text.substr(end).starts_with('"')) {
      if (!field.empty())
        refuse(line, "a quote stands within a field that does not begin with one");
      text.remove_prefix(end + 1);
      field = next_quoted_field(text, line);
      end = std::min(text.find_first_of(",\n"), text.size());
      if (!strip(text.substr(0, end)).empty()) refuse(line, "there is text after a closing quote");
    }
    fields.push_back(std::move(field));
    const bool is_last = !text.substr(end).starts_with(',');
    text.remove_prefix(std::min(text.size(), end + 1));
    if (is_last) return fields;
  }
}

std::vector<std::string> next_tsv_line(std::string_view& text) {
  std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  std::vector<std::string> fields;
  while (true) {
    const std::string_view field = line.substr(0, line.find('\t'));
    fields.emplace_back(field);
    if (field.size() == line.size()) return fields;
    line.remove_prefix(field.size() + 1);
  }
}

void check_term(std::size_t line, std::string_view term) {
  constexpr std::size_t kLongestTerm = 1024;  // bytes
  if (term.empty()) refuse(line, "a source term and a target term are needed");
  if (has_control_character(term)) refuse(line, "a term has a control character");
  if (term.size() > kLongestTerm) refuse(line, "a term has more than 1024 bytes");
}

/// In CSV, columns after the two terms are their languages.
Entries parse_entries(std::string_view text, std::string_view format) {
  const bool is_csv = format == "csv";
  const std::size_t most_fields = is_csv ? 4 : 2;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Entries entries;
  std::set<std::string> sources;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::vector<std::string> fields =
        is_csv ? next_csv_line(text, line) : next_tsv_line(text);
    if (fields.size() == 1 && strip(fields[0]).empty()) continue;
    if (fields.size() < 2 || fields.size() > most_fields)
      refuse(line, "a source term and a target term are needed");
    const std::string source(strip(fields[0])), target(strip(fields[1]));
    check_term(line, source);
    check_term(line, target);
    if (!sources.insert(source).second) refuse(line, "the source term has come before");
    entries.emplace_back(source, target);
  }
  if (entries.empty()) throw HttpError(400, "Missing or invalid argument: entries");
  return entries;
}

/// A field of a line of CSV: in quotes if it needs them.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? "\"" : "").append(1, c);
  return quoted + "\"";
}

/// Whether a client wants entries as CSV, not as TSV. Throws HttpError (415) if it takes neither.
bool wants_csv(const HttpRequest& request) {
  const std::string accepted = ascii_lower(request.header("accept"));
  const auto has = [&accepted](const char* type) { return accepted.find(type) != accepted.npos; };
  if (accepted.empty() || has("*/*") || has("text/*") || has("text/tab-separated-values"))
    return false;
  if (has("text/csv")) return true;
  throw HttpError(415, "The entries are there as text/tab-separated-values and text/csv.");
}

/// A glossary is for languages, whatever their scripts and regions.
LanguagePair languages_of(const LanguagePair& codes) {
  return {language_of(codes.source), language_of(codes.target)};
}

std::set<LanguagePair> pairs_of(const ServedModels& models) {
  std::set<LanguagePair> pairs;
  for (const auto& model : models.all()) pairs.insert(languages_of(model->languages()));
  return pairs;
}

/// An old file may have regions.
Json json_of(const GlossaryFacts& glossary) {
  return {{"glossary_id", glossary.id},
          {"name", glossary.name},
          {"ready", true},
          {"source_lang", language_of(glossary.languages.source)},
          {"target_lang", language_of(glossary.languages.target)},
          {"creation_time", glossary.created},
          {"entry_count", glossary.entries}};
}

/// The parameters entries and entries_format.
Entries parse_glossary_entries(const RequestFields& fields) {
  const std::string format = required_text(fields, "entries_format");
  if (format != "tsv" && format != "csv")
    throw HttpError(400, "Value for 'entries_format' not supported.");
  return parse_entries(fields.text("entries"), format);
}

/// Without id, owner and demands.
Glossary parse_glossary(const RequestFields& fields, const ServedModels& models) {
  constexpr std::size_t kLongestName = 1024;
  const auto language = [&fields](const char* name) {
    return language_of(ascii_lower(required_text(fields, name)));
  };
  GlossaryFacts facts{.name = required_text(fields, "name"),
                      .languages = {language("source_lang"), language("target_lang")}};
  if (facts.name.size() > kLongestName) throw HttpError(400, "The name is too long.");
  if (!pairs_of(models).contains(facts.languages))
    throw HttpError(400, "Unsupported glossary source and target language pair");
  return {.facts = std::move(facts), .entries = parse_glossary_entries(fields)};
}

// ---- the endpoints ------------------------------------------------------------------------------

class DeepL : public Interface {
 public:
  explicit DeepL(const ServerParts& server) : server_(server) {}

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
            {"POST", "/v2/usage", Admitted, usage_answer},
            {"POST", "/v2/glossaries", Changing,
             [this](Request& request) { return add_glossary(request); }},
            {"GET", "/v2/glossaries", Admitted,
             [this](Request& request) { return list_glossaries(request); }},
            {"GET", "/v2/glossaries/", Admitted,
             [this](Request& request) { return get_glossary(request); }},
            {"DELETE", "/v2/glossaries/", Changing,
             [this](Request& request) { return delete_glossary(request); }},
            {"GET", "/v2/glossary-language-pairs", Admitted,
             [this](Request&) { return glossary_languages(); }},
            {"POST", "/v2/document", Free, no_documents},
            {"POST", "/v2/document/", Free, no_documents}};
  }

  /// Clients also ask for paths of other versions, which this server does not have.
  bool claims(const std::string& path) const override {
    return path.starts_with("/v1/") || path.starts_with("/v2/") || path.starts_with("/v3/");
  }

  /// The header "Authorization: DeepL-Auth-Key KEY", the old parameter auth_key, or one of the
  /// headers that all interfaces know.
  std::string key_of(const ServerRequest& request) const override {
    for (const std::string& key : {header_key(request.http, "deepl-auth-key"),
                                   request.fields->text("auth_key"), header_key(request.http)})
      if (!key.empty()) return key;
    return {};
  }

  RefusalCodes refusal_codes() const override {
    return {.missing_key = 403, .used_up = 456, .too_large = 413};
  }

  HttpResponse error_answer(const ServerRequest&, const HttpError& error) const override {
    return json_response(error.status(), Json{{"message", error.what()}});
  }

 private:
  WantedTexts translate(ServerRequest& request) const {
    TranslateParameters parameters =
        parse_translate(*request.fields, server_.models, server_.config.limits);
    if (const std::string id = request.fields->text("glossary_id"); !id.empty())
      parameters.demands = demands_of(*find_glossary(request, id), parameters);
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
    const std::string type = fields.text("type");
    if (!type.empty() && type != "source" && type != "target")
      throw HttpError(400, "Value for 'type' not supported.");
    const bool is_target = type == "target";
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

  Glossaries& glossaries() const {
    if (!server_.config.glossaries)
      throw HttpError(400, "This server keeps no glossaries: it was started without --glossaries.");
    return *server_.config.glossaries;
  }

  std::string owner_of(const ServerRequest& request) const {
    return request.key ? server_.config.api_keys->owner_of(*request.key) : "";
  }

  GlossaryPointer find_glossary(const ServerRequest& request, const std::string& id) const {
    try {
      if (GlossaryPointer found = glossaries().find(id, owner_of(request))) return found;
    } catch (const Error& error) {
      throw ServerFault("the glossary cannot be read; the server's log says why", error.what());
    }
    throw HttpError(404, "Glossary not found");
  }

  static std::shared_ptr<const Demands> demands_of(const Glossary& glossary,
                                                   const TranslateParameters& parameters) {
    const LanguagePair& languages = glossary.facts.languages;
    if (languages_of(languages) != languages_of({parameters.source, parameters.target}))
      throw HttpError(400, join_text("The glossary is for ", languages.name(), ", not ",
                                     parameters.source, '-', parameters.target, '.'));
    return glossary.demands;
  }

  HttpResponse add_glossary(const ServerRequest& request) const {
    Glossary glossary = parse_glossary(*request.fields, server_.models);
    glossary.facts.owner = owner_of(request);
    const auto added = glossaries().add(std::move(glossary));
    if (!added)
      throw HttpError(456, join_text("No more than ", Glossaries::kMost, " glossaries, and ",
                                     Glossaries::kMostBytes >> 20, " MiB of them."));
    return json_response(201, json_of(*added));
  }

  HttpResponse list_glossaries(const ServerRequest& request) const {
    Json list = Json::array();
    for (const GlossaryFacts& glossary : glossaries().all(owner_of(request)))
      list.push_back(json_of(glossary));
    return json_response(200, Json{{"glossaries", std::move(list)}});
  }

  /// A glossary, or its entries as lines of "source<TAB>target", or of CSV if Accept says so.
  HttpResponse get_glossary(const ServerRequest& request) const {
    constexpr std::string_view kEntries = "/entries";
    std::string id = request.rest;
    const bool is_entries = id.ends_with(kEntries);
    if (is_entries) id.resize(id.size() - kEntries.size());
    const GlossaryPointer found = find_glossary(request, id);
    if (!is_entries) return json_response(200, json_of(found->facts));
    const bool is_csv = wants_csv(request.http);
    std::string text;
    for (const auto& [source, target] : found->entries)
      text += is_csv ? join_text(csv_field(source), ',', csv_field(target), '\n')
                     : join_text(source, '\t', target, '\n');
    return {
        .body = std::move(text),
        .type = is_csv ? "text/csv; charset=utf-8" : "text/tab-separated-values; charset=utf-8"};
  }

  HttpResponse delete_glossary(const ServerRequest& request) const {
    if (!glossaries().remove(request.rest, owner_of(request)))
      throw HttpError(404, "Glossary not found");
    return {.status = 204, .type = ""};
  }

  /// The languages of the models.
  HttpResponse glossary_languages() const {
    Json list = Json::array();
    for (const auto& [source, target] : pairs_of(server_.models))
      list.push_back({{"source_lang", source}, {"target_lang", target}});
    return json_response(200, Json{{"supported_languages", std::move(list)}});
  }

  static HttpResponse no_documents(const ServerRequest&) {
    throw HttpError(404,
                    "This server translates no documents by DeepL's interface. POST "
                    "/translate_file translates files.");
  }

  const ServerParts server_;
};

}  // namespace

}  // namespace dragoman::deepl

namespace dragoman {

std::unique_ptr<Interface> deepl_interface(const ServerParts& server) {
  return std::make_unique<deepl::DeepL>(server);
}

}  // namespace dragoman
