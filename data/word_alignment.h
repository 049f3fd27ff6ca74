// Word alignments in Pharaoh format, and the way from words to pieces. A line like "0-0 1-2" links
// words of the source line to words of the target line. Words stand between white space and are
// counted from 0.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "data/packed_batch.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

struct WordLink {
  std::int64_t source, target;
};

/// Throws Error naming the word of the line that is not a link.
std::vector<WordLink> parse_links(std::string_view line);

/// A word: bytes [begin, end) of a line.
struct WordPlace {
  std::size_t begin, end;
};
/// The words of a line, which stand between spaces, tabs and other ASCII white space.
std::vector<WordPlace> word_places(std::string_view line);

/// For each piece the words [first, last) that it overlaps. A piece that stands for space alone, or
/// for nothing, belongs to the word that follows.
struct WordRange {
  std::size_t first, last;
};
std::vector<WordRange> words_of_pieces(std::span<const PieceSpan> pieces, std::string_view line);

/// Links every piece of a target word to all pieces of the source words that belong to it, with
/// equal weights.
std::vector<PieceLink> piece_links(std::span<const WordLink> links,
                                   std::span<const WordRange> source,
                                   std::span<const WordRange> target);

}  // namespace dragoman
