#include "extras/formats/beside_checkpoint.h"

#include <algorithm>

#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "tokenizer/space_mark.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

/// Another program's pieces, and those of another SentencePiece model, are mostly unknown to it.
void check_pieces(const ForeignVocabulary& vocabulary) {
  const bool has_space = std::ranges::any_of(
      vocabulary.pieces, [](const std::string& piece) { return piece.starts_with(kSpaceMark); });
  if (!has_space)
    throw Error(vocabulary.file, ": no piece of the vocabulary begins with ", kSpaceMark,
                ", so another program than SentencePiece, such as subword-nmt, has made them; they "
                "cannot be made here");
  const Tokenizer tokenizer(vocabulary.sentencepiece, vocabulary.file);
  const auto known = std::ranges::count_if(vocabulary.pieces, [&](const std::string& piece) {
    return tokenizer.id(piece) != tokenizer.unk_id();
  });
  // A vocabulary of both sides has pieces of two models.
  if (4 * static_cast<std::size_t>(known) < vocabulary.pieces.size())
    throw Error(vocabulary.file, ": has only ", known, " of the ", vocabulary.pieces.size(),
                " pieces of the vocabulary, so another program or another SentencePiece model has "
                "made them");
}

}  // namespace

fs::path sentencepiece_of(const fs::path& folder, Side side, const std::string& named,
                          const fs::path& last) {
  const std::string name(name_of(side));
  std::vector<fs::path> candidates = {folder / (name + ".spm")};
  if (!named.empty()) candidates.push_back(folder / fs::path(named).filename());
  for (const char* common : {"sentencepiece.model", "sentencepiece.bpe.model", "spm.model"})
    candidates.push_back(folder / common);
  candidates.push_back(last);
  for (const fs::path& path : candidates)
    if (fs::is_regular_file(path)) return path;
  throw Error(folder.string(), ": has no SentencePiece model of the ", name, ": lay it there as ",
              name,
              ".spm, or as sentencepiece.model for both sides; pieces of another program, "
              "such as subword-nmt, cannot be made here");
}

ForeignVocabulary vocabulary_beside(const fs::path& folder, Side side,
                                    std::vector<std::string> pieces, const std::string& named) {
  const fs::path path = sentencepiece_of(folder, side, named);
  ForeignVocabulary vocabulary{std::move(pieces), read_file(path), path.string()};
  check_pieces(vocabulary);
  return vocabulary;
}

std::int64_t piece_id(const std::vector<std::string>& pieces, std::string_view piece,
                      const std::string& file) {
  const auto found = std::ranges::find(pieces, piece);
  if (found == pieces.end()) throw Error(file, ": the vocabulary has no ", piece);
  return found - pieces.begin();
}

void settle_vocabularies(ForeignModel& model, const std::string& file) {
  ModelConfig& config = model.config;
  config.source_vocabulary = static_cast<std::int64_t>(model.source.pieces.size());
  config.target_vocabulary = static_cast<std::int64_t>(model.target.pieces.size());
  config.unk_id = piece_id(model.target.pieces, "<unk>", file);
  config.eos_id = config.bos_id = piece_id(model.target.pieces, "</s>", file);
  piece_id(model.source.pieces, "<unk>", file);
  if (config.tying == Tying::ThreeWay && model.source.pieces != model.target.pieces)
    throw Error(file, ": the embeddings are one matrix, but there are two unlike vocabularies");
}

void start_with(ForeignModel& model, std::int64_t piece) {
  const auto& embedding = model.parameters.at(
      model.config.tying == Tying::ThreeWay ? "embedding.weight" : "embedding.target.weight");
  const auto begin = embedding.begin() + piece * model.config.d_model;
  model.start.assign(begin, begin + model.config.d_model);
}

}  // namespace dragoman
