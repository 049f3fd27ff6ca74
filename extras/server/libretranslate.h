// LibreTranslate's REST interface: its parameters, answers, errors and status codes, as its app.py
// and its OpenAPI description have them. Our own interface takes some parameters in this form, too.
#pragma once

#include "extras/server/http.h"
#include "extras/server/interface.h"
#include "extras/server/request_texts.h"
#include "extras/server/served_models.h"

namespace dragoman::libretranslate {

/// POST /translate. Throws HttpError (400).
WantedTexts parse_translate(const RequestFields& fields, const ServedModels& models,
                            const RequestLimits& limits);

/// A text of no more than `limits.explained_characters`, without terms. Throws HttpError (400).
TranslateParameters parse_explain(const RequestFields& fields, const ServedModels& models,
                                  const RequestLimits& limits);

}  // namespace dragoman::libretranslate
