// The training text as token ids: the pairs that passed the filters, in the order of the text. They
// are read from a memory-mapped file, so a corpus of any size takes next to no memory of its own.
//
// The file has blocks of pairs, then facts about all of them, then a trailer with a checksum of
// everything. Numbers are little-endian.
//
//   block    uint32 starts[2n+1]  of pair p: the source is tokens[starts[2p], starts[2p+1]), the
//                                 target follows up to starts[2p+2]
//            uint32 lines[n]      line of the text, counted from the block's first
//            tokens               uint16 if the vocabularies allow it, else uint32
//   table    for each block: uint64 offset, int64 first line
//   JSON     report, held-out lines and characters
//   trailer  see corpus.cpp
//
// A block has 1,024 pairs, the last block the rest. Each starts at a multiple of 8 bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/unicode.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/translatable.h"

namespace dragoman {

/// What became of each line of the training text: read = kept + held_out + all dropped ones.
struct CorpusReport {
  std::int64_t read = 0;               ///< pairs of lines
  std::int64_t kept = 0;               ///< pairs to train on
  std::int64_t held_out = 0;           ///< pairs kept aside for validation
  std::int64_t invalid = 0;            ///< dropped: invalid UTF-8 or NUL
  std::int64_t empty = 0;              ///< dropped: a side without tokens, or of white space alone
  std::int64_t in_validation = 0;      ///< dropped: a pair of --valid-src, or nearly one
  std::int64_t duplicates = 0;         ///< dropped: a copy of an earlier pair
  std::int64_t too_long = 0;           ///< dropped: --max-length
  std::int64_t ratio = 0;              ///< dropped: --max-ratio
  std::int64_t several_sentences = 0;  ///< of the kept pairs: on a side or both
  std::int64_t changed_targets = 0;    ///< of the kept pairs: the tokenizer changes the target line
  /// One of the lines with a changed target (counted from 0 over all files). The change is in more
  /// than white space if there is such a line.
  std::int64_t changed_target = 0;
  std::int64_t source_tokens = 0, target_tokens = 0;  ///< of the kept pairs, without </s>
  CopyCounts copy_counts = {};  ///< of the kept pairs whose source has nothing to translate

  /// The fraction of several_sentences among the kept pairs.
  double several_sentences_fraction() const {
    return kept == 0 ? 0 : static_cast<double>(several_sentences) / static_cast<double>(kept);
  }

  bool operator==(const CorpusReport&) const = default;
};

/// Lengths in tokens, without </s>.
struct PairLengths {
  std::int32_t source, target;
};

/// Copies share the mapping. All calls are safe from several threads at once.
class Corpus {
 public:
  /// The bytes of a corpus, which have been checked.
  class Storage;

  Corpus();  ///< no pairs
  explicit Corpus(std::shared_ptr<const Storage> storage);

  std::int64_t pairs() const;
  PairLengths lengths(std::int64_t pair) const;
  std::vector<TokenId> source(std::int64_t pair) const;  ///< without </s>
  std::vector<TokenId> target(std::int64_t pair) const;
  /// The same, appended to `tokens`.
  void append_source(std::int64_t pair, std::vector<TokenId>& tokens) const;
  void append_target(std::int64_t pair, std::vector<TokenId>& tokens) const;

  /// The pair's line in the text, counted from 0 over all files of a side.
  std::int64_t line(std::int64_t pair) const;

  /// The first pair from this line or a later one; pairs() if there is none.
  std::int64_t first_pair_from(std::int64_t line) const;

 private:
  std::shared_ptr<const Storage> storage_;
};

/// The contents of the file beside the pairs.
struct CorpusFacts {
  CorpusReport report;
  std::vector<std::string> held_out_source = {}, held_out_target = {};  ///< valid UTF-8
  std::vector<std::int64_t> held_out_lines = {};                        ///< from 1
  SeenCharacters characters = {};  ///< of the pairs; see PreparedData
};

/// An element of the file's table.
struct BlockEntry {
  std::uint64_t offset;
  std::int64_t first_line;
};

/// Writes pairs one by one. Takes memory for one block and a few megabytes.
class CorpusWriter {
 public:
  using Sink = std::function<void(std::string_view)>;

  /// `vocab_size` is that of the larger vocabulary. It decides how wide the tokens are.
  CorpusWriter(Sink sink, std::int64_t vocab_size);

  /// `line` must not fall from pair to pair.
  void add(std::int64_t line, std::span<const TokenId> source, std::span<const TokenId> target);

  void finish(const CorpusFacts& facts);

 private:
  void write(const void* bytes, std::size_t size);
  void pass_on_stretch();
  void write_block();

  Sink sink_;
  bool wide_;
  std::string stretch_;  ///< not yet passed on
  std::uint64_t size_ = 0;
  std::vector<std::uint64_t> stretch_hashes_;
  std::vector<BlockEntry> table_;
  std::uint64_t pairs_ = 0;
  std::vector<std::uint32_t> starts_{0}, lines_;  ///< of the current block
  std::vector<TokenId> tokens_;
};

class Corpus::Storage {
 public:
  /// Throws Error that names the fault if the file is truncated, or any byte has changed.
  static std::shared_ptr<const Storage> open(const std::filesystem::path& path, int threads);

  /// The same from the bytes that a CorpusWriter has written.
  static std::shared_ptr<const Storage> from_bytes(std::string bytes);

  const CorpusFacts& facts() const { return facts_; }

 private:
  friend class Corpus;

  struct Block {
    const std::uint32_t* starts;
    const std::uint32_t* lines;
    const char* tokens;
    std::int64_t first_line;
    std::size_t pair;  ///< in the block
  };

  Storage() = default;
  void check(const std::string& name, int threads);
  Block block_of(std::int64_t pair) const;
  void append(const Block& block, std::size_t side, std::vector<TokenId>& tokens) const;

  MappedFile file_;
  std::string memory_;
  std::string_view bytes_;
  std::int64_t pairs_ = 0;
  bool wide_ = false;
  std::uint64_t table_ = 0;
  CorpusFacts facts_;
};

}  // namespace dragoman
