// A request on its way through the server, and the table of the server's paths.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "extras/server/request_fields.h"
#include "extras/server/translation_server.h"

namespace dragoman {

/// The differences between the interfaces.
struct TranslationServer::Interface {
  TranslateParameters (*parse_translate)(const RequestFields&, const ServedModels&,
                                         const RequestLimits&);
  HttpResponse (*translate_answer)(TranslationServer&, const Call&);
  HttpResponse (*error_answer)(TranslationServer&, const Call&, const HttpError&);
  std::string (*key_of)(const HttpRequest&, const RequestFields&);
  /// What is said of a text whose markup cannot be read.
  std::string (*markup_fault)(const TranslateParameters&);
  int missing_key, used_up, too_large;  ///< status codes
};

/// A request that is being answered.
struct TranslationServer::Call {
  HttpRequest request;
  std::stop_token gone;
  HttpReply reply;
  const Interface* interface;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  std::string endpoint_path = "other";  ///< for the metrics
  AnsweredRequest facts = {};
  std::optional<RequestFields> fields = {};
  std::optional<ApiKeys::Key> key = {};
  std::optional<ApiKeys::Taken> taken = {};
  TranslateParameters translate = {};
  std::vector<TextAnswer> answers = {};
  bool wants_numbers = false;  ///< of an explanation, instead of the page
};

struct TranslationServer::Endpoint {
  const char* method;
  std::string_view path;                              ///< "/a/": all paths that begin so
  HttpResponse (TranslationServer::*respond)(Call&);  ///< null: answered later
  bool needs_fields = false;                          ///< Call::fields
  const Interface* interface = nullptr;               ///< null: interface_of(path)
  /// Begins work whose answer comes later.
  void (TranslationServer::*begin)(const CallPointer&) = &TranslationServer::translate;

  bool serves(std::string_view requested) const {
    const bool is_folder = path.size() > 1 && path.ends_with('/');
    return is_folder ? requested.starts_with(path) && requested.size() > path.size()
                     : requested == path;
  }
};

}  // namespace dragoman
