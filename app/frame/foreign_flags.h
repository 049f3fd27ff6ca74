// Flags of Marian, fairseq, OpenNMT-py and sacreBLEU that need other flags here, or have no
// counterpart. Flags that only have another name there are aliases of our fields instead.
#pragma once

#include <string>
#include <string_view>

namespace dragoman {

/// "--train-sets is Marian's; here: --train-src FILE --train-tgt FILE", or nothing where the flag
/// is not known to be another system's. `flag` is the word that was typed, with one dash or two.
/// Some flags are foreign only in one command; `command` says which one this is.
std::string foreign_flag_text(std::string_view command, std::string_view flag);

/// The value of a field that has another spelling elsewhere, as "pre" for "before" (norm) and "md"
/// for "markdown" (markup); any other value as it is. Throws UsageError for a value of another
/// system that has no counterpart of one word.
std::string value_here(std::string_view field, const std::string& value);

}  // namespace dragoman
