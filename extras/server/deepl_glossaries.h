// Glossaries in DeepL's interface, version 2: parameters and answers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "extras/server/glossaries.h"
#include "extras/server/http.h"
#include "extras/server/language_codes.h"
#include "extras/server/request_fields.h"
#include "extras/server/served_models.h"

namespace dragoman::deepl {

/// A glossary is for languages, whatever their scripts and regions.
LanguagePair languages_of(const LanguagePair& codes);

/// The parameters entries and entries_format. Throws HttpError (400).
std::vector<std::pair<std::string, std::string>> parse_glossary_entries(
    const RequestFields& fields);
/// POST /v2/glossaries: the glossary, without id, owner and demands. Throws HttpError (400).
Glossary parse_glossary(const RequestFields& fields, const ServedModels& models);

/// 200, or 201 for a new one.
HttpResponse glossary_answer(const GlossaryFacts& glossary, int status);
HttpResponse glossary_list(const std::vector<GlossaryFacts>& glossaries);
/// Lines of "source<TAB>target".
HttpResponse glossary_entries(const Glossary& glossary);
/// GET /v2/glossary-language-pairs: those of the models.
HttpResponse glossary_languages(const ServedModels& models);

}  // namespace dragoman::deepl
