// LibreTranslate's REST interface: its parameters, answers, errors and status codes, as its app.py
// and its OpenAPI description have them.
#pragma once

#include <string>
#include <vector>

#include "extras/server/http.h"
#include "extras/server/languages.h"
#include "extras/server/request_texts.h"
#include "extras/server/served_models.h"

namespace dragoman::libretranslate {

/// POST /translate. Throws HttpError (400).
TranslateParameters parse_translate(const RequestFields& fields, const ServedModels& models,
                                    const RequestLimits& limits);
HttpResponse translate_answer(const TranslateParameters& parameters,
                              const std::vector<TextAnswer>& answers);

/// POST /explain: a text of no more than `limits.explained_characters`, without terms. Throws
/// HttpError (400).
TranslateParameters parse_explain(const RequestFields& fields, const ServedModels& models,
                                  const RequestLimits& limits);

/// POST /translate_file: its one text is the file's. Throws HttpError (400).
TranslateParameters parse_translate_file(const RequestFields& fields, const ServedModels& models,
                                         const RequestLimits& limits);
/// The endings of the files that can be translated, with their full stops.
const std::vector<std::string>& file_endings();
/// "letter_de.txt"
std::string translated_file_name(const TranslateParameters& parameters);
/// The answer to POST /translate_file, with the address of the translated file. `pivot`: the
/// language between source and target, or empty.
HttpResponse file_answer(const HttpRequest& request, const std::string& kept_name,
                         const std::string& pivot);

/// POST /detect: the text, checked. Throws HttpError (400).
std::string parse_detect(const RequestFields& fields, const RequestLimits& limits);
HttpResponse detect_answer(const DetectedLanguage& detected);

/// GET /languages.
HttpResponse languages(const ServedModels& models);

struct FrontendFacts {
  std::int64_t character_limit;
  bool has_api_keys, takes_suggestions;
};
/// GET /frontend/settings.
HttpResponse frontend_settings(const ServedModels& models, const FrontendFacts& facts);

/// POST /suggest: the suggestion as a line of JSON, with its line end. Throws HttpError (400).
std::string parse_suggestion(const RequestFields& fields, const ServedModels& models,
                             const RequestLimits& limits);

/// {"error": text}
HttpResponse error_answer(const HttpError& error);

}  // namespace dragoman::libretranslate
