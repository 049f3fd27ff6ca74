// How languages write numbers: the sign between groups of thousands, and the sign before decimals
// (Unicode CLDR).
#pragma once

#include <string>
#include <string_view>

namespace dragoman {

struct NumberFormat {
  char32_t group, decimal;
};

/// Writes numbers of one language as another does: 6,263.5 of English is 6.263,5 in German.
class NumberConversion {
 public:
  /// "en-de": from English to German. Throws UsageError for anything else and unknown languages.
  explicit NumberConversion(std::string_view languages);

  /// Anything but a number with groups of three digits or decimals comes back as it is.
  std::string operator()(std::string_view text) const;

 private:
  NumberFormat source_, target_;
};

}  // namespace dragoman
