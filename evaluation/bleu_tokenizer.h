// The tokenizers of BLEU, each equal to sacreBLEU's of the same name.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace dragoman {

enum class BleuTokenizer {
  V13a,  ///< mteval-v13a.pl, the one of WMT
  Intl,  ///< mteval-v14.pl --international-tokenization
  Zh,    ///< Chinese characters are tokens, the rest as 13a
  Char,  ///< each character is a token
  None,  ///< the text is already tokenized
};

constexpr std::array<std::string_view, 5> names_of(BleuTokenizer) {
  return {"13a", "intl", "zh", "char", "none"};
}

/// The line with white space between its tokens; split_words() gives the tokens. White space at
/// the end of the line is no part of it. `line` must be valid UTF-8.
std::string tokenize_for_bleu(std::string_view line, BleuTokenizer tokenizer);

}  // namespace dragoman
