#include "tokenizer/tokenizer.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/utf8.h"
#include "tokenizer/terms.h"

namespace dragoman {

std::optional<unsigned char> byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || !piece.ends_with('>')) return std::nullopt;
  return number_from<unsigned char>(piece.substr(3, 2), 16);
}

bool is_reserved_piece(std::string_view piece) {
  return piece == "<unk>" || piece == "<s>" || piece == "</s>" || byte_of_piece(piece).has_value();
}

std::string tagged(std::string_view tag, std::string_view text) {
  return tag.empty() ? std::string(text) : join_text(tag, " ", text);
}

namespace {

/// A piece of an encoded text: `text` as the vocabulary has it, for the bytes [begin, end).
struct EncodedPiece {
  std::string_view text;
  TokenId id = 0;
  std::size_t begin = 0, end = 0;
};

/// The pieces of a SentencePieceText, the message that SentencePiece encodes a text to. The library
/// has had a class for it since version 0.1.97; Ubuntu 22.04 has 0.1.96.
std::vector<EncodedPiece> encoded_pieces(std::string_view message) {
  constexpr std::uint64_t kPieces = 2, kText = 1, kId = 2, kBegin = 4, kEnd = 5;
  std::vector<EncodedPiece> pieces;
  WireReader fields(message);
  while (const auto field = fields.next()) {
    if (field->number != kPieces) continue;
    EncodedPiece& piece = pieces.emplace_back();
    WireReader parts(field->bytes);
    while (const auto part = parts.next()) {
      if (part->number == kText) piece.text = part->bytes;
      if (part->number == kId) piece.id = static_cast<TokenId>(part->value);
      if (part->number == kBegin) piece.begin = part->value;
      if (part->number == kEnd) piece.end = part->value;
    }
  }
  return pieces;
}

}  // namespace

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
  std::array<TokenId, 256> byte_ids = {};  // of the pieces of single bytes; only with escapes

  bool escapes_spaces() const { return facts.escapes != Escapes::None; }
  bool escapes_term_marks() const { return facts.escapes == Escapes::SpaceAndTermMarks; }
  TokenId vocabulary() const { return static_cast<TokenId>(facts.vocabulary); }
  bool has(TokenId id) const { return id >= 0 && id < vocabulary(); }

  /// The id of a piece that a text is segmented into. A renumbered model (renumbered_tokenizer())
  /// stands for one whose pieces are looked up in a vocabulary by their texts: there a run of
  /// unknown characters may be a piece, and a piece of the model may be unknown.
  TokenId id_of(const EncodedPiece& piece) const {
    if (!is_renumbered) return piece.id;
    const auto id_of_text = [&] {
      return processor.PieceToId({piece.text.data(), piece.text.size()});
    };
    if (segmenter) {
      const TokenId id = id_of_text();
      return has(id) ? id : processor.unk_id();
    }
    if (!has(piece.id)) return processor.unk_id();
    return processor.IsUnknown(piece.id) ? id_of_text() : piece.id;
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
    const std::string message = processor.EncodeAsSerializedProto(without_space_marks(text));
    for (const EncodedPiece& piece : encoded_pieces(message)) {
      if (piece.id == byte_ids[0] && text[piece.begin] == kSpaceMark[0])
        append_bytes(text, piece.begin, piece.begin + kSpaceMark.size(), spans);
      else if (piece.id == byte_ids[0] && text[piece.begin] != '\0')
        continue;  // the second or third byte of the mark
      else if (escapes_term_marks() && is_term_mark(piece.text))
        append_bytes(text, piece.begin, piece.end, spans);
      else
        spans.push_back({id_of(piece), piece.begin, piece.end});
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
  const std::string message = impl_->reader().EncodeAsSerializedProto({text.data(), text.size()});
  for (const EncodedPiece& piece : encoded_pieces(message))
    spans.push_back({impl_->id_of(piece), piece.begin, piece.end});
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

// ---- the two sides of a model ----

EndIds end_ids(const TokenizerPair& tokenizers) {
  return {.source = tokenizers.source->eos_id(),
          .target = tokenizers.target->eos_id(),
          .source_eos = tokenizers.source_eos};
}

std::vector<TokenId> TokenizerPair::source_tokens(std::string_view text) const {
  return source_tokens(source->encode(text));
}

std::vector<TokenId> TokenizerPair::source_tokens(std::vector<TokenId> pieces) const {
  const EndIds ends = end_ids(*this);
  if (ends.ends_source(pieces.size())) pieces.push_back(ends.source);
  return pieces;
}

std::vector<TokenId> TokenizerPair::target_tokens(std::string_view text) const {
  return target_tokens(target->encode(text));
}

std::vector<TokenId> TokenizerPair::target_tokens(std::vector<TokenId> pieces) const {
  pieces.push_back(target->eos_id());
  return pieces;
}

// ---- the rule for text ----

namespace {

constexpr std::string_view kLowerSuffix = "_lower";

}  // namespace

std::string TextRule::name() const {
  const std::string_view plain =
      normalization == Normalization::None ? "identity" : name_of(normalization);
  return join_text(plain, lowercase ? kLowerSuffix : "");
}

std::string normalization_of(const TokenizerFacts& facts) {
  std::string_view name = facts.normalizer;
  if (name.ends_with(kLowerSuffix)) name.remove_suffix(kLowerSuffix.size());
  return name == "identity" || name.empty() ? "none" : std::string(name);
}

bool lower_cases(const Tokenizer& tokenizer) {
  return tokenizer.decode(tokenizer.encode("A")) == "a";
}

ChangedLines changed_lines(const Tokenizer& tokenizer, std::span<const std::string> lines) {
  ChangedLines changed;
  bool only_space = true;  // in all changed lines so far
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string written = tokenizer.decode(tokenizer.encode(lines[i]));
    if (written == lines[i]) continue;
    ++changed.count;
    const bool is_example =
        changed.first == 0 || (only_space && !differ_in_space_alone(lines[i], written));
    if (!is_example) continue;
    only_space = differ_in_space_alone(lines[i], written);
    changed.first = static_cast<std::int64_t>(i) + 1;
    changed.example = described_change(lines[i], written);
  }
  return changed;
}

std::string described_change(std::string_view line, std::string_view written) {
  // Equal bytes at both ends, but whole words of each text.
  std::size_t begin = 0, end = 0;
  const std::size_t shorter = std::min(line.size(), written.size());
  while (begin < shorter && line[begin] == written[begin]) ++begin;
  while (end < shorter - begin && line[line.size() - 1 - end] == written[written.size() - 1 - end])
    ++end;
  begin = line.substr(0, begin).find_last_of(' ') + 1;  // 0 for npos
  const std::size_t space = line.substr(line.size() - end).find(' ');
  end = space == line.npos ? 0 : end - space;
  const auto part = [&](std::string_view text) {
    constexpr std::size_t kLongest = 60;
    const std::string_view all = text.substr(begin, text.size() - end - begin);
    const std::string_view shown = all.substr(0, character_start(all, kLongest));
    return join_text('"', shown, shown.size() < all.size() ? "..." : "", '"');
  };
  return join_text(part(line), " becomes ", part(written));
}

bool differ_in_space_alone(std::string_view a, std::string_view b) {
  const auto without_space = [](std::string_view text) {
    std::u32string characters = code_points(text);
    std::erase_if(characters, is_space);
    return characters;
  };
  return without_space(a) == without_space(b);
}

}  // namespace dragoman
