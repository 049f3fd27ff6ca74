// The tokenizer of Moses, whose tokens the BLEU of older papers counts (multi-bleu.perl).
#pragma once

#include <string>
#include <string_view>

namespace dragoman {

/// Tokens with one space between them, as tokenizer.perl with -no-escape makes them, but without
/// its lists of abbreviations: "Dr. Who" has three tokens. `language` decides which word an
/// apostrophe belongs to ("en", "fr", "it", "ca", "ga"); in any other language it stands alone.
/// `line` must be valid UTF-8.
std::string tokenize_moses(std::string_view line, std::string_view language);

/// "well-known" becomes three tokens, as the scripts of "Attention Is All You Need" split compounds
/// before they score. Of "a-b-c" they split the first dash alone.
std::string split_compounds(std::string_view tokens);

}  // namespace dragoman
