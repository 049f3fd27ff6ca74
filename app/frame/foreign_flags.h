// Flags of other systems that are no names of ours, where what they ask for is said differently or
// not at all: Marian, fairseq, OpenNMT-py, sacreBLEU. Flags that only have another name there are
// aliases of our fields instead.
#pragma once

#include <string>
#include <string_view>

namespace dragoman {

/// "--train-sets is Marian's; here: --train-src FILE --train-tgt FILE", or nothing where the flag
/// is not known to be another system's. `flag` is as it was typed, with one dash or two; `command`
/// decides where a flag has another meaning in another command.
std::string foreign_flag_text(std::string_view command, std::string_view flag);

}  // namespace dragoman
