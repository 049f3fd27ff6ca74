// The texts that the translation of a line must have, and those that it may not have. It must have
// terms, and texts that are copied as they are (numbers, addresses, placeholders).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/search/required_phrases.h"
#include "model/file/model_file.h"
#include "tokenizer/terms.h"

namespace dragoman {

/// How a language writes numbers: the sign between groups of thousands, and the sign before
/// decimals (Unicode CLDR).
struct NumberFormat {
  char32_t group, decimal;
};

/// Writes numbers of one language as another does: 6,263.5 of English is 6.263,5 in German.
class NumberConversion {
 public:
  /// "en-de": from English to German. Throws UsageError for anything else, and for unknown
  /// languages.
  explicit NumberConversion(std::string_view languages);

  /// Returns text as it is unless it is a number with groups of three digits or with decimals.
  std::string operator()(std::string_view text) const;

 private:
  NumberFormat source_, target_;
};

/// Numbers, URLs, e-mail addresses and placeholders ({name}, ${name}, %s, <tag>, &entity;) of the
/// source, to be copied as they are.
std::vector<RequiredText> protected_texts(std::string_view source);

struct Demands {
  Terms terms = {};
  bool protects = false;                      ///< protected_texts()
  std::optional<NumberConversion> numbers{};  ///< for numbers among the protected texts
  PhrasePolicy phrase_policy = PhrasePolicy::Fluent;
  std::vector<std::string> avoided{};  ///< texts that no translation may have

  bool requires_any() const { return protects || !terms.empty(); }
  /// The texts that the translation of `source` must have, in the order of `source`. If texts
  /// overlap, those of `first` are kept before those of `terms`, and these before protected texts.
  std::vector<RequiredText> of(std::string_view source, const Terms& first = {}) const;
};

/// The demands as a command or a request names them.
struct DemandChoices {
  Terms terms = {};
  std::vector<std::string> avoid = {};  ///< space around a text does not count
  bool protect = false;
  bool terms_force = false;
  std::string number_format = {};  ///< two languages, "en-de"; may be empty
};

/// Two languages for DemandChoices::number_format: the choice itself, or those of the model for
/// "auto". Throws UsageError if its record has none.
std::string number_format_of(const std::string& choice, const TextRecord& model);

/// Throws UsageError that names the flag if the choices do not go together.
Demands demands_of(DemandChoices choices);

}  // namespace dragoman
