#include "data/pair_alignments.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/amounts.h"
#include "base/error.h"
#include "base/text_lines.h"
#include "tokenizer/byte_piece.h"

namespace dragoman {

namespace {

/// Throws Error where the highest word number of the links is not a word of the line.
void check_words(std::int64_t link, std::string_view line, std::string_view side) {
  const auto words = static_cast<std::int64_t>(word_places(line).size());
  if (link >= words)
    throw Error("word ", link, " of the ", side, " line, counted from 0, but it has ",
                counted(words, "word"));
}

/// The number of bytes of the normalised text that a piece stands for.
std::size_t normalised_bytes(const Tokenizer& tokenizer, TokenId id) {
  const std::string piece = tokenizer.piece(id);
  return byte_of_piece(piece) ? 1 : piece.size();
}

/// For each piece of a line its words. The bytes of the normalised text lead from the pieces to
/// those of the tokenizer's own encoding, whose words are known. Returns nothing where the pieces
/// make another text.
std::vector<WordRange> ranges_of(const Tokenizer& tokenizer, std::string_view line,
                                 std::span<const TokenId> ids) {
  const std::vector<PieceSpan> own = tokenizer.encode_with_offsets(line);
  const std::vector<WordRange> own_ranges = words_of_pieces(own, line);
  std::vector<WordRange> by_byte;
  for (std::size_t i = 0; i < own.size(); ++i)
    by_byte.insert(by_byte.end(), normalised_bytes(tokenizer, own[i].id), own_ranges[i]);
  std::vector<WordRange> ranges;
  std::size_t at = 0;
  for (const TokenId id : ids) {
    const std::size_t end = at + normalised_bytes(tokenizer, id);
    if (end > by_byte.size()) return {};
    ranges.push_back({by_byte[at].first, by_byte[end - 1].last});
    at = end;
  }
  if (at != by_byte.size()) return {};
  return ranges;
}

}  // namespace

AlignmentFiles::AlignmentFiles(std::shared_ptr<const ParallelText> text, const DataConfig& data,
                               const TextReading& reading, const WorkContext& context)
    : text_(std::move(text)) {
  for (const std::string& path : data.guided_alignment) {
    const TextFile& file = files_.emplace_back(path, reading);
    const TextFile& source = text_->source_files()[files_.size() - 1];
    require_same_lines(path, static_cast<std::size_t>(file.lines()), source.path(),
                       static_cast<std::size_t>(source.lines()));
  }
  for_each_block(
      text_->pairs(), context,
      [&](std::int64_t first, std::int64_t last) {
        std::string problem;
        try {
          text_->for_each_pair(first, last, [&](std::int64_t line, auto source, auto target) {
            check(line, source, target);
          });
        } catch (const Error& error) {  // the first error of the text is thrown below
          problem = error.what();
        }
        return problem;
      },
      [](const std::string& problem) {
        if (!problem.empty()) throw Error(problem);
      });
}

void AlignmentFiles::check(std::int64_t line, std::string_view source,
                           std::string_view target) const {
  try {
    WordLink last{-1, -1};
    for (const WordLink& link : links(line))
      last = {std::max(last.source, link.source), std::max(last.target, link.target)};
    check_words(last.source, source, "source");
    check_words(last.target, target, "target");
  } catch (const Error& problem) {
    const std::size_t file = text_->file_of(line);
    throw Error(files_[file].path(), ":", line - text_->first_pairs()[file] + 1, ": ",
                problem.what());
  }
}

std::vector<WordLink> AlignmentFiles::links(std::int64_t line) const {
  const std::size_t file = text_->file_of(line);
  return parse_links(files_[file].line(line - text_->first_pairs()[file]));
}

PairAlignments::PairAlignments(std::shared_ptr<const AlignmentFiles> files,
                               const TokenizerPair& tokenizers, const DataConfig& data)
    : files_(std::move(files)), tokenizers_(tokenizers), tags_(data, *tokenizers.source) {}

std::vector<PieceLink> PairAlignments::links(std::int64_t line, std::span<const TokenId> source,
                                             std::span<const TokenId> target) const {
  std::vector<WordLink> links = files_->links(line);
  if (links.empty()) return {};
  const ParallelText& text = files_->text();
  const std::size_t file = text.file_of(line);
  const auto [source_line, target_line] = text.lines(line);
  if (!tags_.tag(file).empty())  // the tag is a word in front
    for (WordLink& link : links) ++link.source;
  return piece_links(links, ranges_of(*tokenizers_.source, tags_.tagged(file, source_line), source),
                     ranges_of(*tokenizers_.target, target_line, target));
}

}  // namespace dragoman
