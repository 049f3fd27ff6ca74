// The tokenizers of BLEU, each equal to sacreBLEU's of the same name.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

namespace dragoman {

enum class BleuTokenizer {
  Auto,     ///< sacreBLEU's choice for the target language: zh, ja-mecab, ko-mecab, else 13a
  V13a,     ///< mteval-v13a.pl, the one of WMT
  Intl,     ///< mteval-v14.pl --international-tokenization
  Zh,       ///< Chinese characters are tokens, the rest as 13a
  Char,     ///< each character is a token
  Spm,      ///< the pieces of a SentencePiece model
  JaMecab,  ///< MeCab's words
  KoMecab,  ///< mecab-ko's words
  None,     ///< the text is already tokenized
};

constexpr std::array<std::string_view, 9> names_of(BleuTokenizer) {
  return {"auto", "13a", "intl", "zh", "char", "spm", "ja-mecab", "ko-mecab", "none"};
}

/// A tokenizer of BLEU, and its name in the signature.
struct Tokenization {
  std::string name;  ///< "13a", "ja-mecab-0.996-IPA"
  /// The line with white space between its tokens; split_words() gives the tokens. White space at
  /// the end of the line is dropped. `line` must be valid UTF-8. Safe to call from many threads at
  /// once.
  std::function<std::string(std::string_view line)> apply;
};

/// Data that some tokenizers need.
struct TokenizerData {
  std::string target_language;   ///< of Auto: "ja"
  std::string spm_model;         ///< of Spm: the path of a SentencePiece model
  std::string mecab_dictionary;  ///< of JaMecab and KoMecab: a folder; empty: MeCab's own choice
};

/// Errors: Spm without a model, JaMecab and KoMecab without libmecab or dictionary. The name of
/// Spm is "spm-" and the model's file name without extension.
Tokenization tokenization_of(BleuTokenizer tokenizer, const TokenizerData& data = {});

}  // namespace dragoman
