// Filters and encodes text into the corpus file, on several threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/data_config.h"
#include "data/parallel_text.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// The settings that decide which pairs a corpus has.
struct PairChoice {
  const DataConfig& data;
  std::uint64_t seed;  ///< of the pairs that are held out
  /// Sorted likeness_hash() of pairs that are not to be trained on.
  std::span<const std::uint64_t> valid_hashes = {};
};

/// Writes the corpus of the training text, whole or not at all. The bytes are the same for any
/// number of threads. A pair is dropped for the first of these reasons: invalid, empty, a pair of
/// the validation, duplicate, too long, ratio. Throws Error if no pair is left or a line has too
/// many pieces, UsageError if the tokenizer lacks a tag, and PreparationStopped.
void build_corpus(const std::filesystem::path& path, const ParallelText& text,
                  const TokenizerPair& tokenizers, const PairChoice& choice,
                  const WorkContext& context);

/// A corpus in memory, of the pairs of lines that are no longer than data.max_length. line(pair) is
/// the index of the pair's lines. Throws as build_corpus(), but may be empty.
Corpus encode_lines(const std::vector<std::string>& source, const std::vector<std::string>& target,
                    const TokenizerPair& tokenizers, const DataConfig& data,
                    const WorkContext& context);

}  // namespace dragoman
