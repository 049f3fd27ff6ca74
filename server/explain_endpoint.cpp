// POST /explain: what a model does with a text, as the page of `dragoman explain` or its numbers.
#include <utility>

#include "base/error.h"
#include "report/explanation_page.h"
#include "server/random_name.h"
#include "server/server_call.h"

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

}  // namespace

void TranslationServer::explain(const CallPointer& call) {
  const std::string format = call->fields->text("format");
  call->wants_numbers = format == "json";
  if (!format.empty() && format != "html" && !call->wants_numbers)
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
  if (loads_model(call, *task, [this, call, task] { begin_explanation(call, task); })) return;
  const TextToTranslate& text = task->texts.front();
  if (text.route.size() != 1 || !text.route.front()->explain())
    throw HttpError(400, join_text("there is no model from ", call->answers.front().source, " to ",
                                   call->translate.target, " that can be explained"));
  charge(*call);
  explanations_.start(
      {.text = text.text,
       .model = text.route.front(),
       .stop = call->gone,
       .deadline = call->begin + config_.request_timeout},
      [this, call](ExplanationOutcome outcome) { explained(call, std::move(outcome)); });
}

void TranslationServer::explained(const CallPointer& call, ExplanationOutcome outcome) noexcept {
  if (const auto* error = std::get_if<HttpError>(&outcome)) return fail(*call, *error);
  auto& json = std::get<std::string>(outcome);
  try {
    finish(*call, call->wants_numbers ? HttpResponse{.body = std::move(json)} : page_of(json));
  } catch (const std::exception& error) {
    fail(*call, error);
  }
}

}  // namespace dragoman
