// Trains a SentencePiece model on text. Its bytes are the same for any number of cores.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

enum class TokenizerType { Unigram, Bpe };
constexpr std::array<std::string_view, 2> names_of(TokenizerType) { return {"unigram", "bpe"}; }

struct TokenizerConfig {
  std::int64_t vocab_size = 8000;
  TokenizerType type = TokenizerType::Unigram;
  bool joint = true;  ///< one tokenizer for both sides
  /// Fraction of characters kept as pieces; the rest falls back to bytes.
  double character_coverage = 1.0;
  Normalization source_normalization = Normalization::NmtNfkc;
  Normalization target_normalization = Normalization::None;
  bool lowercase = false;
  std::vector<std::string> user_symbols = {};
  std::int64_t sample_lines = 2'000'000;  ///< lines per tokenizer that training looks at
  std::string source_model = "",
              target_model = "";  ///< existing SentencePiece models; none is trained then

  // Not flags: the bytes of existing models, which come before the files, and
  // ModelConfig::source_eos of the model that they are from.
  std::string source_bytes = "", target_bytes = "";  ///< target empty: the same
  bool source_eos = true;

  bool trains() const { return source_model.empty() && source_bytes.empty(); }

  /// Throws UsageError naming the flag.
  void check() const;

  /// Tokenizers may have other names on resume: they are compared with those of the checkpoint.
  void for_each_field(const auto& visit) {
    const auto field = fields_under("Tokenizer", visit);
    field(
        "vocab-size", vocab_size,
        "number of pieces in the vocabulary; auto: 500 to 32,000, depending on the amount of text",
        {.aliases = "dim-vocabs,num-words"});
    field("tokenizer-type", type, "kind of SentencePiece model", {.aliases = "model-type"});
    field("joint-vocab", joint, "one tokenizer for both sides",
          {.aliases = "joined-dictionary,share-vocab,shared-vocab"});
    field("character-coverage", character_coverage,
          "fraction of the text's characters that become pieces of their own");
    field("source-normalization", source_normalization,
          "how the source is normalised before it is cut into pieces; nmt_nfkc: NFKC, and each run "
          "of white space becomes one space");
    field("target-normalization", target_normalization,
          "the same for the target; none: the model learns the text byte for byte");
    field("lowercase", lowercase,
          "also lower-case both sides; the model then reads and writes only lower case");
    field("user-symbols", user_symbols, "pieces that are never split",
          {.aliases = "user-defined-symbols"});
    field("tokenizer-lines", sample_lines, "maximum number of lines to train a tokenizer on",
          {.aliases = "input-sentence-size"});
    field(
        "tokenizer", source_model, "existing SentencePiece model, for the source or both sides",
        {.aliases = "source-tokenizer,spm", .on_resume = OnResume::Allowed, .placeholder = "FILE"});
    field("target-tokenizer", target_model, "existing SentencePiece model for the target side",
          {.on_resume = OnResume::Allowed, .placeholder = "FILE"});
  }
};

enum class TextSide { Source, Target };

struct TrainedTokenizer {
  std::string model_bytes = {};
  std::int64_t vocab_size = 0;  ///< smaller than asked for if the text has no more pieces
  double character_coverage;    ///< smaller than asked for if the vocabulary cannot hold them all
};

/// Trains on `lines` (views stay valid during the call; order does not matter). If there are more
/// than config.sample_lines, it takes those with the smallest sample_key(). Byte fallback is always
/// on; ids: unknown 0, <s> 1, </s> 2, no padding, then user_symbols, bytes, pieces. The tokenizer
/// has the rule of the side. Lines longer than 2,000 bytes are cut into several. Throws Error if
/// the text has no character, UsageError if the vocabulary is too small for any model.
TrainedTokenizer train_tokenizer(const std::vector<std::string_view>& lines,
                                 const TokenizerConfig& config, TextSide side = TextSide::Source);

/// Models with the same pieces; each has the rule of its side. Equal bytes if the rules are equal.
struct JointTokenizers {
  std::string source, target;
};

/// The same for one vocabulary of both sides.
JointTokenizers train_joint_tokenizers(const std::vector<std::string_view>& source_lines,
                                       const std::vector<std::string_view>& target_lines,
                                       const TokenizerConfig& config);

/// A number that depends on the line alone, uniform over 64 bits. Lines are chosen by it.
std::uint64_t sample_key(std::string_view line);

}  // namespace dragoman
