#include "tokenizer/tokenizer.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "tokenizer/renumbered_tokenizer.h"
#include "tokenizer/term_marks.h"

namespace dragoman {

struct Tokenizer::Impl {
  std::string model_bytes;
  sentencepiece::SentencePieceProcessor processor;
  TokenizerFacts facts;
  bool is_renumbered = false;
  /// Segments text in place of `processor` if that has pieces that no text is segmented into.
  std::optional<sentencepiece::SentencePieceProcessor> segmenter;

  const sentencepiece::SentencePieceProcessor& reader() const {
    return segmenter ? *segmenter : processor;
  }
  TokenId vocabulary() const { return static_cast<TokenId>(facts.vocabulary); }
  bool has(TokenId id) const { return id >= 0 && id < vocabulary(); }

  /// The id of a piece that a text is segmented into. A renumbered model (renumbered_tokenizer.h)
  /// stands for one whose pieces are looked up in a vocabulary by their texts: there a run of
  /// unknown characters may be a piece, and a piece of the model may be unknown.
  template <class Piece>
  TokenId id_of(const Piece& piece) const {
    const auto id = static_cast<TokenId>(piece.id());
    if (!is_renumbered) return id;
    if (segmenter) {
      const TokenId of_text = processor.PieceToId(piece.piece());
      return has(of_text) ? of_text : processor.unk_id();
    }
    if (!has(id)) return processor.unk_id();
    return processor.IsUnknown(id) ? processor.PieceToId(piece.piece()) : id;
  }
};

Tokenizer::Tokenizer(std::string model_bytes, const std::string& name)
    : impl_(std::make_unique<Impl>()) {
  impl_->model_bytes = std::move(model_bytes);
  if (impl_->model_bytes.empty()) throw Error(name, ": is empty, not a SentencePiece model");
  const auto status = impl_->processor.LoadFromSerializedProto(impl_->model_bytes);
  if (!status.ok() || impl_->processor.GetPieceSize() == 0)
    throw Error(name, ": is not a SentencePiece model");
  if (eos_id() < 0) throw Error(name, ": the SentencePiece model has no end of sentence (</s>)");
  const TokenizerFacts& facts = impl_->facts = tokenizer_facts(impl_->model_bytes, name);
  impl_->is_renumbered = facts.vocabulary < facts.kinds.size() ||
                         std::ranges::find(facts.kinds, PieceKind::Unused) != facts.kinds.end();
  if (!impl_->is_renumbered) return;
  const std::string alone = without_added_pieces(impl_->model_bytes, name);
  if (!alone.empty() && !impl_->segmenter.emplace().LoadFromSerializedProto(alone).ok())
    throw Error(name, ": is not a SentencePiece model");
}

Tokenizer Tokenizer::from_file(const std::string& path) { return Tokenizer(read_file(path), path); }

Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

std::vector<TokenId> Tokenizer::encode(std::string_view text) const {
  std::vector<TokenId> ids;
  if (impl_->is_renumbered) {
    for (const PieceSpan& piece : encode_with_offsets(text)) ids.push_back(piece.id);
    return ids;
  }
  const auto status = impl_->processor.Encode({text.data(), text.size()}, &ids);
  if (!status.ok()) throw Error("the tokenizer cannot encode a line: ", status.ToString());
  return ids;
}

std::vector<std::string> Tokenizer::pieces(std::string_view text) const {
  return impl_->reader().EncodeAsPieces({text.data(), text.size()});
}

std::vector<PieceSpan> Tokenizer::encode_with_offsets(std::string_view text) const {
  std::vector<PieceSpan> spans;
  const auto encoded = impl_->reader().EncodeAsImmutableProto({text.data(), text.size()});
  for (const auto& piece : encoded.pieces())
    spans.push_back({impl_->id_of(piece), piece.begin(), piece.end()});
  return spans;
}

std::string Tokenizer::decode(std::span<const TokenId> ids) const {
  std::vector<int> plain;
  plain.reserve(ids.size());
  for (const TokenId id : ids)
    if (impl_->has(id) && !impl_->processor.IsUnknown(id) && !impl_->processor.IsControl(id))
      plain.push_back(id);
  std::string text;
  const auto status = impl_->processor.Decode(plain, &text);
  if (!status.ok()) throw Error("the tokenizer cannot decode a sentence: ", status.ToString());
  return text;
}

std::int64_t Tokenizer::size() const { return impl_->vocabulary(); }
TokenId Tokenizer::unk_id() const { return impl_->processor.unk_id(); }
TokenId Tokenizer::bos_id() const { return impl_->processor.bos_id(); }
TokenId Tokenizer::eos_id() const { return impl_->processor.eos_id(); }

std::string Tokenizer::piece(TokenId id) const {
  return impl_->has(id) ? impl_->processor.IdToPiece(id) : std::string();
}

double Tokenizer::score(TokenId id) const {
  return static_cast<double>(impl_->processor.GetScore(id));
}

TokenId Tokenizer::id(std::string_view piece) const {
  const TokenId id = impl_->processor.PieceToId({piece.data(), piece.size()});
  return impl_->has(id) ? id : unk_id();
}

std::vector<TokenId> Tokenizer::never_emitted() const {
  const auto& processor = impl_->processor;
  std::vector<TokenId> ids;
  for (TokenId id = 0; id < impl_->vocabulary(); ++id) {
    if (id == eos_id()) continue;
    const std::string& piece = processor.IdToPiece(id);
    const bool special = processor.IsUnknown(id) || processor.IsControl(id);
    const bool breaks_lines =
        processor.IsByte(id) ? piece == "<0x00>" || piece == "<0x0A>" || piece == "<0x0D>"
                             : piece.find_first_of(std::string_view("\0\n\r", 3)) != piece.npos;
    if (special || breaks_lines || is_term_mark(piece)) ids.push_back(id);
  }
  return ids;
}

std::vector<std::string> Tokenizer::user_symbols() const {
  std::vector<std::string> symbols;
  for (TokenId id = 0; id < impl_->vocabulary(); ++id)
    if (impl_->facts.kinds[static_cast<std::size_t>(id)] == PieceKind::UserDefined)
      symbols.push_back(without_tag_space(piece(id)));
  return symbols;
}

const TokenizerFacts& Tokenizer::facts() const { return impl_->facts; }

const std::string& Tokenizer::model_bytes() const { return impl_->model_bytes; }

}  // namespace dragoman
