// The tokenizers of BLEU: those of sacreBLEU, each equal to its namesake, and that of Moses, whose
// tokens the BLEU of older papers counts (multi-bleu.perl).
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
  /// Returns the line with white space between its tokens; split_words() finds them. Drops white
  /// space at the end of the line, which must be valid UTF-8. Safe to call from many threads at
  /// once.
  std::function<std::string(std::string_view line)> apply;
};

/// What some tokenizers need.
struct TokenizerData {
  std::string target_language;   ///< of Auto: "ja"
  std::string spm_model;         ///< of Spm: the path of a SentencePiece model
  std::string mecab_dictionary;  ///< of JaMecab and KoMecab: a folder; empty: MeCab's own choice
};

/// Errors: Spm without a model, JaMecab and KoMecab without libmecab or dictionary. The name of
/// Spm is "spm-" and the model's file name without extension.
Tokenization tokenization_of(BleuTokenizer tokenizer, const TokenizerData& data = {});

/// Tokens with one space between them, as tokenizer.perl with -no-escape makes them, but without
/// its lists of abbreviations: "Dr. Who" has three tokens. `language` decides which word an
/// apostrophe belongs to ("en", "fr", "it", "ca", "ga"); in any other language it stands alone.
/// `line` must be valid UTF-8.
std::string tokenize_moses(std::string_view line, std::string_view language);

/// "well-known" becomes three tokens, as the scripts of "Attention Is All You Need" split compounds
/// before they score. They split "a-b-c" only at its first dash.
std::string split_compounds(std::string_view tokens);

}  // namespace dragoman
