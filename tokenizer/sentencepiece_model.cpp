#include "tokenizer/sentencepiece_model.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include "base/bytes.h"
#include "base/error.h"
#include "base/utf8.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

namespace {

// Field numbers of ModelProto and of its SentencePiece; the format leaves those from 200 on to
// others.
constexpr std::uint64_t kPieces = 1, kVocabularyField = 200;
constexpr std::uint64_t kText = 1, kScore = 2, kKind = 3, kAdded = 200;

/// The kind with a number of the format. Throws MalformedMessage for other numbers.
PieceKind piece_kind(std::uint64_t number) {
  if (number < 1 || number > 6) throw MalformedMessage();
  return static_cast<PieceKind>(number);
}

struct Piece {
  std::string text;
  float score = 0;
  PieceKind kind = PieceKind::Normal;
  bool is_added = false;  ///< text must be segmented as if it were not there
};

float float_of(std::string_view bytes) {
  float number = 0;
  if (bytes.size() != sizeof number) throw MalformedMessage();
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

Piece read_piece(std::string_view message) {
  Piece piece;
  WireReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == kText) piece.text = field->bytes;
    if (field->number == kScore) piece.score = float_of(field->bytes);
    if (field->number == kKind) piece.kind = piece_kind(field->value);
    if (field->number == kAdded) piece.is_added = field->value != 0;
  }
  return piece;
}

void read_trainer_spec(std::string_view spec, TokenizerFacts& facts) {
  constexpr std::uint64_t kModelType = 3, kByteFallback = 35;
  constexpr std::array<std::string_view, 4> kTypes = {"unigram", "bpe", "word", "char"};
  WireReader reader(spec);
  while (const auto setting = reader.next()) {
    if (setting->number == kModelType && setting->value - 1 < kTypes.size())
      facts.type = kTypes[setting->value - 1];
    if (setting->number == kByteFallback) facts.byte_fallback = setting->value != 0;
  }
}

void read_normalizer_spec(std::string_view spec, TokenizerFacts& facts) {
  constexpr std::uint64_t kName = 1, kRemoveExtraWhitespaces = 4;
  WireReader reader(spec);
  while (const auto setting = reader.next()) {
    if (setting->number == kName) facts.normalizer = setting->bytes;
    if (setting->number == kRemoveExtraWhitespaces) facts.keeps_white_space = setting->value == 0;
  }
}

Escapes escapes_of(std::uint64_t number) {
  if (number > static_cast<std::uint64_t>(Escapes::SpaceAndTermMarks)) throw MalformedMessage();
  return static_cast<Escapes>(number);
}

TokenizerFacts read_facts(std::string_view model_bytes) {
  constexpr std::uint64_t kTrainerSpec = 2, kNormalizerSpec = 3;  // of ModelProto
  TokenizerFacts facts;
  WireReader model(model_bytes);
  while (const auto field = model.next()) {
    if (field->number == kPieces) {
      facts.kinds.push_back(read_piece(field->bytes).kind);
      facts.pieces_hash = xxh3(field->bytes, facts.pieces_hash);
    }
    if (field->number == kVocabularyField) facts.vocabulary = field->value;
    if (field->number == kEscapesField) facts.escapes = escapes_of(field->value);
    if (field->number == kTrainerSpec) read_trainer_spec(field->bytes, facts);
    if (field->number == kNormalizerSpec) read_normalizer_spec(field->bytes, facts);
  }
  if (facts.vocabulary == 0) facts.vocabulary = facts.kinds.size();
  if (facts.vocabulary > facts.kinds.size()) throw MalformedMessage();
  return facts;
}

/// The result of work() on the bytes of a model. Throws Error if they are not a protocol buffer.
template <class Work>
auto on_model(const std::string& name, Work&& work) {
  try {
    return work();
  } catch (const MalformedMessage&) {
    throw Error(name, ": not a SentencePiece model");
  }
}

}  // namespace

// ---- facts ----

TokenizerFacts tokenizer_facts(std::string_view model_bytes, const std::string& name) {
  return on_model(name, [&] { return read_facts(model_bytes); });
}

// ---- other numbers and other pieces ----

namespace {

std::string message_of(const Piece& piece) {
  WireWriter message;
  message.bytes(kText, piece.text);
  message.real(kScore, piece.score);
  message.number(kKind, static_cast<std::uint64_t>(piece.kind));
  if (piece.is_added) message.number(kAdded, 1);
  return message.message();
}

struct Model {
  std::vector<Piece> pieces;
  std::string rest;  ///< the other fields, as they were
};

Model read_model(std::string_view bytes) {
  Model model;
  WireWriter rest;
  WireReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->number == kPieces)
      model.pieces.push_back(read_piece(field->bytes));
    else if (field->number != kVocabularyField)
      rest.stored(*field);
  }
  model.rest = rest.message();
  return model;
}

bool is_language_tag(std::string_view piece) {
  return piece.size() > 4 && piece.starts_with(">>") && piece.ends_with("<<");
}

/// A piece that the model lacks. A unigram model does not read unused pieces. The others do: bpe
/// merges them, and takes them apart again only if they have several characters.
Piece added_piece(const std::string& text, float lowest_score, bool is_unigram) {
  for (const char* control : {"</s>", "<s>", "<pad>", "<blank>"})
    if (text == control) return {text, 0, PieceKind::Control};
  // SentencePiece puts a space in front of a text, so a tag's piece begins with one.
  if (is_language_tag(text)) return {std::string(kSpaceMark) + text, 0, PieceKind::UserDefined};
  return {text, lowest_score - 1, PieceKind::Unused, !is_unigram};
}

/// Throws Error if the vocabulary has a piece twice, or lacks one that it needs.
void check(std::span<const std::string> pieces, const std::map<std::string, const Piece*>& known,
           const std::string& name) {
  std::map<std::string_view, std::size_t> ids;
  for (std::size_t id = 0; id < pieces.size(); ++id)
    if (const auto [first, is_new] = ids.emplace(pieces[id], id); !is_new)
      throw Error(name, ": the vocabulary has \"", pieces[id], "\" as piece ", first->second,
                  " and as piece ", id);
  if (!ids.contains("</s>")) throw Error(name, ": the vocabulary has no end of sentence (</s>)");
  for (const auto& [text, piece] : known)
    if (piece->kind == PieceKind::Unknown && !ids.contains(text))
      throw Error(name, ": the vocabulary has no unknown piece (", text, ")");
}

std::string renumber(std::string_view model_bytes, std::span<const std::string> pieces,
                     const std::string& name) {
  const Model model = read_model(model_bytes);
  const bool is_unigram = tokenizer_facts(model_bytes, name).type == "unigram";
  std::map<std::string, const Piece*> known;
  float lowest = 0;
  for (const Piece& piece : model.pieces) {
    known[without_tag_space(piece.text)] = &piece;
    lowest = std::min(lowest, piece.score);
  }
  check(pieces, known, name);
  WireWriter written;
  const auto write = [&written](const Piece& piece) { written.bytes(kPieces, message_of(piece)); };
  for (const std::string& text : pieces) {
    const auto found = known.find(text);
    write(found == known.end() ? added_piece(text, lowest, is_unigram) : *found->second);
    if (found != known.end()) known.erase(found);
  }
  for (const Piece& piece : model.pieces)
    if (known.contains(without_tag_space(piece.text)) && piece.kind != PieceKind::Control)
      write(piece);
  written.number(kVocabularyField, pieces.size());
  return written.message() + model.rest;
}

}  // namespace

std::string restricted_tokenizer(std::string_view model_bytes, std::span<const std::string> pieces,
                                 const std::string& name) {
  const Model model = on_model(name, [&] { return read_model(model_bytes); });
  const std::set<std::string_view> allowed(pieces.begin(), pieces.end());
  WireWriter written;
  for (Piece piece : model.pieces) {
    if (piece.kind == PieceKind::Normal || piece.kind == PieceKind::Unused)
      piece.kind = allowed.contains(piece.text) || count_code_points(piece.text) == 1
                       ? PieceKind::Normal
                       : PieceKind::Unused;
    written.bytes(kPieces, message_of(piece));
  }
  return written.message() + model.rest;
}

std::string renumbered_tokenizer(std::string_view model_bytes, std::span<const std::string> pieces,
                                 const std::string& name) {
  return on_model(name, [&] { return renumber(model_bytes, pieces, name); });
}

std::string without_added_pieces(std::string_view model_bytes, const std::string& name) {
  const Model model = on_model(name, [&] { return read_model(model_bytes); });
  if (std::ranges::none_of(model.pieces, &Piece::is_added)) return "";
  WireWriter written;
  for (const Piece& piece : model.pieces)
    if (!piece.is_added) written.bytes(kPieces, message_of(piece));
  return written.message() + model.rest;
}

std::string without_tag_space(const std::string& piece) {
  const bool is_tag =
      piece.starts_with(kSpaceMark) && is_language_tag(piece.substr(kSpaceMark.size()));
  return is_tag ? piece.substr(kSpaceMark.size()) : piece;
}

}  // namespace dragoman
