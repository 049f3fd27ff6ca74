// The flags of dragoman serve.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/open_model.h"
#include "base/fields.h"
#include "base/language_codes.h"
#include "extras/server/http_server.h"
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

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Models", visit);
    field("model", models,
          "LANGUAGES=PATH, like en-de=run/: run folder or model file, and the languages that it "
          "translates; several for several languages",
          {.aliases = "models"});
    field("source-lang", source_lang,
          "source language of the one --model that is given by its PATH alone",
          {.placeholder = "CODE"});
    field("target-lang", target_lang, "target language of that model", {.placeholder = "CODE"});
    field("load-on-demand", load_on_demand,
          "load a model when a request first needs it, not at the start");
    const auto network = fields_under("Network", visit);
    network("host", host, "address to listen at; 0.0.0.0: all addresses of this machine");
    network("port", port, "port to listen at; 0: one that is free");
    network("cors-origins", cors_origins, "web pages that may ask, as https://example.org; *: all");
    network("public-url", public_url,
            "address that clients know, like https://mt.example.org: for a proxy in front that "
            "passes the name on, and for the addresses of translated files",
            {.placeholder = "URL"});
    network("allowed-hosts", allowed_hosts,
            "host names that requests may use; *: any. Without it any, but at a loopback address "
            "only localhost and the name of --public-url",
            {.placeholder = "NAME"});
    network("behind-proxy", behind_proxy,
            "a client's address is the last in X-Forwarded-For, which the proxy in front writes");
  }
};

struct ServeFiles {
  std::string api_keys, suggestions, glossaries;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Access", visit);
    field("api-keys", api_keys,
          "file of keys, one a line, each with the characters that it may have translated per "
          "month; without it everybody may ask",
          {.placeholder = "FILE"});
    field("suggestions", suggestions,
          "file to which POST /suggest appends lines of JSON; without it none are taken",
          {.placeholder = "FILE"});
    field("glossaries", glossaries,
          "folder that keeps the glossaries of DeepL's interface; without it none are taken",
          {.placeholder = "FOLDER"});
  }
};

struct ServeLimits {
  std::int64_t char_limit = 100'000, batch_limit = 1'000, alternatives_limit = 10, req_limit = -1;
  std::int64_t explain_limit = 500;
  std::int64_t body_limit = 2'097'152, waiting_limit = 65'536, connection_limit = 1'000;
  std::int64_t cache_limit = 8'388'608;
  double request_timeout = 60, connection_timeout = 60;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Limits", visit);
    field("char-limit", char_limit, "characters of a request's texts; -1: no limit");
    field("batch-limit", batch_limit, "texts of a request; -1: no limit");
    field("alternatives-limit", alternatives_limit, "alternatives that a request may ask for");
    field("explain-limit", explain_limit,
          "characters of a text to be explained (POST /explain), 2000 at most; 0: nothing is "
          "explained");
    field("req-limit", req_limit, "requests of a client per minute; -1: no limit");
    field("body-limit", body_limit, "bytes of a request's body");
    field("waiting-limit", waiting_limit,
          "sentences that wait for a model; while there are more, requests are refused (503)");
    field("cache-limit", cache_limit,
          "bytes of finished sentences that a model keeps, so that they need no translation when "
          "they come again; 0: it keeps none");
    field("connection-limit", connection_limit, "open connections; others wait to be accepted");
    field("request-timeout", request_timeout, "seconds that a translation may take");
    field("connection-timeout", connection_timeout,
          "seconds in which a client must send its request, and take the answer");
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

  void check() const;                      ///< throws UsageError naming the flag
  std::vector<NamedModel> models() const;  ///< throws UsageError, and Error for a damaged file
  std::optional<std::vector<std::string>> hosts() const;  ///< as ServerConfig has them
  HttpConfig http() const;
  ServerConfig server() const;  ///< throws Error if a file cannot be read
};

}  // namespace dragoman
