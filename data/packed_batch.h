// A batch without padding: the tokens of all sentences side by side, and the start of each
// sentence. Then views of a batch, the parts and shares that it is cut into, and the shapes that it
// is filled up to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace dragoman {

/// One side of a batch: B sentences, N tokens.
struct PackedSide {
  std::vector<TokenId> tokens;       ///< [N]
  std::vector<std::int32_t> starts;  ///< [B+1]; sentence b is tokens[starts[b]..starts[b+1])

  std::int64_t size() const { return std::ssize(tokens); }
  std::int64_t sentences() const { return std::ssize(starts) - 1; }
};

/// A target piece that should attend to a source piece, by their positions in the sentence. The
/// weights of the links of a target piece sum to 1.
struct PieceLink {
  std::int32_t source, target;
  float weight;
};

/// The size of one side of a batch.
struct SideShape {
  std::int64_t rows = 0;     ///< tokens
  std::int64_t longest = 0;  ///< tokens of the longest sentence

  bool operator==(const SideShape&) const = default;
};

struct BatchShape {
  std::int64_t sentences = 0;
  SideShape source = {}, target = {};

  bool operator==(const BatchShape&) const = default;
};

struct PackedBatch {
  PackedSide source;  ///< each sentence ends with </s>, unless the model's sources have none
  PackedSide target;  ///< each sentence ends with </s>; the decoder's input is this shifted by one
  std::vector<std::int64_t> sentences;             ///< [B] numbers of the sentences in the corpus
  std::vector<std::vector<PieceLink>> links = {};  ///< [B] with --guided-alignment, else empty
  /// The shape of all batches of the run (data/epoch_plan.h); of 0 sentences if they have none.
  BatchShape capacity = {};
};

/// One side of some sentences of a batch, without a copy: B sentences, N tokens.
struct SideView {
  SideView(const PackedSide& side) : tokens(side.tokens), starts(side.starts) {}
  /// The sentences [begin, end) of a view.
  SideView(const SideView& side, std::size_t begin, std::size_t end)
      : tokens(
            side.tokens.subspan(static_cast<std::size_t>(side.starts[begin] - side.starts[0]),
                                static_cast<std::size_t>(side.starts[end] - side.starts[begin]))),
        starts(side.starts.subspan(begin, end - begin + 1)) {}

  std::int64_t size() const { return std::ssize(tokens); }

  std::span<const TokenId> tokens;  ///< [N]
  /// [B+1] as in PackedSide, counted from the batch's first token: sentence b is
  /// tokens[starts[b] - starts[0]..starts[b+1] - starts[0]).
  std::span<const std::int32_t> starts;
};

/// Some sentences of a batch. Valid as long as the batch.
struct BatchView {
  BatchView(const PackedBatch& batch)
      : source(batch.source),
        target(batch.target),
        sentences(batch.sentences),
        links(batch.links),
        capacity(batch.capacity) {}
  /// The sentences [begin, end) of a view.
  BatchView(const BatchView& batch, std::size_t begin, std::size_t end)
      : source(batch.source, begin, end),
        target(batch.target, begin, end),
        sentences(batch.sentences.subspan(begin, end - begin)),
        links(batch.links.empty() ? batch.links : batch.links.subspan(begin, end - begin)),
        capacity(end - begin == batch.sentences.size() ? batch.capacity : BatchShape{}) {}

  /// The number of tokens of the larger side, which a budget bounds.
  std::int64_t largest_side() const { return std::max(source.size(), target.size()); }

  SideView source, target;
  std::span<const std::int64_t> sentences;        ///< [B]
  std::span<const std::vector<PieceLink>> links;  ///< [B] with --guided-alignment, else empty
  BatchShape capacity = {};                       ///< a whole batch's, as in PackedBatch
};

/// A part of a batch that fits into memory, in shares for threads that work side by side.
struct BatchPart {
  BatchView whole;
  std::vector<BatchView> shares;  ///< make up the whole
};

struct PartitionConfig {
  std::int64_t part_tokens = 0;  ///< the most of a part's larger side; 0: the batch is one part
  std::int64_t threads = 1;      ///< the most shares of a part
};

/// The parts of a batch, to be computed one after the other. The batch is halved by sentences again
/// and again, until no part of more than one sentence has more than part_tokens. The shares of a
/// part have about the same number of tokens, both sides together, and at least some hundreds.
/// Gradients are sums over sentences, so the update is the same for any partition. Parts and shares
/// are views: no token moves.
std::vector<BatchPart> partition(const PackedBatch& batch, const PartitionConfig& config);

/// What `sentences` and `longest` of a shape cost.
enum class ShapeUse {
  /// Attention pads each sentence to the longest one. Both numbers are rounded to one of eight
  /// between a power of two and the next.
  Padded,
  /// Attention without padding: both cost next to nothing. `sentences` is a power of two, and
  /// `longest` a multiple of 128. An epoch then has some dozens of shapes.
  Packed
};

/// The size to fill a batch up to, so that batches of about the same size have the same shape. A
/// GPU's work is recorded once for each shape (a CUDA graph), and the memory of an earlier shape is
/// found again at once. Rows are rounded to one of eight numbers between a power of two and the
/// next. `longest` bounds the filler sentences of filled(), too. It is at most `longest_allowed` if
/// no sentence is longer.
BatchShape shape_for(const BatchView& batch, ShapeUse use,
                     std::int64_t longest_allowed = std::numeric_limits<std::int64_t>::max());

/// The batch's capacity, with sentences of at most `longest_allowed` tokens. Nothing if it has
/// none, or if batch and filler sentences do not fit into it.
std::optional<BatchShape> capacity_for(const BatchView& batch, std::int64_t longest_allowed);

/// The batch, and after it filler sentences that make it as large as the shape. Their tokens are
/// -1, which stands for the zero vector and for no target. So they add nothing to a loss or a
/// gradient. Their number in the corpus is -1. Each has tokens on both sides, or on neither.
PackedBatch filled(const BatchView& batch, const BatchShape& shape);

/// Random sentences, to measure the time and memory of updates before there is any text.
struct RandomText {
  std::int64_t vocabulary;  ///< of both sides; ids below 3 do not occur
  std::int64_t length;      ///< tokens of a sentence
  std::int64_t spread;      ///< sentences have up to this many tokens more or less; below `length`
  std::int64_t batch_tokens;  ///< most tokens of either side of a batch
};

/// The batch is a function of seed and number.
PackedBatch random_batch(const RandomText& text, std::uint64_t seed, std::uint64_t number);

}  // namespace dragoman
