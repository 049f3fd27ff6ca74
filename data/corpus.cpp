#include "data/corpus.h"

#include "data/corpus_file.h"

namespace dragoman {

namespace {
constexpr std::size_t kSourceSide = 0, kTargetSide = 1;
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
  std::int64_t begin = 0, end = pairs();
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    if (this->line(middle) < line)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

}  // namespace dragoman
