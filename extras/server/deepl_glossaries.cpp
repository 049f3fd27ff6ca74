#include "extras/server/deepl_glossaries.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "extras/server/deepl.h"

namespace dragoman::deepl {

namespace {

using Json = nlohmann::ordered_json;
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
      if (!strip(text.substr(0, end)).empty()) refuse(line, "text stands behind a closing quote");
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
  if (term.empty()) refuse(line, "a source term and a target term are needed");
  if (has_control_character(term)) refuse(line, "a term has a control character");
}

/// Columns behind the two terms are their languages, in CSV.
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

}  // namespace

LanguagePair languages_of(const LanguagePair& codes) {
  return {language_of(codes.source), language_of(codes.target)};
}

Entries parse_glossary_entries(const RequestFields& fields) {
  const std::string format = required_text(fields, "entries_format");
  if (format != "tsv" && format != "csv")
    throw HttpError(400, "Value for 'entries_format' not supported.");
  return parse_entries(fields.text("entries"), format);
}

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

HttpResponse glossary_answer(const GlossaryFacts& glossary, int status) {
  return json_response(status, json_of(glossary));
}

HttpResponse glossary_list(const std::vector<GlossaryFacts>& glossaries) {
  Json list = Json::array();
  for (const GlossaryFacts& glossary : glossaries) list.push_back(json_of(glossary));
  return json_response(200, Json{{"glossaries", std::move(list)}});
}

HttpResponse glossary_entries(const Glossary& glossary) {
  std::string text;
  for (const auto& [source, target] : glossary.entries)
    text += join_text(source, '\t', target, '\n');
  return {.body = std::move(text), .type = "text/tab-separated-values; charset=utf-8"};
}

HttpResponse glossary_languages(const ServedModels& models) {
  Json list = Json::array();
  for (const auto& [source, target] : pairs_of(models))
    list.push_back({{"source_lang", source}, {"target_lang", target}});
  return json_response(200, Json{{"supported_languages", std::move(list)}});
}

}  // namespace dragoman::deepl
