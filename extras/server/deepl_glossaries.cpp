// DeepL's glossaries: version 2, in which a glossary has the terms of one pair of languages, and
// version 3, in which it has a dictionary for each of several pairs and may be changed.

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/language_codes.h"
#include "base/utf8.h"
#include "extras/server/deepl.h"
#include "extras/server/glossaries.h"

namespace dragoman::deepl {

namespace {

using Json = nlohmann::ordered_json;

// ---- entries ------------------------------------------------------------------------------------

[[noreturn]] void refuse(std::size_t line, std::string_view fault) {
  throw HttpError(400, "Invalid glossary entries provided", join_text("line ", line, ": ", fault));
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
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  const std::vector<std::string_view> fields = split_at(line, '\t');
  return {fields.begin(), fields.end()};
}

void check_term(std::size_t line, std::string_view term) {
  constexpr std::size_t kLongestTerm = 1024;  // bytes
  if (term.empty()) refuse(line, "a source term and a target term are needed");
  if (has_control_character(term)) refuse(line, "a term has a control character");
  if (term.size() > kLongestTerm) refuse(line, "a term has more than 1024 bytes");
}

/// In CSV, columns after the two terms are their languages.
GlossaryEntries parse_entries(std::string_view text, std::string_view format) {
  const bool is_csv = format == "csv";
  const std::size_t most_fields = is_csv ? 4 : 2;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  GlossaryEntries entries;
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
  if (entries.empty()) throw HttpError(400, "Invalid glossary entries provided", "there are none");
  return entries;
}

/// A field of a line of CSV: in quotes if it needs them.
std::string csv_field(std::string text) {
  if (text.find_first_of(",\"") == text.npos) return text;
  replace_all(text, "\"", "\"\"");
  return join_text('"', text, '"');
}

/// Whether a client wants entries as CSV, not as TSV. Throws HttpError (415) if it takes neither.
bool wants_csv(const HttpRequest& request) {
  const std::string accepted = ascii_lower(request.header("accept"));
  const auto has = [&accepted](const char* type) { return accepted.find(type) != accepted.npos; };
  if (accepted.empty() || has("*/*") || has("text/*") || has("text/tab-separated-values"))
    return false;
  if (has("text/csv")) return true;
  throw HttpError(415, "The entries are available as text/tab-separated-values and text/csv.");
}

GlossaryEntries without_terms_of(const GlossaryEntries& entries, const GlossaryEntries& others) {
  std::set<std::string> sources;
  for (const auto& [source, target] : others) sources.insert(source);
  GlossaryEntries left;
  for (const auto& entry : entries)
    if (!sources.contains(entry.first)) left.push_back(entry);
  return left;
}

std::string text_of(const GlossaryEntries& entries, bool is_csv) {
  std::string text;
  for (const auto& [source, target] : entries)
    text += is_csv ? join_text(csv_field(source), ',', csv_field(target), '\n')
                   : join_text(source, '\t', target, '\n');
  return text;
}

// ---- glossaries and dictionaries ----------------------------------------------------------------

std::string required_text(const RequestFields& fields, const char* name) {
  std::string text(strip(fields.text(name)));
  if (text.empty()) throw HttpError(400, join_text("Parameter '", name, "' not specified."));
  return text;
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

std::string parse_name(const RequestFields& fields) {
  constexpr std::size_t kLongest = 1024;  // bytes
  std::string name = required_text(fields, "name");
  if (name.size() > kLongest) throw HttpError(400, "The name is too long.");
  return name;
}

LanguagePair parse_pair(const RequestFields& fields) {
  const auto language = [&fields](const char* name) {
    return language_of(ascii_lower(required_text(fields, name)));
  };
  return {language("source_lang"), language("target_lang")};
}

LanguagePair parse_served_pair(const RequestFields& fields, const ServedModels& models) {
  LanguagePair pair = parse_pair(fields);
  if (!pairs_of(models).contains(pair))
    throw HttpError(400, "Unsupported glossary source and target language pair");
  return pair;
}

/// Without demands.
Dictionary parse_dictionary(const RequestFields& fields, const ServedModels& models) {
  const std::string format = required_text(fields, "entries_format");
  if (format != "tsv" && format != "csv")
    throw HttpError(400, "Value for 'entries_format' not supported.");
  return {.languages = parse_served_pair(fields, models),
          .entries = parse_entries(fields.text("entries"), format)};
}

/// Its place in the glossary; the end if there is none for these languages.
auto find_dictionary(auto& glossary, const LanguagePair& pair) {
  return std::ranges::find(glossary.dictionaries, languages_of(pair),
                           [](const Dictionary& known) { return languages_of(known.languages); });
}

enum class OnKnownTerms { Replaced, Merged };

/// Adds a dictionary, or changes the one for the same languages.
void put_dictionary(Glossary& glossary, Dictionary dictionary, OnKnownTerms on_known) {
  const auto known = find_dictionary(glossary, dictionary.languages);
  if (known == glossary.dictionaries.end())
    return glossary.dictionaries.push_back(std::move(dictionary));
  if (on_known == OnKnownTerms::Merged) {
    GlossaryEntries merged = without_terms_of(known->entries, dictionary.entries);
    std::ranges::move(dictionary.entries, std::back_inserter(merged));
    dictionary.entries = std::move(merged);
  }
  *known = std::move(dictionary);
}

/// An old file may have regions.
Json json_of(const std::pair<LanguagePair, std::size_t>& dictionary) {
  const auto& [languages, entries] = dictionary;
  return {{"source_lang", language_of(languages.source)},
          {"target_lang", language_of(languages.target)},
          {"entry_count", entries}};
}

/// As version 3 has it.
Json json_of(const GlossaryFacts& glossary) {
  Json dictionaries = Json::array();
  for (const auto& dictionary : glossary.dictionaries) dictionaries.push_back(json_of(dictionary));
  return {{"glossary_id", glossary.id},
          {"name", glossary.name},
          {"dictionaries", std::move(dictionaries)},
          {"creation_time", glossary.created}};
}

/// As version 2 has a glossary of one dictionary.
Json json_of_single(const GlossaryFacts& glossary) {
  Json json = {{"glossary_id", glossary.id}, {"name", glossary.name}, {"ready", true}};
  json.update(json_of(glossary.dictionaries.front()));
  json["creation_time"] = glossary.created;
  return json;
}

// ---- the endpoints ------------------------------------------------------------------------------

Glossaries& glossaries_of(const ServerConfig& config) {
  if (!config.glossaries)
    throw HttpError(400, "This server keeps no glossaries: it was started without --glossaries.");
  return *config.glossaries;
}

GlossaryPointer find_glossary(const ServerRequest& request, const ServerConfig& config,
                              const std::string& id) {
  try {
    const std::string owner = owner_of(request, config);
    if (GlossaryPointer found = glossaries_of(config).find(id, owner)) return found;
  } catch (const Error& error) {
    throw ServerFault("the glossary cannot be read; the server's log says why", error.what());
  }
  throw HttpError(404, "Glossary not found");
}

GlossaryFacts keep(Glossary glossary, const ServerConfig& config) {
  const auto kept = glossaries_of(config).keep(std::move(glossary));
  if (!kept)
    throw HttpError(456, join_text("No more than ", Glossaries::kMost, " glossaries, and ",
                                   Glossaries::kMostBytes >> 20, " MiB of them."));
  return *kept;
}

/// "/v3/glossaries/ID/entries"
struct GlossaryPath {
  std::string id, part;

  explicit GlossaryPath(const std::string& rest)
      : id(rest.substr(0, rest.find('/'))), part(rest.substr(id.size())) {}
};

/// The place of the dictionary for the languages that a request names.
auto find_asked_for(const ServerRequest& request, auto& glossary) {
  const auto found = find_dictionary(glossary, parse_pair(*request.fields));
  if (found == glossary.dictionaries.end()) throw HttpError(404, "Dictionary not found");
  return found;
}

class GlossaryInterface : public DeepLInterface {
 public:
  using DeepLInterface::DeepLInterface;

  std::vector<Endpoint> endpoints() override {
    using enum Access;
    const auto to = [this](HttpResponse (GlossaryInterface::*answer)(const ServerRequest&) const) {
      return [this, answer](ServerRequest& request) { return (this->*answer)(request); };
    };
    using This = GlossaryInterface;
    return {{"POST", "/v2/glossaries", Changing, to(&This::add_single)},
            {"GET", "/v2/glossaries", Admitted, to(&This::list_single)},
            {"GET", "/v2/glossaries/", Admitted, to(&This::get_single)},
            {"DELETE", "/v2/glossaries/", Changing, to(&This::remove)},
            {"GET", "/v2/glossary-language-pairs", Admitted, to(&This::pairs)},
            {"POST", "/v3/glossaries", Changing, to(&This::add)},
            {"GET", "/v3/glossaries", Admitted, to(&This::list)},
            {"GET", "/v3/glossaries/", Admitted, to(&This::get)},
            {"PATCH", "/v3/glossaries/", Changing, to(&This::change)},
            {"PUT", "/v3/glossaries/", Changing, to(&This::put)},
            {"DELETE", "/v3/glossaries/", Changing, to(&This::remove)}};
  }

 private:
  GlossaryPointer find(const ServerRequest& request, const std::string& id) const {
    return find_glossary(request, server_.config, id);
  }

  GlossaryFacts add_new(const ServerRequest& request, std::vector<Dictionary> dictionaries) const {
    return keep(
        {.facts = {.name = parse_name(*request.fields), .owner = owner_of(request, server_.config)},
         .dictionaries = std::move(dictionaries)},
        server_.config);
  }

  // ---- version 2 ----

  HttpResponse add_single(const ServerRequest& request) const {
    return json_response(
        201, json_of_single(add_new(request, {parse_dictionary(*request.fields, server_.models)})));
  }

  HttpResponse list_single(const ServerRequest& request) const {
    Json list = Json::array();
    for (const GlossaryFacts& glossary : all(request))
      if (glossary.dictionaries.size() == 1) list.push_back(json_of_single(glossary));
    return json_response(200, Json{{"glossaries", std::move(list)}});
  }

  /// A glossary, or its entries as lines of "source<TAB>target", or of CSV if Accept says so.
  HttpResponse get_single(const ServerRequest& request) const {
    const GlossaryPath path(request.rest);
    const GlossaryPointer found = find(request, path.id);
    if (found->dictionaries.size() != 1)
      throw HttpError(404, "Glossary not found",
                      "/v3/glossaries has those of several dictionaries");
    if (path.part.empty()) return json_response(200, json_of_single(found->facts));
    check_part(path, "/entries");
    const bool is_csv = wants_csv(request.http);
    return {
        .body = text_of(found->dictionaries.front().entries, is_csv),
        .type = is_csv ? "text/csv; charset=utf-8" : "text/tab-separated-values; charset=utf-8"};
  }

  /// The languages of the models.
  HttpResponse pairs(const ServerRequest&) const {
    Json list = Json::array();
    for (const auto& [source, target] : pairs_of(server_.models))
      list.push_back({{"source_lang", source}, {"target_lang", target}});
    return json_response(200, Json{{"supported_languages", std::move(list)}});
  }

  // ---- version 3 ----

  HttpResponse add(const ServerRequest& request) const {
    Glossary made;
    for (const RequestFields& fields : request.fields->objects("dictionaries"))
      put_dictionary(made, parse_dictionary(fields, server_.models), OnKnownTerms::Merged);
    if (made.dictionaries.empty()) throw HttpError(400, "Parameter 'dictionaries' not specified.");
    return json_response(201, json_of(add_new(request, std::move(made.dictionaries))));
  }

  HttpResponse list(const ServerRequest& request) const {
    Json list = Json::array();
    for (const GlossaryFacts& glossary : all(request)) list.push_back(json_of(glossary));
    return json_response(200, Json{{"glossaries", std::move(list)}});
  }

  /// A glossary, or the entries of one of its dictionaries.
  HttpResponse get(const ServerRequest& request) const {
    const GlossaryPath path(request.rest);
    const GlossaryPointer glossary = find(request, path.id);
    if (path.part.empty()) return json_response(200, json_of(glossary->facts));
    check_part(path, "/entries");
    const Dictionary& dictionary = *find_asked_for(request, *glossary);
    const Json json = {{"source_lang", language_of(dictionary.languages.source)},
                       {"target_lang", language_of(dictionary.languages.target)},
                       {"entries", text_of(dictionary.entries, false)},
                       {"entries_format", "tsv"}};
    return json_response(200, Json{{"dictionaries", Json::array({json})}});
  }

  /// Gives another name, or adds entries to dictionaries.
  HttpResponse change(const ServerRequest& request) const {
    const GlossaryPath path(request.rest);
    check_part(path, "");
    Glossary glossary = *find(request, path.id);
    const RequestFields& fields = *request.fields;
    const std::vector<RequestFields> dictionaries = fields.objects("dictionaries");
    if (fields.has("name") || dictionaries.empty()) glossary.facts.name = parse_name(fields);
    for (const RequestFields& dictionary : dictionaries)
      put_dictionary(glossary, parse_dictionary(dictionary, server_.models), OnKnownTerms::Merged);
    return json_response(200, json_of(keep(std::move(glossary), server_.config)));
  }

  /// A dictionary in the place of the one for the same languages, or a new one.
  HttpResponse put(const ServerRequest& request) const {
    const GlossaryPath path(request.rest);
    check_part(path, "/dictionaries");
    Glossary glossary = *find(request, path.id);
    Dictionary dictionary = parse_dictionary(*request.fields, server_.models);
    const Json json = json_of({dictionary.languages, dictionary.entries.size()});
    put_dictionary(glossary, std::move(dictionary), OnKnownTerms::Replaced);
    keep(std::move(glossary), server_.config);
    return json_response(200, json);
  }

  /// A glossary of either version, or a dictionary.
  HttpResponse remove(const ServerRequest& request) const {
    const GlossaryPath path(request.rest);
    if (path.part.empty()) {
      if (!glossaries_of(server_.config).remove(path.id, owner_of(request, server_.config)))
        throw HttpError(404, "Glossary not found");
      return {.status = 204, .type = ""};
    }
    check_part(path, "/dictionaries");
    Glossary glossary = *find(request, path.id);
    glossary.dictionaries.erase(find_asked_for(request, glossary));
    keep(std::move(glossary), server_.config);
    return {.status = 204, .type = ""};
  }

  std::vector<GlossaryFacts> all(const ServerRequest& request) const {
    return glossaries_of(server_.config).all(owner_of(request, server_.config));
  }

  static void check_part(const GlossaryPath& path, std::string_view expected) {
    if (path.part != expected) throw HttpError(404, "Glossary not found");
  }
};

/// The parameter glossary_id, or glossary_ids with one id. Empty if there is none.
std::string parse_glossary_id(const RequestFields& fields) {
  std::string id = fields.text("glossary_id");
  const std::vector<std::string> ids = fields.texts("glossary_ids");
  if (ids.empty()) return id;
  if (!id.empty() || ids.size() > 1 || ids.front().find(',') != std::string::npos)
    throw HttpError(400, "This server takes no more than one glossary for a translation.");
  return ids.front();
}

}  // namespace

std::shared_ptr<const Demands> parse_glossary_terms(const ServerRequest& request,
                                                    const ServerParts& server,
                                                    const LanguagePair& languages) {
  const std::string id = parse_glossary_id(*request.fields);
  if (id.empty()) return nullptr;
  if (languages.source.empty())
    throw HttpError(400, "Parameter 'source_lang' not specified: a glossary needs it.");
  const GlossaryPointer glossary = find_glossary(request, server.config, id);
  for (const Dictionary& dictionary : glossary->dictionaries)
    if (languages_of(dictionary.languages) == languages_of(languages)) return dictionary.demands;
  throw HttpError(400, join_text("The glossary has no dictionary for ", languages.name(), '.'));
}

}  // namespace dragoman::deepl

namespace dragoman {

std::unique_ptr<Interface> deepl_glossaries(const ServerParts& server) {
  return std::make_unique<deepl::GlossaryInterface>(server);
}

}  // namespace dragoman
