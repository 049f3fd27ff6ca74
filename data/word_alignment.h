// The alignments of a training text (--guided-alignment), and the way from words to pieces.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/alignment/links.h"
#include "data/data_config.h"
#include "data/packed_batch.h"
#include "data/parallel_text.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// The words [first, last) that a piece overlaps. A piece that stands for space alone, or for
/// nothing, belongs to the word that follows.
struct WordRange {
  std::size_t first, last;
};
std::vector<WordRange> words_of_pieces(std::span<const PieceSpan> pieces, std::string_view line);

/// Links every piece of a target word to all pieces of the source words that belong to it, with
/// equal weights.
std::vector<PieceLink> piece_links(std::span<const WordLink> links,
                                   std::span<const WordRange> source,
                                   std::span<const WordRange> target);

/// What the numbers of links count.
enum class LinkedUnits {
  Words,   ///< between white space, as in files that are given
  Pieces,  ///< of the tokenizers, without the tag of a line
};

/// Aligns the pieces of all pairs (data/alignment/aligner.h), and writes a file in Pharaoh format
/// for each training file into the folder, or finds those that an earlier call has written there.
/// Returns their paths. Throws PreparationStopped.
std::vector<std::string> align_pieces(const ParallelText& text, const TokenizerPair& tokenizers,
                                      const std::filesystem::path& folder,
                                      const WorkContext& context);

/// The alignments of the training text: for each pair of training files one file, line by line.
class AlignmentFiles {
 public:
  /// Throws Error naming file and line if a file does not fit the text: another number of lines,
  /// malformed links, or links of words that the lines do not have. Links of pieces are ours, and
  /// not checked.
  AlignmentFiles(std::shared_ptr<const ParallelText> text, const std::vector<std::string>& paths,
                 LinkedUnits units, const TextReading& reading, const WorkContext& context);

  const std::vector<TextFile>& files() const { return files_; }
  const ParallelText& text() const { return *text_; }
  LinkedUnits units() const { return units_; }

  /// The links of a pair. `line` is the pair's line over all files of a side, here and below.
  std::vector<WordLink> links(std::int64_t line) const;

 private:
  void check(std::int64_t line, std::string_view source, std::string_view target) const;

  std::shared_ptr<const ParallelText> text_;
  LinkedUnits units_;
  std::vector<TextFile> files_;
};

/// All calls are safe from several threads at once.
class PairAlignments {
 public:
  PairAlignments(std::shared_ptr<const AlignmentFiles> files, const TokenizerPair& tokenizers,
                 const DataConfig& data);

  /// The links between the pieces of an encoded pair, for any segmentation. There are none if the
  /// encoded text is not the pair's own (--augment-drop-end-punctuation, for example).
  std::vector<PieceLink> links(std::int64_t line, std::span<const TokenId> source,
                               std::span<const TokenId> target) const;

 private:
  std::vector<WordRange> ranges_of(const Tokenizer& tokenizer, std::string_view line,
                                   std::span<const TokenId> ids) const;

  std::shared_ptr<const AlignmentFiles> files_;
  TokenizerPair tokenizers_;
  SourceTags tags_;
};

}  // namespace dragoman
