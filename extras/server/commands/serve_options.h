// The flags of dragoman serve.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands/open_model.h"
#include "base/fields.h"
#include "extras/server/http_server.h"
#include "extras/server/languages.h"
#include "extras/server/translation_server.h"
#include "inference/search/decode_config.h"

namespace dragoman {

/// A value of --model.
struct NamedModel {
  LanguagePair languages;
  std::string path;
};

struct ServeFlags {
  std::vector<std::string> models;
  std::string source_lang, target_lang;
  bool load_on_demand = false;
  std::string host = "127.0.0.1";
  std::int64_t port = 5000;
  std::vector<std::string> cors_origins, allowed_hosts;
  std::string public_url;
  bool behind_proxy = false;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    constexpr std::string_view kModels = "Models", kNetwork = "Network";
    visit(
        {.name = "model",
         .help = "LANGUAGES=PATH, as en-de=run/: run folder or model file, and the languages that "
                 "it translates; several for several languages",
         .group = kModels,
         .aliases = "models"},
        models);
    visit({.name = "source-lang",
           .help = "source language of the one --model that is given by its PATH alone",
           .group = kModels},
          source_lang);
    visit({.name = "target-lang", .help = "target language of that model", .group = kModels},
          target_lang);
    visit({.name = "load-on-demand",
           .help = "load a model when a request first needs it, not at the start",
           .group = kModels},
          load_on_demand);
    visit({.name = "host",
           .help = "address to listen at; 0.0.0.0: all addresses of this machine",
           .group = kNetwork},
          host);
    visit({.name = "port", .help = "port to listen at; 0: one that is free", .group = kNetwork},
          port);
    visit({.name = "cors-origins",
           .help = "web pages that may ask, as https://example.org; *: all",
           .group = kNetwork},
          cors_origins);
    visit(
        {.name = "public-url",
         .help = "address that clients know, as https://mt.example.org: for a proxy in front that "
                 "passes the name on, and for the addresses of translated files",
         .group = kNetwork,
         .placeholder = "URL"},
        public_url);
    visit({.name = "allowed-hosts",
           .help = "names by which the server may be asked; *: any. Without it any, but at a "
                   "loopback address only localhost and the name of --public-url",
           .group = kNetwork,
           .placeholder = "NAME"},
          allowed_hosts);
    visit({.name = "behind-proxy",
           .help = "a client is the last address in X-Forwarded-For, which the proxy in front "
                   "writes",
           .group = kNetwork},
          behind_proxy);
  }
};

struct ServeFiles {
  std::string api_keys, suggestions, glossaries;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    constexpr std::string_view kAccess = "Access";
    visit({.name = "api-keys",
           .help = "file of keys, one a line, each with the characters that it may have translated "
                   "in a month; without it everybody may ask",
           .group = kAccess,
           .placeholder = "FILE"},
          api_keys);
    visit({.name = "suggestions",
           .help = "file to which POST /suggest appends lines of JSON; without it none are taken",
           .group = kAccess,
           .placeholder = "FILE"},
          suggestions);
    visit({.name = "glossaries",
           .help = "folder that keeps the glossaries of DeepL's interface; without it none are "
                   "taken",
           .group = kAccess},
          glossaries);
  }
};

struct ServeLimits {
  std::int64_t char_limit = 100'000, batch_limit = 1'000, alternatives_limit = 10, req_limit = -1;
  std::int64_t explain_limit = 500;
  std::int64_t body_limit = 2'097'152, waiting_limit = 65'536, connection_limit = 1'000;
  std::int64_t cache_limit = 8'388'608;
  double request_timeout = 60, connection_timeout = 60;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    constexpr std::string_view kLimits = "Limits";
    visit({.name = "char-limit",
           .help = "characters of a request's texts; -1: no limit",
           .group = kLimits},
          char_limit);
    visit({.name = "batch-limit", .help = "texts of a request; -1: no limit", .group = kLimits},
          batch_limit);
    visit({.name = "alternatives-limit",
           .help = "alternatives that a request may ask for",
           .group = kLimits},
          alternatives_limit);
    visit({.name = "explain-limit",
           .help = "characters of a text to be explained (POST /explain), 2000 at most; 0: nothing "
                   "is explained",
           .group = kLimits},
          explain_limit);
    visit({.name = "req-limit",
           .help = "requests of a client in a minute; -1: no limit",
           .group = kLimits},
          req_limit);
    visit({.name = "body-limit", .help = "bytes of a request's body", .group = kLimits},
          body_limit);
    visit({.name = "waiting-limit",
           .help = "sentences that wait for a model; while there are more, requests are refused "
                   "(503)",
           .group = kLimits},
          waiting_limit);
    visit({.name = "cache-limit",
           .help = "bytes of finished sentences that a model keeps, so that they need no "
                   "translation when they come again; 0: it keeps none",
           .group = kLimits},
          cache_limit);
    visit({.name = "connection-limit",
           .help = "open connections; others wait to be accepted",
           .group = kLimits},
          connection_limit);
    visit({.name = "request-timeout",
           .help = "seconds that a translation may take",
           .group = kLimits},
          request_timeout);
    visit({.name = "connection-timeout",
           .help = "seconds in which a client must send its request, and take the answer",
           .group = kLimits},
          connection_timeout);
  }
};

struct ServeConfig {
  ServeFlags flags;
  ServeFiles files;
  ServeLimits limits;
  DecodeConfig decode;
  EngineChoice hardware;

  /// All flags, without those of the search that belong to a single request.
  std::vector<Field> fields();

  void check() const;                                     ///< throws UsageError naming the flag
  std::vector<NamedModel> models() const;                 ///< throws UsageError
  std::optional<std::vector<std::string>> hosts() const;  ///< as ServerConfig has them
  HttpConfig http() const;
  ServerConfig server() const;  ///< throws Error if a file cannot be read
};

}  // namespace dragoman
