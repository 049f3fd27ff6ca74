// Vocabularies of other systems: Hugging Face's vocab.json and Marian's .yml (piece -> id),
// CTranslate2's .json (a list) and .txt (a piece on each line), and the SentencePiece models beside
// them.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "extras/formats/foreign_model.h"

namespace dragoman {

/// Each returns the pieces in the order of their ids, 0 to n - 1. Each throws Error, without the
/// file's name, for a text that is not UTF-8 or has another form, and for an id or a piece that
/// occurs twice or is missing; the message names the line or the piece.
std::vector<std::string> parse_json_vocabulary(std::string_view text);
std::vector<std::string> parse_yaml_vocabulary(std::string_view text);
std::vector<std::string> parse_text_vocabulary(std::string_view text);

/// Chooses by the ending of the name: .json, .yml or .yaml, and .txt. Throws Error that begins with
/// the file's name.
std::vector<std::string> read_vocabulary(const std::filesystem::path& path);

enum class Side { Source, Target };
constexpr std::array<std::string_view, 2> names_of(Side) { return {"source", "target"}; }

/// The SentencePiece model of a side, the first of these that exists: source.spm or target.spm in
/// `folder`; the file with the name of `named` (a path on another machine, or empty); a name that
/// is common to both sides, such as sentencepiece.model; `last`. Throws Error if there is none.
std::filesystem::path sentencepiece_of(const std::filesystem::path& folder, Side side,
                                       const std::string& named,
                                       const std::filesystem::path& last = {});

/// The vocabulary of a side with the model of sentencepiece_of(). Throws Error if there is none, or
/// if it lacks most of the pieces.
ForeignVocabulary vocabulary_beside(const std::filesystem::path& folder, Side side,
                                    std::vector<std::string> pieces, const std::string& named);

/// The id of a piece. Throws Error with `file` if there is no such piece.
std::int64_t piece_id(const std::vector<std::string>& pieces, std::string_view piece,
                      const std::string& file);

/// Sets the vocabulary sizes and the ids of <unk> and </s>. Throws Error with `file` if the target
/// lacks one of them.
void set_sizes_and_ids(ForeignModel& model, const std::string& file);

/// The same. Also throws Error if the source has no <unk>, or if both sides share one embedding but
/// not one vocabulary.
void settle_vocabularies(ForeignModel& model, const std::string& file);

/// Makes the decoder begin with this piece: model.start becomes its row of the target's embedding.
void start_with(ForeignModel& model, std::int64_t piece);

}  // namespace dragoman
