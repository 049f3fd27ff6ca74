#include "extras/server/commands/serve_options.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/utf8.h"
#include "extras/server/access.h"
#include "model/file/model_file.h"
#include "model/file/run_folder.h"

namespace dragoman {

namespace {

/// "1,000,000,000" where text_of() writes 1e+09, but 65535.
std::string shown_number(double value) {
  constexpr double kPlain = 1e5, kMostDigits = 1e15;
  const bool is_long = std::abs(value) >= kPlain && std::abs(value) < kMostDigits;
  return is_long && value == std::floor(value) ? with_separators(static_cast<std::int64_t>(value))
                                               : text_of(value);
}

void check_between(const char* flag, double value, double least, double most) {
  if (!(value >= least && value <= most))
    throw UsageError("--", flag, ": ", shown_number(value), " is not between ", shown_number(least),
                     " and ", shown_number(most));
}

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

/// "en-de=run/"; nothing if no languages stand in front.
std::optional<NamedModel> parse_named_model(const std::string& value) {
  const std::size_t equals = value.find('=');
  if (equals == std::string::npos) return std::nullopt;
  auto languages = parse_language_pair(value.substr(0, equals));
  if (!languages) return std::nullopt;
  return NamedModel{*std::move(languages), value.substr(equals + 1)};
}

/// "en-de=run/" of "EN-DE=run/".
std::string with_codes_in_lower_case(const std::string& value) {
  const std::size_t equals = std::min(value.find('='), value.size());
  return ascii_lower(value.substr(0, equals)) + value.substr(equals);
}

/// The model of a path alone, with the languages that its file says; nothing if there is no file,
/// or it says none.
std::optional<NamedModel> named_by_its_file(const std::string& path) {
  std::error_code none;
  const std::filesystem::path model = std::filesystem::is_directory(path, none)
                                          ? RunFolder{path}.model()
                                          : std::filesystem::path(path);
  if (!std::filesystem::is_regular_file(model, none)) return std::nullopt;
  const ModelFileReader file(model, Verify::Header);
  LanguagePair languages{file.provenance().source_language, file.provenance().target_language};
  if (!is_language_code(languages.source) || !is_language_code(languages.target))
    return std::nullopt;
  return NamedModel{std::move(languages), path};
}

void require_different(const LanguagePair& languages, const std::string& model) {
  if (languages.source == languages.target)
    throw UsageError("--model: ", model, ": source and target are the same language");
}

/// The single model whose languages --source-lang and --target-lang name. If one of them is left
/// out, the file must say it.
NamedModel named_by_flags(const std::vector<std::string>& models, const LanguagePair& given) {
  if (models.size() != 1 || parse_named_model(models.front()))
    throw UsageError(
        "--source-lang and --target-lang: are for a single --model PATH; write SOURCE-TARGET=PATH "
        "instead, for each model");
  const std::string& path = models.front();
  LanguagePair languages{normal_code(given.source), normal_code(given.target)};
  if (languages.source.empty() || languages.target.empty()) {
    const std::optional<NamedModel> said = named_by_its_file(path);
    if (said && languages.source.empty()) languages.source = said->languages.source;
    if (said && languages.target.empty()) languages.target = said->languages.target;
  }
  for (const auto& [flag, code] :
       {std::pair("source-lang", languages.source), std::pair("target-lang", languages.target)})
    if (code.empty())
      throw UsageError("--", flag,
                       ": name this language, too; the file of the model does not say it");
  require_different(languages, path);
  return {std::move(languages), path};
}

[[noreturn]] void refuse_model(const std::string& value) {
  const std::size_t equals = value.find('=');
  if (equals == std::string::npos) resolve_model_path(value);  // throws if there is none
  std::error_code error;
  if (equals == std::string::npos || std::filesystem::exists(value, error))
    throw UsageError("--model: ", value, ": its file does not say its languages; write ",
                     "SOURCE-TARGET=PATH, as en-de=", value,
                     ", or --source-lang and --target-lang beside a single model");
  const std::string path = value.substr(equals);
  throw UsageError("--model: '", value.substr(0, equals), "' is not a pair of languages; write ",
                   "two codes with a hyphen between them, languages in lower case and regions in ",
                   "upper case, as en-de", path, " or en-pt-BR", path);
}

void check_origin(const std::string& origin) {
  if (origin != "*" && !is_web_origin(origin))
    throw UsageError("--cors-origins: '", origin, "' is not an origin as browsers send it: scheme ",
                     "and host in lower case, the port if it is not the scheme's own, and nothing ",
                     "after it, as https://example.org or https://example.org:8443; * lets all ",
                     "pages ask");
}

void check_public_url(const std::string& url) {
  const std::string host = host_of_url(url);
  const std::string origin = url.substr(0, url.find("://") + 3) + host;
  const bool is_http = url.starts_with("http://") || url.starts_with("https://");
  const bool is_plain = url.find_first_of("?#\"\\ ") == url.npos && !has_control_character(url);
  if (!is_http || !is_plain || !is_web_origin(origin) || url.ends_with('/'))
    throw UsageError("--public-url: '", url, "' is not an address like https://mt.example.org or ",
                     "https://example.org/translate: scheme and host in lower case, the port ",
                     "if it is not the scheme's own, and no slash at the end");
}

void check_host(const std::string& name) {
  if (name != "*" && (name.empty() || host_name_of(name) != name))
    throw UsageError("--allowed-hosts: '", name, "' is not the name of a host, in lower case and ",
                     "without a port, as mt.example.org; * takes any");
}

/// Null if no path is given.
template <class Opened>
std::shared_ptr<Opened> opened(const std::string& path) {
  return path.empty() ? nullptr : std::make_shared<Opened>(path);
}

}  // namespace

std::vector<Field> ServeConfig::fields() {
  std::vector<Field> all = fields_of(flags, files, limits, decode, hardware);
  std::erase_if(all, [](const Field& field) {  // of a request
    return is_among(field.info.name, {"n-best", "attention-layer", "attention-head"});
  });
  return all;
}

void ServeConfig::check() const {
  constexpr double kMost = 1e9;
  check_between("port", static_cast<double>(flags.port), 0, 65'535);
  check_between("char-limit", static_cast<double>(limits.char_limit), -1, kMost);
  check_between("batch-limit", static_cast<double>(limits.batch_limit), -1, kMost);
  check_between("alternatives-limit", static_cast<double>(limits.alternatives_limit), 0,
                static_cast<double>(DecodeConfig::kWidest - 1));
  check_between("explain-limit", static_cast<double>(limits.explain_limit), 0, 2000);
  check_between("req-limit", static_cast<double>(limits.req_limit), -1, kMost);
  check_between("body-limit", static_cast<double>(limits.body_limit), 1, kMost);
  check_between("waiting-limit", static_cast<double>(limits.waiting_limit), 1, kMost);
  check_between("cache-limit", static_cast<double>(limits.cache_limit), 0, 1e12);
  check_between("connection-limit", static_cast<double>(limits.connection_limit), 1, 1e6);
  check_between("request-timeout", limits.request_timeout, 0.001, 1e6);
  check_between("connection-timeout", limits.connection_timeout, 0.001, 1e6);
  for (const std::string& origin : flags.cors_origins) check_origin(origin);
  if (!flags.public_url.empty()) check_public_url(flags.public_url);
  for (const std::string& name : flags.allowed_hosts) check_host(name);
  decode.check();
  models();  // throws
}

std::vector<NamedModel> ServeConfig::models() const {
  if (flags.models.empty())
    throw UsageError(
        "--model: name a run folder or a model file, with its languages if the file does not say "
        "them: en-de=run/");
  if (!flags.source_lang.empty() || !flags.target_lang.empty())
    return {named_by_flags(flags.models, {flags.source_lang, flags.target_lang})};
  std::vector<NamedModel> named;
  for (const std::string& value : flags.models) {
    std::optional<NamedModel> model = parse_named_model(value);
    if (!model) model = parse_named_model(with_codes_in_lower_case(value));
    if (!model) model = named_by_its_file(value);
    if (!model) refuse_model(value);
    const LanguagePair& languages = model->languages;
    if (std::ranges::find(named, languages, &NamedModel::languages) != named.end())
      throw UsageError("--model: ", languages.name(), " is given twice");
    require_different(languages, value);
    named.push_back(*std::move(model));
  }
  return named;
}

std::optional<std::vector<std::string>> ServeConfig::hosts() const {
  std::vector<std::string> names = flags.allowed_hosts;
  if (std::ranges::find(names, "*") != names.end()) return std::nullopt;
  if (names.empty() && !is_loopback_name(flags.host)) return std::nullopt;
  if (!flags.public_url.empty()) names.push_back(host_name_of(host_of_url(flags.public_url)));
  return names;
}

HttpConfig ServeConfig::http() const {
  return {.host = flags.host,
          .port = flags.port,
          .body_limit = limits.body_limit,
          .connections = limits.connection_limit,
          .timeout = milliseconds(limits.connection_timeout)};
}

ServerConfig ServeConfig::server() const {
  return {.limits = {.characters = limits.char_limit,
                     .texts = limits.batch_limit,
                     .body_bytes = limits.body_limit,
                     .alternatives = limits.alternatives_limit,
                     .explained_characters = limits.explain_limit},
          .requests_per_minute = limits.req_limit,
          .request_timeout = milliseconds(limits.request_timeout),
          .cors_origins = flags.cors_origins,
          .hosts = hosts(),
          .public_url = flags.public_url,
          .is_behind_proxy = flags.behind_proxy,
          .version = DRAGOMAN_VERSION,
          .api_keys = opened<ApiKeys>(files.api_keys),
          .suggestions = opened<AppendFile>(files.suggestions),
          .glossaries = opened<Glossaries>(files.glossaries)};
}

}  // namespace dragoman
