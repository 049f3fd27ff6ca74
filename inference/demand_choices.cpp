#include "inference/demand_choices.h"

#include <optional>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {

Demands demands_of(DemandChoices choices) {
  const std::string& languages = choices.number_format;
  if (!languages.empty() && !choices.protect)
    throw UsageError("--number-format ", languages, ": needs --protect");
  for (std::string& text : choices.avoid) text = strip(text);
  return {.terms = std::move(choices.terms),
          .protects = choices.protect,
          .numbers =
              languages.empty() ? std::optional<NumberConversion>() : NumberConversion(languages),
          .phrase_policy = choices.terms_force ? PhrasePolicy::Always : PhrasePolicy::Fluent,
          .avoided = std::move(choices.avoid)};
}

}  // namespace dragoman
