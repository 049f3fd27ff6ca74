// What the parts of DeepL's interface have in common: keys, errors and status codes, and the
// parameters of a translation, whether of texts or of a document. DeepL's OpenAPI description and
// its own clients decide what is right.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "extras/server/interface.h"

namespace dragoman::deepl {

class DeepLInterface : public Interface {
 public:
  using Interface::Interface;

  /// The header "Authorization: DeepL-Auth-Key KEY", the old parameter auth_key, or one of the
  /// headers that all interfaces know.
  std::string key_of(const ServerRequest& request) const override;
  RefusalCodes refusal_codes() const override;
  HttpResponse error_answer(const ServerRequest&, const HttpError& error) const override;
};

/// The owner of what a request asks for or keeps (ApiKeys::owner_of).
std::string owner_of(const ServerRequest& request, const ServerConfig& config);

/// The languages and the glossary of a translation, without its texts. Refuses parameters that
/// would change the translation and that this server does not have. Throws HttpError.
TranslateParameters parse_languages(const ServerRequest& request, const ServerParts& server);

/// Throws HttpError (413).
void check_size(std::int64_t size, std::int64_t limit, const char* unit);

/// The terms of the glossary that a request names; null if it names none. Throws HttpError.
std::shared_ptr<const Demands> parse_glossary_terms(const ServerRequest& request,
                                                    const ServerParts& server,
                                                    const LanguagePair& languages);

}  // namespace dragoman::deepl
