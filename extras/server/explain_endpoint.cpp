// POST /explain: what a model does with a text, as the page of `dragoman explain` or its numbers.
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "extras/report/explanation_page.h"
#include "extras/server/form_body.h"
#include "extras/server/libretranslate.h"
#include "extras/server/random_name.h"
#include "extras/server/server_call.h"

namespace dragoman {

namespace {

/// The page may run its own script and save figures. It counts as a page of nowhere (sandbox), so
/// it can ask this server for nothing.
HttpResponse page_of(const std::string& json) {
  const std::string nonce = random_name();
  return {.body = explanation_page(json, nonce),
          .type = "text/html; charset=utf-8",
          .headers = {{"Content-Security-Policy",
                       join_text("default-src 'none'; script-src 'nonce-", nonce,
                                 "'; style-src 'unsafe-inline'; form-action 'none'; base-uri "
                                 "'none'; frame-ancestors 'none'; sandbox allow-scripts "
                                 "allow-downloads")},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cache-Control", "private, no-store"}}};
}

/// Whether a program asks, by `format`, or without it by the header Accept.
bool wants_numbers(const HttpRequest& request, const std::string& format) {
  if (!format.empty()) return format == "json";
  const std::string accepted = ascii_lower(request.header("accept"));
  return accepted.find("application/json") != std::string::npos &&
         accepted.find("text/html") == std::string::npos;
}

/// `format` of a request whose fields cannot be read. Pages send no JSON.
std::string format_of_broken(const HttpRequest& request) {
  const std::string type = ascii_lower(request.header("content-type"));
  if (type.starts_with("application/json")) return "json";
  for (const auto& [name, value] : request.query)
    if (name == "format") return value;
  if (!type.starts_with("multipart/"))
    for (const FormField& field : parse_urlencoded(request.body))
      if (field.name == "format") return field.value;
  return "";
}

}  // namespace

HttpResponse TranslationServer::explanation_error(const Call& call, const HttpError& error) {
  const bool is_for_program = call.fields
                                  ? call.wants_numbers
                                  : wants_numbers(call.request, format_of_broken(call.request));
  return is_for_program ? libretranslate::error_answer(error) : page_error(call, error);
}

void TranslationServer::explain(const CallPointer& call) {
  const std::string format = call->fields->text("format");
  call->wants_numbers = wants_numbers(call->request, format);
  if (!format.empty() && format != "html" && format != "json")
    throw HttpError(400, format + " format is not supported");
  if (config_.limits.explained_characters == 0)
    throw HttpError(403, "Explanations are disabled on this server.");
  admit(*call);
  call->translate = call->interface->parse_translate(*call->fields, models_, config_.limits);
  const auto task = std::make_shared<TextsToTranslate>();
  read_markup(*call, *task);
  begin_explanation(call, task);
}

void TranslationServer::begin_explanation(const CallPointer& call,
                                          const std::shared_ptr<TextsToTranslate>& task) {
  choose_routes(*call, *task);
  const std::string source = call->answers.front().source;
  if (call->translate.source.empty() && source == call->translate.target)
    throw HttpError(400, join_text("the text seems to be in ", source,
                                   " already, the language to translate into; if it is not, name "
                                   "its language instead of auto"));
  if (loads_model(call, *task, [this, call, task] { begin_explanation(call, task); })) return;
  const TextToTranslate& text = task->texts.front();
  if (text.route.size() != 1 || !text.route.front()->explain())
    throw HttpError(400, join_text("there is no model from ", source, " to ",
                                   call->translate.target, " that can be explained"));
  charge(*call);
  explanations_.start(
      {.text = text.text,
       .use = call->wants_numbers ? ExplanationUse::Program : ExplanationUse::Page,
       .model = text.route.front(),
       .stop = call->gone,
       .deadline = call->begin + config_.request_timeout},
      [this, call](ExplanationOutcome outcome) { explained(call, std::move(outcome)); });
}

void TranslationServer::explained(const CallPointer& call, ExplanationOutcome outcome) noexcept {
  if (const auto* error = std::get_if<HttpError>(&outcome)) return fail(*call, *error);
  auto& [json, target_tokens] = std::get<TextExplanation>(outcome);
  call->facts.target_tokens = target_tokens;
  try {
    finish(*call, call->wants_numbers ? HttpResponse{.body = std::move(json)} : page_of(json));
  } catch (const std::exception& error) {
    fail(*call, error);
  }
}

}  // namespace dragoman
