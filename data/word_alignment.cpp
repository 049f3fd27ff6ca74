#include "data/word_alignment.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/lines.h"
#include "data/alignment/aligner.h"
#include "data/alignment/words.h"

namespace dragoman {

namespace {

bool contains(const WordRange& words, std::int64_t word) {
  const auto number = static_cast<std::size_t>(word);
  return words.first <= number && number < words.last;
}

}  // namespace

std::vector<WordRange> words_of_pieces(std::span<const PieceSpan> pieces, std::string_view line) {
  const std::vector<ByteRange> words = word_places(line);
  std::vector<WordRange> ranges;
  std::size_t first = 0;  // the first word that does not end before the current piece
  for (const PieceSpan& piece : pieces) {
    while (first < words.size() && words[first].end <= piece.begin) ++first;
    std::size_t last = first;
    while (last < words.size() && words[last].begin < piece.end) ++last;
    const std::size_t next = std::min(first + 1, words.size());
    ranges.push_back({first, std::max(last, next)});
  }
  return ranges;
}

std::vector<PieceLink> piece_links(std::span<const WordLink> links,
                                   std::span<const WordRange> source,
                                   std::span<const WordRange> target) {
  std::vector<PieceLink> result;
  for (std::size_t t = 0; t < target.size(); ++t) {
    const std::size_t begin = result.size();
    for (std::size_t s = 0; s < source.size(); ++s) {
      const bool linked = std::ranges::any_of(links, [&](const WordLink& link) {
        return contains(target[t], link.target) && contains(source[s], link.source);
      });
      if (linked) result.push_back({static_cast<std::int32_t>(s), static_cast<std::int32_t>(t), 1});
    }
    const auto count = static_cast<float>(result.size() - begin);
    for (std::size_t i = begin; i < result.size(); ++i) result[i].weight = 1 / count;
  }
  return result;
}

namespace {

/// Throws Error if the highest word number of the links is not that of a word of the line.
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

}  // namespace

AlignmentFiles::AlignmentFiles(std::shared_ptr<const ParallelText> text,
                               const std::vector<std::string>& paths, LinkedUnits units,
                               const TextReading& reading, const WorkContext& context)
    : text_(std::move(text)), units_(units) {
  for (const std::string& path : paths) {
    const TextFile& file = files_.emplace_back(path, reading);
    const TextFile& source = text_->source_files()[files_.size() - 1];
    require_same_lines(path, static_cast<std::size_t>(file.lines()), source.path(),
                       static_cast<std::size_t>(source.lines()));
  }
  if (units_ == LinkedUnits::Pieces) return;
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

/// The words of each piece of a line. They are known for the tokenizer's own pieces, and both
/// encodings have the same bytes of normalised text. Returns nothing if the pieces make another
/// text.
std::vector<WordRange> PairAlignments::ranges_of(const Tokenizer& tokenizer, std::string_view line,
                                                 std::span<const TokenId> ids) const {
  const std::vector<PieceSpan> own = tokenizer.encode_with_offsets(line);
  std::vector<WordRange> own_ranges;
  if (files_->units() == LinkedUnits::Words) own_ranges = words_of_pieces(own, line);
  for (std::size_t i = own_ranges.size(); i < own.size(); ++i) own_ranges.push_back({i, i + 1});
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

std::vector<PieceLink> PairAlignments::links(std::int64_t line, std::span<const TokenId> source,
                                             std::span<const TokenId> target) const {
  std::vector<WordLink> links = files_->links(line);
  if (links.empty()) return {};
  const ParallelText& text = files_->text();
  const std::size_t file = text.file_of(line);
  const auto [source_line, target_line] = text.lines(line);
  if (!tags_.tag(file).empty()) {  // the tag is the first word
    const bool has_words = files_->units() == LinkedUnits::Words;
    for (WordLink& link : links)
      link.source += has_words ? 1 : static_cast<std::int64_t>(tags_.pieces(file));
  }
  return piece_links(links, ranges_of(*tokenizers_.source, tags_.tagged(file, source_line), source),
                     ranges_of(*tokenizers_.target, target_line, target));
}

// ---- alignments of our own ----

namespace {

/// The numbers of a pair's pieces for an aligner.
struct NumberedPieces {
  std::vector<WordId> source, target;
};

NumberedPieces numbered_pieces(const ParallelText& text, const TokenizerPair& tokenizers,
                               std::string_view source, std::string_view target) {
  if (!text.is_valid(source, target)) return {};
  const auto numbers = [](const Tokenizer& tokenizer, std::string_view line) {
    std::vector<WordId> ids;
    for (const TokenId id : tokenizer.encode(line)) ids.push_back(static_cast<WordId>(id) + 1);
    return ids;
  };
  return {numbers(*tokenizers.source, source), numbers(*tokenizers.target, target)};
}

/// The fraction of the time in which an aligner learns. In the rest it aligns all pairs.
constexpr double kLearning = 0.8;

/// Learns from all pairs of the text, or from every second one, third one, ... of a large text.
Aligner learned_aligner(const ParallelText& text, const TokenizerPair& tokenizers,
                        const WorkContext& context) {
  const auto report = [&](std::int64_t done, std::int64_t total) {
    context.report(std::llround(kLearning * static_cast<double>(text.pairs()) *
                                static_cast<double>(done) / static_cast<double>(total)),
                   text.pairs());
  };
  const std::int64_t every = divide_up(text.pairs(), kMostLearned);
  NumberedPairs pairs;
  const WorkContext silent{context.threads, context.stop, [](std::int64_t, std::int64_t) {}};
  for_each_block(
      text.pairs(), silent,
      [&](std::int64_t first, std::int64_t last) {
        std::vector<NumberedPieces> block;
        text.for_each_pair(first, last, [&](std::int64_t pair, auto source, auto target) {
          if (pair % every == 0) block.push_back(numbered_pieces(text, tokenizers, source, target));
        });
        return block;
      },
      [&](const std::vector<NumberedPieces>& block) {
        for (const NumberedPieces& pair : block) pairs.add(pair.source, pair.target);
      });
  Aligner aligner(pairs, {.threads = context.threads, .stop = context.stop, .report = report});
  if (context.stop.stop_requested()) throw PreparationStopped();
  return aligner;
}

}  // namespace

std::vector<std::string> align_pieces(const ParallelText& text, const TokenizerPair& tokenizers,
                                      const std::filesystem::path& folder,
                                      const WorkContext& context) {
  constexpr int kVersion = 1;
  const std::uint64_t inputs =
      xxh3(join_text(kVersion, ' ', text.hash(), ' ', xxh3(tokenizers.source->model_bytes()), ' ',
                     xxh3(tokenizers.target->model_bytes())));
  std::vector<std::string> paths;
  for (std::size_t file = 0; file < text.source_files().size(); ++file)
    paths.push_back(folder / join_text("alignment-", hex16(inputs), "-", file + 1, ".txt"));
  if (std::ranges::all_of(paths, [](const auto& path) { return std::filesystem::exists(path); }))
    return paths;
  const Aligner aligner = learned_aligner(text, tokenizers, context);
  std::vector<std::string> lines(paths.size());  // the text of each file
  const WorkContext aligning{
      context.threads, context.stop, [&](std::int64_t done, std::int64_t total) {
        const auto learned = std::llround(kLearning * static_cast<double>(total));
        context.report(learned + done * (total - learned) / total, total);
      }};
  for_each_block(
      text.pairs(), aligning,
      [&](std::int64_t first, std::int64_t last) {
        std::vector<std::string> block;
        text.for_each_pair(first, last, [&](std::int64_t, auto source, auto target) {
          const NumberedPieces pair = numbered_pieces(text, tokenizers, source, target);
          std::vector<WordLink> links;
          for (const LinkProbability& link :
               aligner.align(pair.source, pair.target, Symmetrization::GrowDiagFinalAnd).links)
            links.push_back(link.link);
          block.push_back(pharaoh_text(links) + "\n");
        });
        return block;
      },
      [&, pair = std::int64_t{0}](const std::vector<std::string>& block) mutable {
        for (const std::string& line : block) lines[text.file_of(pair++)] += line;
      });
  for (std::size_t file = 0; file < paths.size(); ++file)
    write_file(paths[file], lines[file], Links::Replace);
  return paths;
}

}  // namespace dragoman
