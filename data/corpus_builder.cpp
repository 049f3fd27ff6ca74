#include "data/corpus_builder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/utf8.h"
#include "data/pair_selection.h"
#include "data/trained_pairs.h"
#include "tokenizer/sentence_splitter.h"

namespace dragoman {

namespace {

/// A line is not encoded if it has more bytes than this and more than 64 times --max-length.
constexpr std::int64_t kLongestLine = std::int64_t{1} << 20;
constexpr std::int64_t kMostBytesPerPiece = 64;  ///< 16 characters of 4 bytes

struct EncodedPair {
  enum class State { Encoded, Invalid, TooLong };
  State state = State::Encoded;
  std::int64_t line = 0;
  std::uint64_t hash = 0;
  bool several_sentences = false;  ///< on a side or both
  bool has_empty_side = false;
  std::optional<CopiedKind> copied_kind = {};  ///< of the source
  bool is_copy = false;                        ///< apart from white space around the lines
  bool in_validation = false;                  ///< or nearly so
  enum class Change { None, Space, Text } target_change = Change::None;  ///< by the tokenizer
  std::size_t source_begin = 0, target_begin = 0, end = 0;  ///< in the tokens of the block
  std::string_view source_text = {}, target_text = {};      ///< without a tag
};

struct EncodedBlock {
  std::vector<EncodedPair> pairs;
  std::vector<TokenId> tokens;

  std::span<const TokenId> source(const EncodedPair& pair) const {
    return std::span(tokens).subspan(pair.source_begin, pair.target_begin - pair.source_begin);
  }
  std::span<const TokenId> target(const EncodedPair& pair) const {
    return std::span(tokens).subspan(pair.target_begin, pair.end - pair.target_begin);
  }
};

bool surely_too_long(std::string_view line, std::int64_t max_length) {
  return max_length > 0 &&
         std::ssize(line) > std::max(kLongestLine, kMostBytesPerPiece * max_length);
}

void append_encoded(const Tokenizer& tokenizer, std::string_view line,
                    std::vector<TokenId>& tokens) {
  const std::vector<TokenId> ids = tokenizer.encode(line);
  tokens.insert(tokens.end(), ids.begin(), ids.end());
}

void encode_pair(EncodedBlock& block, std::string_view source, std::string_view target,
                 const TokenizerPair& tokenizers, std::int64_t max_length) {
  EncodedPair& pair = block.pairs.back();
  pair.source_begin = pair.target_begin = pair.end = block.tokens.size();
  if (surely_too_long(source, max_length) || surely_too_long(target, max_length)) {
    pair.state = EncodedPair::State::TooLong;
    return;
  }
  append_encoded(*tokenizers.source, source, block.tokens);
  pair.target_begin = block.tokens.size();
  append_encoded(*tokenizers.target, target, block.tokens);
  pair.end = block.tokens.size();
}

bool is_too_long(const EncodedBlock& block, const EncodedPair& pair, std::int64_t max_length) {
  if (pair.state == EncodedPair::State::TooLong) return true;
  const std::size_t longer = std::max(block.source(pair).size(), block.target(pair).size());
  return max_length > 0 && static_cast<std::int64_t>(longer) > max_length;
}

/// Decides the fate of the encoded pairs, in the order of the text.
class PairFilter {
 public:
  PairFilter(const DataConfig& data, PairSelection& selection, CorpusWriter& writer)
      : data_(data), selection_(selection), writer_(writer) {}

  /// Line numbers of pairs that are held out.
  const std::vector<std::int64_t>& held_out() const { return held_out_; }
  const CorpusReport& report() const { return report_; }
  const SeenCharacters& characters() const { return characters_; }

  void take(const EncodedBlock& block) {
    for (const EncodedPair& pair : block.pairs) take(block, pair);
  }

 private:
  void take(const EncodedBlock& block, const EncodedPair& pair) {
    const auto source = block.source(pair), target = block.target(pair);
    ++report_.read;
    if (pair.state == EncodedPair::State::Invalid) {
      ++report_.invalid;
      return;
    }
    if (pair.has_empty_side && pair.state == EncodedPair::State::Encoded && !data_.keep_empty) {
      ++report_.empty;
      return;
    }
    const Fate fate = selection_.next(pair.line, pair.hash);
    if (pair.in_validation) {
      ++report_.in_validation;
    } else if (fate == Fate::Duplicate) {
      ++report_.duplicates;
    } else if (is_too_long(block, pair, data_.max_length)) {
      ++report_.too_long;
    } else if (!passes_ratio(std::ssize(source), std::ssize(target), data_.max_ratio)) {
      ++report_.ratio;
    } else if (fate == Fate::HoldOut) {
      ++report_.held_out;
      held_out_.push_back(pair.line);
    } else {
      ++report_.kept;
      report_.several_sentences += pair.several_sentences ? 1 : 0;
      if (pair.copied_kind) {
        auto& [pairs, copies] = report_.copy_counts[static_cast<std::size_t>(*pair.copied_kind)];
        ++pairs;
        copies += pair.is_copy ? 1 : 0;
      }
      count_change(pair);
      report_.source_tokens += std::ssize(source);
      report_.target_tokens += std::ssize(target);
      characters_.source.add_all(pair.source_text);
      characters_.target.add_all(pair.target_text);
      writer_.add(pair.line, source, target);
    }
  }

  void count_change(const EncodedPair& pair) {
    using Change = EncodedPair::Change;
    if (pair.target_change == Change::None) return;
    ++report_.changed_targets;
    if (pair.target_change <= shown_change_) return;
    shown_change_ = pair.target_change;
    report_.changed_target = pair.line;
  }

  const DataConfig& data_;
  PairSelection& selection_;
  CorpusWriter& writer_;
  EncodedPair::Change shown_change_ = EncodedPair::Change::None;  ///< of report_.changed_target
  CorpusReport report_;
  SeenCharacters characters_;  ///< of the kept pairs
  std::vector<std::int64_t> held_out_;
};

/// Encodes pairs of the training text, on any thread.
struct BlockEncoder {
  const ParallelText& text;
  const TokenizerPair& tokenizers;
  const SourceTags& tags;
  const PairChoice& choice;

  EncodedBlock encode(std::int64_t first, std::int64_t last) const {
    EncodedBlock block;
    block.pairs.reserve(static_cast<std::size_t>(last - first));
    text.for_each_pair(first, last, [&](std::int64_t line, auto source, auto target) {
      add(block, line, source, target);
    });
    return block;
  }

 private:
  void add(EncodedBlock& block, std::int64_t line, std::string_view source,
           std::string_view target) const {
    EncodedPair& pair = block.pairs.emplace_back();
    pair.line = line;
    if (!text.is_valid(source, target)) {
      pair.state = EncodedPair::State::Invalid;
      return;
    }
    pair.hash = pair_hash(source, target);
    pair.in_validation =
        !choice.valid_hashes.empty() &&
        std::ranges::binary_search(choice.valid_hashes, likeness_hash(source, target));
    pair.source_text = source;
    pair.target_text = target;
    pair.copied_kind = copied_kind(source);
    pair.is_copy = strip(source) == strip(target);
    pair.several_sentences =
        split_sentences(source).size() > 1 || split_sentences(target).size() > 1;
    const std::size_t file = text.file_of(line);
    const std::int64_t max_length = choice.data.max_length;
    encode_pair(block, tags.tagged(file, source), target, tokenizers, max_length);
    const bool has_tag = !tags.tag(file).empty();
    if (has_tag && block.source(pair).size() == tags.pieces(file)) remove_source(block, pair);
    pair.has_empty_side = block.source(pair).empty() || block.target(pair).empty() ||
                          strip(source).empty() || strip(target).empty();
    pair.target_change = change_of(target, block.target(pair));
  }

  /// What the tokenizer changes in a target line. A tokenizer with escapes changes only what its
  /// rule says.
  EncodedPair::Change change_of(std::string_view target, std::span<const TokenId> tokens) const {
    using Change = EncodedPair::Change;
    if (tokenizers.target->facts().escapes != Escapes::None) return Change::None;
    const std::string written = tokenizers.target->decode(tokens);
    if (written == target) return Change::None;
    return differ_in_space_alone(written, target) ? Change::Space : Change::Text;
  }

  /// A tag alone is an empty line.
  static void remove_source(EncodedBlock& block, EncodedPair& pair) {
    const std::size_t pieces = pair.target_begin - pair.source_begin;
    const auto begin = block.tokens.begin() + static_cast<std::ptrdiff_t>(pair.source_begin);
    block.tokens.erase(begin, begin + static_cast<std::ptrdiff_t>(pieces));
    pair.target_begin -= pieces;
    pair.end -= pieces;
  }
};

/// The characters, and what the tokenizer makes of them, because the model has seen that, too: for
/// example the plain letters of full-width ones.
CharacterSet with_normalised(const CharacterSet& characters, const Tokenizer& tokenizer) {
  CharacterSet all = characters;
  for (const char32_t c : characters.characters())
    all.add_all(tokenizer.decode(tokenizer.encode(to_utf8({&c, 1}))));
  return all;
}

std::int64_t larger_vocabulary(const TokenizerPair& tokenizers) {
  return std::max(tokenizers.source->size(), tokenizers.target->size());
}

std::string nothing_left(const CorpusReport& report) {
  return join_text(
      "no pair of the training text is left to train on: ", counted(report.read, "pair"), " read, ",
      report.empty, " with an empty side, ", report.invalid, " invalid, ",
      counted(report.duplicates, "duplicate"), ", ", report.too_long, " longer than --max-length, ",
      report.ratio, " above --max-ratio, ", report.held_out, " held out for validation, ",
      report.in_validation, " in the validation text");
}

}  // namespace

void build_corpus(const std::filesystem::path& path, const ParallelText& text,
                  const TokenizerPair& tokenizers, const PairChoice& choice,
                  const WorkContext& context) {
  const DataConfig& data = choice.data;
  WorkContext quiet = context;
  quiet.report = [](std::int64_t, std::int64_t) {};
  PairSelection selection(text, data, choice.seed, quiet, {.folder = path.parent_path()});
  const SourceTags tags(data, *tokenizers.source);
  const BlockEncoder encoder{text, tokenizers, tags, choice};
  AtomicFile file(path, Links::Replace);
  CorpusWriter writer([&file](std::string_view bytes) { file.write(bytes); },
                      larger_vocabulary(tokenizers));
  PairFilter filter(data, selection, writer);
  for_each_block(
      text.pairs(), context,
      [&](std::int64_t first, std::int64_t last) { return encoder.encode(first, last); },
      [&](const EncodedBlock& block) { filter.take(block); });
  if (filter.report().kept == 0) throw Error(nothing_left(filter.report()));

  CorpusFacts facts{
      .report = filter.report(),
      .characters = {.source = with_normalised(filter.characters().source, *tokenizers.source),
                     .target = with_normalised(filter.characters().target, *tokenizers.target)}};
  for (const std::int64_t line : filter.held_out())
    text.for_each_pair(line, line + 1,
                       [&](std::int64_t pair, std::string_view source, std::string_view target) {
                         facts.held_out_source.push_back(tags.tagged(text.file_of(pair), source));
                         facts.held_out_target.emplace_back(target);
                         facts.held_out_lines.push_back(pair + 1);
                       });
  writer.finish(facts);
  file.commit();
}

Corpus encode_lines(const std::vector<std::string>& source, const std::vector<std::string>& target,
                    const TokenizerPair& tokenizers, const DataConfig& data,
                    const WorkContext& context) {
  std::string bytes;
  CorpusWriter writer([&bytes](std::string_view part) { bytes += part; },
                      larger_vocabulary(tokenizers));
  const auto pairs = std::ssize(source);
  for_each_block(
      pairs, context,
      [&](std::int64_t first, std::int64_t last) {
        EncodedBlock block;
        for (std::int64_t i = first; i < last; ++i) {
          block.pairs.emplace_back().line = i;
          const auto index = static_cast<std::size_t>(i);
          encode_pair(block, source[index], target[index], tokenizers, data.max_length);
        }
        return block;
      },
      [&](const EncodedBlock& block) {
        for (const EncodedPair& pair : block.pairs)
          if (!is_too_long(block, pair, data.max_length))
            writer.add(pair.line, block.source(pair), block.target(pair));
      });
  writer.finish({});
  return Corpus(Corpus::Storage::from_bytes(std::move(bytes)));
}

}  // namespace dragoman
