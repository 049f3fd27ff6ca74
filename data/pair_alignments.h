// The word alignments of the training text (--guided-alignment): a file in Pharaoh format for each
// pair of training files, line by line.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/pair_selection.h"
#include "data/parallel_text.h"
#include "data/source_tags.h"
#include "data/word_alignment.h"
#include "tokenizer/tokenizers.h"

namespace dragoman {

class AlignmentFiles {
 public:
  /// Throws Error naming file and line where the files do not fit the text: other numbers of lines,
  /// what is no link, and links of words that the lines do not have.
  AlignmentFiles(std::shared_ptr<const ParallelText> text, const DataConfig& data,
                 const TextReading& reading, const WorkContext& context);

  const std::vector<TextFile>& files() const { return files_; }
  const ParallelText& text() const { return *text_; }
  /// Of a pair, by its line over all files of a side, as all that follows.
  std::vector<WordLink> links(std::int64_t line) const;

 private:
  void check(std::int64_t line, std::string_view source, std::string_view target) const;

  std::shared_ptr<const ParallelText> text_;
  std::vector<TextFile> files_;
};

/// All calls are safe from many threads.
class PairAlignments {
 public:
  PairAlignments(std::shared_ptr<const AlignmentFiles> files, const Tokenizers& tokenizers,
                 const DataConfig& data);

  /// Between the pieces that a pair is encoded to, in whatever segmentation; none where they are
  /// not those of its text (--augment-drop-end-punctuation, for example).
  std::vector<PieceLink> links(std::int64_t line, std::span<const TokenId> source,
                               std::span<const TokenId> target) const;

 private:
  std::shared_ptr<const AlignmentFiles> files_;
  Tokenizers tokenizers_;
  SourceTags tags_;
};

}  // namespace dragoman
