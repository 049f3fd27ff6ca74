// The file behind a Corpus: blocks of pairs, then facts about all of them, then a trailer with a
// checksum of everything. Numbers are little-endian.
//
//   block    uint32 starts[2n+1]  of pair p: the source is tokens[starts[2p], starts[2p+1]), the
//                                 target follows up to starts[2p+2]
//            uint32 lines[n]      line of the text, counted from the block's first
//            tokens               uint16 where the vocabularies allow it, else uint32
//   table    for each block: uint64 offset, int64 first line
//   JSON     report, held-out lines and characters
//   trailer  see corpus_file.cpp
//
// A block has 1,024 pairs, the last block the rest. Each starts at a multiple of 8 bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/character_set.h"
#include "base/files.h"
#include "data/corpus.h"

namespace dragoman {

/// The contents of the file beside the pairs.
struct CorpusFacts {
  CorpusReport report;
  std::vector<std::string> held_out_source, held_out_target;  ///< valid UTF-8
  std::vector<std::int64_t> held_out_lines = {};  ///< from 1; none in a file of an earlier version
  /// Of the pairs; see PreparedData. Older files have none.
  std::optional<SeenCharacters> characters = std::nullopt;
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
  struct BlockEntry {
    std::uint64_t offset;
    std::int64_t first_line;
  };
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
  /// Throws Error that names the fault where the file is truncated, or any byte has changed.
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
