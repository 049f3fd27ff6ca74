// DeepL's interface, version 2: its parameters, answers, errors and status codes, as its OpenAPI
// description and its own clients have them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "extras/server/api_keys.h"
#include "extras/server/http.h"
#include "extras/server/request_fields.h"
#include "extras/server/served_models.h"
#include "extras/server/translate_parameters.h"

namespace dragoman::deepl {

/// POST /v2/translate. Throws HttpError (400, 413).
TranslateParameters parse_translate(const RequestFields& fields, const ServedModels& models,
                                    const RequestLimits& limits);
HttpResponse translate_answer(const TranslateParameters& parameters,
                              const std::vector<TextAnswer>& answers);

/// GET /v2/languages. Throws HttpError (400) where the type is wrong.
HttpResponse languages(const RequestFields& fields, const ServedModels& models);

/// GET /v2/usage. Without a limit it is DeepL's number for that.
HttpResponse usage(const ApiKeys::Use& use);

/// The key of the header "Authorization: DeepL-Auth-Key KEY", or of the old parameter auth_key.
std::string key_of(const HttpRequest& request, const RequestFields& fields);

/// {"message": text}
HttpResponse error_answer(const HttpError& error);

}  // namespace dragoman::deepl
