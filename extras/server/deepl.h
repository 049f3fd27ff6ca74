// DeepL's interface, version 2, with its glossaries: its parameters, answers, errors and status
// codes, as its OpenAPI description and its own clients have them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "extras/server/access.h"
#include "extras/server/glossaries.h"
#include "extras/server/http.h"
#include "extras/server/languages.h"
#include "extras/server/request_texts.h"
#include "extras/server/served_models.h"

namespace dragoman::deepl {

/// POST /v2/translate. Throws HttpError (400, 413).
TranslateParameters parse_translate(const RequestFields& fields, const ServedModels& models,
                                    const RequestLimits& limits);
HttpResponse translate_answer(const TranslateParameters& parameters,
                              const std::vector<TextAnswer>& answers);

/// GET /v2/languages. Throws HttpError (400) if the type is wrong.
HttpResponse languages(const RequestFields& fields, const ServedModels& models);

/// GET /v2/usage. If there is no limit, the answer has DeepL's number for that.
HttpResponse usage(const ApiKeys::Use& use);

/// The key of the header "Authorization: DeepL-Auth-Key KEY", or of the old parameter auth_key.
std::string key_of(const HttpRequest& request, const RequestFields& fields);

/// {"message": text}
HttpResponse error_answer(const HttpError& error);

// ---- glossaries ---------------------------------------------------------------------------------

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
