#include "tokenizer/tokenizer.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"
#include "tokenizer/byte_piece.h"
#include "tokenizer/renumbered_tokenizer.h"
#include "tokenizer/space_mark.h"
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
  std::array<TokenId, 256> byte_ids = {};  // of the pieces of single bytes; with escapes alone

  bool escapes_spaces() const { return facts.escapes != Escapes::None; }
  bool escapes_term_marks() const { return facts.escapes == Escapes::SpaceAndTermMarks; }
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

  /// Whether the text has something that is written in pieces of single bytes.
  bool has_escapes(std::string_view text) const {
    const auto has = [text](std::string_view part) { return text.find(part) != text.npos; };
    return (escapes_spaces() && has(kSpaceMark)) ||
           (escapes_term_marks() && (has(kTermBegins) || has(kTermEnds)));
  }

  /// The text with a NUL in the place of each byte of U+2581. SentencePiece makes them pieces of
  /// single bytes, as no piece of text has a NUL, and the other offsets stay.
  static std::string without_space_marks(std::string_view text) {
    std::string changed(text);
    for (std::size_t at = 0; (at = changed.find(kSpaceMark, at)) != changed.npos;)
      changed.replace(at, kSpaceMark.size(), kSpaceMark.size(), '\0');
    return changed;
  }

  /// Appends the pieces of the bytes [begin, end) of the text, which are one character or mark.
  void append_bytes(std::string_view text, std::size_t begin, std::size_t end,
                    std::vector<PieceSpan>& spans) const {
    for (std::size_t at = begin; at < end; ++at)
      spans.push_back(
          {byte_ids[static_cast<unsigned char>(text[at])], begin, at + 1 == end ? end : begin});
  }

  std::vector<PieceSpan> escaped_spans(std::string_view text) const {
    std::vector<PieceSpan> spans;
    const auto encoded = processor.EncodeAsImmutableProto(without_space_marks(text));
    for (const auto& piece : encoded.pieces()) {
      const std::size_t begin = piece.begin();
      const auto id = static_cast<TokenId>(piece.id());
      if (id == byte_ids[0] && text[begin] == kSpaceMark[0])
        append_bytes(text, begin, begin + kSpaceMark.size(), spans);
      else if (id == byte_ids[0] && text[begin] != '\0')
        continue;  // the second or third byte of the mark
      else if (escapes_term_marks() && is_term_mark(piece.piece()))
        append_bytes(text, begin, piece.end(), spans);
      else
        spans.push_back({id_of(piece), begin, piece.end()});
    }
    return spans;
  }

  /// The text of pieces with escapes. A space mark in a piece is a space; the one in front of the
  /// first piece is SentencePiece's. Pieces of single bytes are the text's own.
  std::string exact_text(std::span<const TokenId> ids) const {
    std::string text;
    bool is_first = true;
    for (const TokenId id : ids) {
      if (!has(id) || processor.IsUnknown(id) || processor.IsControl(id)) continue;
      std::string_view piece = processor.IdToPiece(id);
      if (std::exchange(is_first, false) && piece.starts_with(kSpaceMark))
        piece.remove_prefix(kSpaceMark.size());
      if (const auto byte = processor.IsByte(id) ? byte_of_piece(piece) : std::nullopt) {
        text += static_cast<char>(*byte);
        continue;
      }
      for (std::size_t mark; (mark = piece.find(kSpaceMark)) != piece.npos;) {
        text.append(piece.substr(0, mark)) += ' ';
        piece.remove_prefix(mark + kSpaceMark.size());
      }
      text += piece;
    }
    return replace_invalid_utf8(text);
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
  if (impl_->is_renumbered) {
    const std::string alone = without_added_pieces(impl_->model_bytes, name);
    if (!alone.empty() && !impl_->segmenter.emplace().LoadFromSerializedProto(alone).ok())
      throw Error(name, ": is not a SentencePiece model");
  }
  if (!impl_->escapes_spaces()) return;
  for (std::size_t byte = 0; byte < impl_->byte_ids.size(); ++byte) {
    char piece[8];
    std::snprintf(piece, sizeof piece, "<0x%02X>", static_cast<unsigned>(byte));
    impl_->byte_ids[byte] = impl_->processor.PieceToId(piece);
    if (!impl_->processor.IsByte(impl_->byte_ids[byte]))
      throw Error(name, ": the SentencePiece model has no piece ", piece);
  }
}

Tokenizer Tokenizer::from_file(const std::string& path) { return Tokenizer(read_file(path), path); }

Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

std::vector<TokenId> Tokenizer::encode(std::string_view text) const {
  std::vector<TokenId> ids;
  if (impl_->is_renumbered || impl_->has_escapes(text)) {
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
  if (impl_->has_escapes(text)) return impl_->escaped_spans(text);
  std::vector<PieceSpan> spans;
  const auto encoded = impl_->reader().EncodeAsImmutableProto({text.data(), text.size()});
  for (const auto& piece : encoded.pieces())
    spans.push_back({impl_->id_of(piece), piece.begin(), piece.end()});
  return spans;
}

std::string Tokenizer::decode(std::span<const TokenId> ids) const {
  if (impl_->escapes_spaces()) return impl_->exact_text(ids);
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
