// Splits Japanese and Korean into words with MeCab. Its library is loaded at the first use.
#pragma once

#include <string>

#include "evaluation/bleu_tokenizer.h"

namespace dragoman {

enum class MecabLanguage { Japanese, Korean };

/// Korean needs mecab-ko, a form of MeCab that keeps spaces. `dictionary` is a folder; empty: the
/// dictionary that MeCab is set up with. The name ends as sacreBLEU's, in "-IPA" or "-KO", where
/// the dictionary has as many words as sacreBLEU's; otherwise in the number of words. Errors: no
/// library, no dictionary, a dictionary that is not UTF-8.
Tokenization mecab_tokenization(MecabLanguage language, const std::string& dictionary);

}  // namespace dragoman
