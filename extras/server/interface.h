// The contract between the server and its interfaces: other systems' and our own. An
// interface has endpoints, each a function from a request to a response or to texts that are to be
// translated. The server does the rest, which is the same for all: it finds the endpoint, reads the
// parameters, admits the client, translates, counts, and logs.
//
// To add an interface, write a file with a class and the function that makes it, and name the
// function at the end of this header.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/files.h"
#include "base/utf8.h"
#include "extras/server/access.h"
#include "extras/server/glossaries.h"
#include "extras/server/http.h"
#include "extras/server/metrics.h"
#include "extras/server/request_texts.h"
#include "extras/server/served_models.h"

namespace dragoman {

struct ServerConfig {
  RequestLimits limits = {};
  std::int64_t requests_per_minute = -1;  ///< of each client; below 0: any number
  std::chrono::milliseconds request_timeout{60'000};
  std::vector<std::string> cors_origins = {};  ///< "*": any
  /// Host names that requests may use besides those of loopback addresses; nothing: any.
  std::optional<std::vector<std::string>> hosts = std::nullopt;
  /// The address that clients know, without a slash at its end; empty: as each request says.
  std::string public_url = {};
  /// The client is the last address of X-Forwarded-For, which the proxy in front has written.
  bool is_behind_proxy = false;
  std::string version = {};
  std::shared_ptr<ApiKeys> api_keys = nullptr;        ///< null: everybody may ask
  std::shared_ptr<AppendFile> suggestions = nullptr;  ///< null: none are taken
  std::shared_ptr<Glossaries> glossaries = nullptr;   ///< null: none are kept
};

/// The parts of the server that an interface uses. They outlive it.
struct ServerParts {
  const ServedModels& models;
  const ServerConfig& config;
  const Metrics& metrics;
};

struct ServerRequest {
  HttpRequest http;       ///< without its body when the parameters have been read
  std::string rest = {};  ///< of the path, after that of the endpoint: "page.css" of "/page/"
  std::optional<RequestFields> fields = {};  ///< the parameters, for Access::Admitted
  std::optional<ApiKeys::Key> key = {};      ///< nothing if everybody may ask
};

/// Texts that an endpoint wants translated, or one that it wants explained.
struct WantedTexts {
  TranslateParameters parameters;
  std::string markup_fault = {};  ///< begins the message if markup cannot be read
  std::optional<ExplanationUse> explanation = std::nullopt;  ///< nothing: a translation
  /// Makes the response. The text of an explanation's one answer is its JSON.
  std::function<HttpResponse(const TranslateParameters&, const std::vector<TextAnswer>&)> answer;
  /// If the client fetches its translation later: makes the response that it gets when nothing is
  /// left to refuse. `later` then gets the response of `answer`, or an error's; it must not throw.
  std::function<HttpResponse()> receipt = nullptr;
  HttpReply later = nullptr;
};

using Answer = std::variant<HttpResponse, WantedTexts>;

enum class Access {
  Free,      ///< for everybody, as often as they like; answered at once, without parameters
  Admitted,  ///< for clients whose key is known, at their rate
  Changing   ///< as Admitted, but not for web pages of other origins: it changes what is kept
};

struct Endpoint {
  const char* method;
  std::string_view path;  ///< "/a/": all paths that begin so
  Access access;
  std::function<Answer(ServerRequest&)> answer;  ///< may throw HttpError

  bool serves(std::string_view requested) const {
    const bool is_folder = path.size() > 1 && path.ends_with('/');
    return is_folder ? requested.starts_with(path) && requested.size() > path.size()
                     : requested == path;
  }
};

/// The key of "Authorization: Bearer KEY" (or another scheme, in lower case), or of "X-Api-Key:
/// KEY"; empty if there is none.
inline std::string header_key(const HttpRequest& request, std::string_view scheme = "bearer") {
  const std::string_view authorization = request.header("authorization");
  if (ascii_lower(authorization.substr(0, authorization.find(' '))) != scheme)
    return std::string(request.header("x-api-key"));
  return std::string(without_blanks(authorization.substr(scheme.size())));
}

/// Its key, status codes and errors are in LibreTranslate's form unless it overrides them.
class Interface {
 public:
  /// Status codes of refusals by the server.
  struct RefusalCodes {
    int missing_key = 400, used_up = 429, too_large = 400;
  };

  explicit Interface(const ServerParts& server) : server_(server) {}
  virtual ~Interface() = default;

  virtual std::vector<Endpoint> endpoints() = 0;
  /// Whether errors of a path without an endpoint are in its form.
  virtual bool claims(const std::string& /*path*/) const { return false; }
  /// The parameter api_key, or the key of a header that all interfaces know.
  virtual std::string key_of(const ServerRequest& request) const {
    const std::string key = request.fields->text("api_key");
    return key.empty() ? header_key(request.http) : key;
  }
  virtual RefusalCodes refusal_codes() const { return {}; }
  virtual HttpResponse error_answer(const ServerRequest&, const HttpError& error) const {
    return json_response(error.status(), nlohmann::ordered_json{{"error", error.what()}});
  }

 protected:
  const ServerParts server_;
};

std::unique_ptr<Interface> libretranslate_interface(const ServerParts& server);
std::unique_ptr<Interface> deepl_interface(const ServerParts& server);
std::unique_ptr<Interface> deepl_documents(const ServerParts& server);
std::unique_ptr<Interface> deepl_glossaries(const ServerParts& server);
std::unique_ptr<Interface> google_interface(const ServerParts& server);
std::unique_ptr<Interface> deeplx_interface(const ServerParts& server);
std::unique_ptr<Interface> immersive_interface(const ServerParts& server);
std::unique_ptr<Interface> own_interface(const ServerParts& server);

/// All of them. The first answers for the paths that no interface has.
inline std::vector<std::unique_ptr<Interface>> interfaces_of(const ServerParts& server) {
  std::vector<std::unique_ptr<Interface>> all;
  for (const auto make :
       {libretranslate_interface, deepl_interface, deepl_documents, deepl_glossaries,
        google_interface, deeplx_interface, immersive_interface, own_interface})
    all.push_back(make(server));
  return all;
}

}  // namespace dragoman
