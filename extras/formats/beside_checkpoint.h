// The SentencePiece models that lie beside the checkpoint of a system that keeps its vocabulary
// apart from them.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "extras/formats/foreign_model.h"

namespace dragoman {

enum class Side { Source, Target };
constexpr std::array<std::string_view, 2> names_of(Side) { return {"source", "target"}; }

/// The SentencePiece model of a side: source.spm or target.spm in `folder`, the file with the name
/// of `named` (a path of another machine, or empty), one of the names that are common for both
/// sides, such as sentencepiece.model, or `last`. Throws Error where there is none.
std::filesystem::path sentencepiece_of(const std::filesystem::path& folder, Side side,
                                       const std::string& named,
                                       const std::filesystem::path& last = {});

/// The vocabulary of a side with the SentencePiece model that sentencepiece_of() finds. Throws
/// Error where there is none, or where it lacks most of the pieces.
ForeignVocabulary vocabulary_beside(const std::filesystem::path& folder, Side side,
                                    std::vector<std::string> pieces, const std::string& named);

/// The id of a piece. Throws Error with `file` where there is none.
std::int64_t piece_id(const std::vector<std::string>& pieces, std::string_view piece,
                      const std::string& file);

/// The vocabulary sizes, the ids of <unk> and </s>, and that an embedding of both sides fits both.
void settle_vocabularies(ForeignModel& model, const std::string& file);

/// The decoder begins with this piece: model.start becomes the row of the target's embedding.
void start_with(ForeignModel& model, std::int64_t piece);

}  // namespace dragoman
