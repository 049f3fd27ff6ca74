// The texts that the translation of a line must have: terms, and texts that are copied as they are
// (numbers, addresses, placeholders). And the texts that no translation may have.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/number_format.h"
#include "inference/search/phrase_beam.h"
#include "tokenizer/terms.h"

namespace dragoman {

/// Numbers, URLs, e-mail addresses and placeholders ({name}, ${name}, %s, <tag>, &entity;) of the
/// source, to be copied as they are.
std::vector<RequiredText> protected_texts(std::string_view source);

struct Demands {
  Terms terms;
  bool protects = false;                      ///< protected_texts()
  std::optional<NumberConversion> numbers{};  ///< for numbers among the protected texts
  PhrasePolicy phrase_policy = PhrasePolicy::Fluent;
  std::vector<std::string> avoided{};  ///< texts that no translation may have

  bool requires_any() const { return protects || !terms.empty(); }
  /// The texts that the translation of `source` must have, in the order of `source`. Where texts
  /// overlap, those of `first` are kept before those of `terms`, and these before protected texts.
  std::vector<RequiredText> of(std::string_view source, const Terms& first = {}) const;
};

}  // namespace dragoman
