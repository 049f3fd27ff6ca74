// A SentencePiece model with other numbers of its pieces: other systems keep a vocabulary beside
// the SentencePiece models of the two sides, and number the pieces by it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace dragoman {

/// The bytes of a SentencePiece model that segments text as `model_bytes` does and whose piece i is
/// `pieces[i]`. Pieces of the model that `pieces` lacks come behind; a Tokenizer reads them as
/// unknown (TokenizerFacts::vocabulary).
///
/// A piece of `pieces` that the model lacks is Unused: it can be decoded, but no text is segmented
/// into it, except a run of unknown characters that is its text. "</s>", "<s>", "<pad>" and
/// "<blank>" become control pieces, which stand for no text, and a language tag such as ">>fra<<"
/// is read at the beginning of a text. `pieces` must have "</s>" and the model's unknown piece, and
/// nothing twice. Throws Error, with `name` for messages.
std::string renumbered_tokenizer(std::string_view model_bytes, std::span<const std::string> pieces,
                                 const std::string& name);

/// The bytes of a SentencePiece model that segments text into `pieces`, single characters and the
/// model's control pieces alone, as SentencePieceProcessor::SetVocabulary() has it. Throws Error,
/// with `name` for messages.
std::string restricted_tokenizer(std::string_view model_bytes, std::span<const std::string> pieces,
                                 const std::string& name);

/// The bytes of such a model without the pieces that it lacked before, if they would change how
/// text is segmented (bpe, word, char); else nothing. Throws Error, with `name` for messages.
std::string without_added_pieces(std::string_view model_bytes, const std::string& name);

/// A piece of such a model as the other system's vocabulary has it: a language tag loses the space
/// (U+2581) in front of it, other pieces do not change.
std::string without_tag_space(const std::string& piece);

}  // namespace dragoman
