// Words of Japanese and Korean by MeCab, whose library is loaded when it is first asked for.
#pragma once

#include <string>

#include "evaluation/bleu_tokenizer.h"

namespace dragoman {

enum class MecabLanguage { Japanese, Korean };

/// Korean needs mecab-ko, a form of MeCab that minds spaces. `dictionary`: its folder; empty: the
/// one that MeCab is set up with. The name ends as sacreBLEU's, "-IPA" or "-KO", where the
/// dictionary has as many words as sacreBLEU's, else with their number. Errors: no library, no
/// dictionary, not UTF-8.
Tokenization mecab_tokenization(MecabLanguage language, const std::string& dictionary);

}  // namespace dragoman
