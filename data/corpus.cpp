#include "data/corpus.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <ranges>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/threads.h"

namespace dragoman {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CopyCount, pairs, copies);
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CorpusReport, read, kept, held_out, invalid, empty,
                                   in_validation, duplicates, too_long, ratio, several_sentences,
                                   changed_targets, changed_target, copy_counts, source_tokens,
                                   target_tokens);

namespace {

static_assert(std::endian::native == std::endian::little, "the corpus file is little-endian");

constexpr std::size_t kSourceSide = 0, kTargetSide = 1;

constexpr std::size_t kPairsPerStoredBlock = 1024;
constexpr std::size_t kStretchBytes = std::size_t{1} << 20;  ///< hashed by itself, on any thread

constexpr std::array<char, 8> kMagic = {'d', 'r', 'a', 'g', 'c', 'o', 'r', '1'};

struct Trailer {
  std::array<char, 8> magic = kMagic;
  std::uint64_t pairs = 0, table = 0, json = 0, json_size = 0;
  std::uint64_t wide = 0;              ///< 0: tokens are uint16, 1: uint32
  std::uint64_t checksum_of_rest = 0;  ///< of the hashes of kStretchBytes each before the trailer
  std::uint64_t checksum_of_trailer = 0;  ///< of the fields above
};

std::uint64_t checksum(const Trailer& trailer) {
  return xxh3(&trailer, offsetof(Trailer, checksum_of_trailer));
}

std::uint64_t checksum(const std::vector<std::uint64_t>& stretch_hashes) {
  return xxh3(stretch_hashes.data(), stretch_hashes.size() * sizeof(std::uint64_t));
}

std::string json_of(const CorpusFacts& facts) {
  return json_text(nlohmann::json{{"report", facts.report},
                                  {"held_out_source", facts.held_out_source},
                                  {"held_out_target", facts.held_out_target},
                                  {"held_out_lines", facts.held_out_lines},
                                  {"source_characters", facts.characters.source.ranges()},
                                  {"target_characters", facts.characters.target.ranges()}});
}

CorpusFacts facts_of(std::string_view text) {
  const auto json = parse_json(text);
  const auto lines = [&](const char* name) {
    return json.at(name).get<std::vector<std::string>>();
  };
  const auto characters = [&](const char* name) {
    return CharacterSet::from_ranges(json.at(name).get<std::string>());
  };
  return {.report = json.at("report").get<CorpusReport>(),
          .held_out_source = lines("held_out_source"),
          .held_out_target = lines("held_out_target"),
          .held_out_lines = json.at("held_out_lines").get<std::vector<std::int64_t>>(),
          .characters = {.source = characters("source_characters"),
                         .target = characters("target_characters")}};
}

}  // namespace

CorpusWriter::CorpusWriter(Sink sink, std::int64_t vocab_size)
    : sink_(std::move(sink)), wide_(vocab_size > std::int64_t{1} << 16) {}

void CorpusWriter::write(const void* bytes, std::size_t size) {
  const char* next = static_cast<const char*>(bytes);
  size_ += size;
  while (size > 0) {
    const std::size_t taken = std::min(size, kStretchBytes - stretch_.size());
    stretch_.append(next, taken);
    next += taken;
    size -= taken;
    if (stretch_.size() == kStretchBytes) pass_on_stretch();
  }
}

void CorpusWriter::pass_on_stretch() {
  stretch_hashes_.push_back(xxh3(stretch_));
  sink_(stretch_);
  stretch_.clear();
}

void CorpusWriter::add(std::int64_t line, std::span<const TokenId> source,
                       std::span<const TokenId> target) {
  if (lines_.empty()) table_.push_back({.offset = size_, .first_line = line});
  for (const auto side : {source, target}) {
    tokens_.insert(tokens_.end(), side.begin(), side.end());
    if (tokens_.size() > std::numeric_limits<std::uint32_t>::max())
      throw Error("the training text has lines of too many pieces near line ", line + 1,
                  ": limit them with --max-length");
    starts_.push_back(static_cast<std::uint32_t>(tokens_.size()));
  }
  const std::int64_t in_block = line - table_.back().first_line;
  if (in_block > std::numeric_limits<std::uint32_t>::max())
    throw Error("more than four billion lines without a usable pair, up to line ", line + 1);
  lines_.push_back(static_cast<std::uint32_t>(in_block));
  ++pairs_;
  if (lines_.size() == kPairsPerStoredBlock) write_block();
}

void CorpusWriter::write_block() {
  write(starts_.data(), starts_.size() * sizeof starts_[0]);
  write(lines_.data(), lines_.size() * sizeof lines_[0]);
  if (wide_) {
    write(tokens_.data(), tokens_.size() * sizeof tokens_[0]);
  } else {
    const std::vector<std::uint16_t> narrow(tokens_.begin(), tokens_.end());
    write(narrow.data(), narrow.size() * sizeof narrow[0]);
  }
  constexpr char kPadding[8] = {};
  write(kPadding, (8 - size_ % 8) % 8);
  starts_.assign(1, 0);
  lines_.clear();
  tokens_.clear();
}

void CorpusWriter::finish(const CorpusFacts& facts) {
  if (!lines_.empty()) write_block();
  Trailer trailer{.pairs = pairs_, .table = size_, .wide = wide_};
  write(table_.data(), table_.size() * sizeof table_[0]);
  const std::string json = json_of(facts);
  trailer.json = size_;
  trailer.json_size = json.size();
  write(json.data(), json.size());
  pass_on_stretch();
  trailer.checksum_of_rest = checksum(stretch_hashes_);
  trailer.checksum_of_trailer = checksum(trailer);
  sink_({reinterpret_cast<const char*>(&trailer), sizeof trailer});
}

std::shared_ptr<const Corpus::Storage> Corpus::Storage::open(const std::filesystem::path& path,
                                                             int threads) {
  std::shared_ptr<Storage> storage(new Storage);
  storage->file_ = MappedFile(path);
  storage->bytes_ = storage->file_.bytes();
  storage->check(path.string(), threads);
  return storage;
}

std::shared_ptr<const Corpus::Storage> Corpus::Storage::from_bytes(std::string bytes) {
  std::shared_ptr<Storage> storage(new Storage);
  storage->memory_ = std::move(bytes);
  storage->bytes_ = storage->memory_;
  storage->check("corpus in memory", 1);
  return storage;
}

void Corpus::Storage::check(const std::string& name, int threads) {
  Trailer trailer;
  if (bytes_.size() < sizeof trailer) throw Error(name, ": is cut short");
  const std::string_view rest = bytes_.substr(0, bytes_.size() - sizeof trailer);
  std::memcpy(&trailer, bytes_.data() + rest.size(), sizeof trailer);
  if (trailer.magic != kMagic || trailer.checksum_of_trailer != checksum(trailer))
    throw Error(name, ": is cut short or its end is damaged");
  // An empty last stretch is hashed too, as the writer does.
  std::vector<std::uint64_t> hashes(rest.size() / kStretchBytes + 1);
  parallel_for(std::ssize(hashes), threads, [&](std::int64_t i) {
    const auto stretch = static_cast<std::size_t>(i);
    hashes[stretch] = xxh3(rest.substr(stretch * kStretchBytes, kStretchBytes));
  });
  if (trailer.checksum_of_rest != checksum(hashes))
    throw Error(name, ": is damaged (checksum mismatch)");
  pairs_ = static_cast<std::int64_t>(trailer.pairs);
  wide_ = trailer.wide != 0;
  table_ = trailer.table;
  facts_ = facts_of(rest.substr(trailer.json, trailer.json_size));
}

Corpus::Storage::Block Corpus::Storage::block_of(std::int64_t pair) const {
  const std::size_t block = static_cast<std::size_t>(pair) / kPairsPerStoredBlock;
  const auto& entry = reinterpret_cast<const BlockEntry*>(bytes_.data() + table_)[block];
  const std::size_t pairs = std::min(
      kPairsPerStoredBlock, static_cast<std::size_t>(pairs_) - block * kPairsPerStoredBlock);
  const auto* starts = reinterpret_cast<const std::uint32_t*>(bytes_.data() + entry.offset);
  const std::uint32_t* lines = starts + 2 * pairs + 1;
  return {.starts = starts,
          .lines = lines,
          .tokens = reinterpret_cast<const char*>(lines + pairs),
          .first_line = entry.first_line,
          .pair = static_cast<std::size_t>(pair) % kPairsPerStoredBlock};
}

void Corpus::Storage::append(const Block& block, std::size_t side,
                             std::vector<TokenId>& tokens) const {
  const std::uint32_t begin = block.starts[2 * block.pair + side];
  const std::uint32_t end = block.starts[2 * block.pair + side + 1];
  if (wide_) {
    const auto* wide = reinterpret_cast<const std::uint32_t*>(block.tokens);
    tokens.insert(tokens.end(), wide + begin, wide + end);
  } else {
    const auto* narrow = reinterpret_cast<const std::uint16_t*>(block.tokens);
    tokens.insert(tokens.end(), narrow + begin, narrow + end);
  }
}

Corpus::Corpus() = default;
Corpus::Corpus(std::shared_ptr<const Storage> storage) : storage_(std::move(storage)) {}

std::int64_t Corpus::pairs() const { return storage_ ? storage_->pairs_ : 0; }

PairLengths Corpus::lengths(std::int64_t pair) const {
  const auto block = storage_->block_of(pair);
  const std::uint32_t* starts = block.starts + 2 * block.pair;
  return {.source = static_cast<std::int32_t>(starts[1] - starts[0]),
          .target = static_cast<std::int32_t>(starts[2] - starts[1])};
}

std::vector<TokenId> Corpus::source(std::int64_t pair) const {
  std::vector<TokenId> tokens;
  append_source(pair, tokens);
  return tokens;
}

std::vector<TokenId> Corpus::target(std::int64_t pair) const {
  std::vector<TokenId> tokens;
  append_target(pair, tokens);
  return tokens;
}

void Corpus::append_source(std::int64_t pair, std::vector<TokenId>& tokens) const {
  storage_->append(storage_->block_of(pair), kSourceSide, tokens);
}

void Corpus::append_target(std::int64_t pair, std::vector<TokenId>& tokens) const {
  storage_->append(storage_->block_of(pair), kTargetSide, tokens);
}

std::int64_t Corpus::line(std::int64_t pair) const {
  const auto block = storage_->block_of(pair);
  return block.first_line + block.lines[block.pair];
}

std::int64_t Corpus::first_pair_from(std::int64_t line) const {
  const auto all = std::views::iota(std::int64_t{0}, pairs());
  return std::ranges::partition_point(all, [&](std::int64_t p) { return this->line(p) < line; }) -
         all.begin();
}

}  // namespace dragoman
