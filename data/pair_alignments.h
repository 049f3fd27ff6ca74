// The word alignments of the training text (--guided-alignment): for each pair of training files a
// file in Pharaoh format, line by line.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/blocks.h"
#include "data/parallel_text.h"
#include "data/source_tags.h"
#include "data/word_alignment.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

class AlignmentFiles {
 public:
  /// Throws Error naming file and line where a file does not fit the text: another number of lines,
  /// malformed links, or links of words that the lines do not have.
  AlignmentFiles(std::shared_ptr<const ParallelText> text, const DataConfig& data,
                 const TextReading& reading, const WorkContext& context);

  const std::vector<TextFile>& files() const { return files_; }
  const ParallelText& text() const { return *text_; }
  /// The links of a pair. `line` is the pair's line over all files of a side, here and below.
  std::vector<WordLink> links(std::int64_t line) const;

 private:
  void check(std::int64_t line, std::string_view source, std::string_view target) const;

  std::shared_ptr<const ParallelText> text_;
  std::vector<TextFile> files_;
};

/// All calls are safe from several threads at once.
class PairAlignments {
 public:
  PairAlignments(std::shared_ptr<const AlignmentFiles> files, const TokenizerPair& tokenizers,
                 const DataConfig& data);

  /// The links between the pieces of an encoded pair, for any segmentation. There are none where
  /// the encoded text is not the pair's own (--augment-drop-end-punctuation, for example).
  std::vector<PieceLink> links(std::int64_t line, std::span<const TokenId> source,
                               std::span<const TokenId> target) const;

 private:
  std::shared_ptr<const AlignmentFiles> files_;
  TokenizerPair tokenizers_;
  SourceTags tags_;
};

}  // namespace dragoman
