#include "tokenizer/subword_sampler.h"

#include <algorithm>

#include "base/error.h"
#include "tokenizer/byte_piece.h"
#include "tokenizer/space_mark.h"

namespace dragoman {

SubwordSampler::SubwordSampler(std::shared_ptr<const Tokenizer> tokenizer, double strength)
    : tokenizer_(std::move(tokenizer)), strength_(strength) {
  const TokenizerFacts& facts = tokenizer_->facts();
  bpe_ = facts.type == "bpe";
  if (!bpe_ && facts.type != "unigram")
    throw Error("subword sampling needs a tokenizer of type bpe or unigram, not ", facts.type);
  const std::int64_t size = tokenizer_->size();
  texts_.resize(static_cast<std::size_t>(size));
  bytes_.resize(facts.byte_fallback ? 256 : 0);
  for (TokenId id = 0; id < size; ++id) {
    const std::string piece = tokenizer_->piece(id);
    pieces_.scores.push_back(tokenizer_->score(id));
    std::string& text = texts_[static_cast<std::size_t>(id)];
    switch (facts.kinds[static_cast<std::size_t>(id)]) {
      case PieceKind::Normal:
        text = piece;
        pieces_.trie.add(piece, id);
        pieces_.lowest_score = std::min(pieces_.lowest_score, pieces_.scores.back());
        break;
      case PieceKind::Byte:
        text = static_cast<char>(byte_of_piece(piece).value());
        if (!bytes_.empty()) bytes_[static_cast<unsigned char>(text[0])] = id;
        break;
      default:
        break;
    }
  }
}

std::vector<TokenId> SubwordSampler::sample(std::span<const TokenId> tokens,
                                            std::uint64_t key) const {
  RandomStream random(key);
  std::vector<TokenId> sampled;
  std::string run;
  const auto end_run = [&] {
    append_sample(run, random, sampled);
    run.clear();
  };
  for (std::size_t i = 0; i < tokens.size();) {
    const std::size_t whole = unchanged_tokens(tokens.subspan(i));
    if (whole == 0) {
      run += texts_[static_cast<std::size_t>(tokens[i++])];
      continue;
    }
    end_run();
    sampled.insert(sampled.end(), tokens.begin() + static_cast<std::ptrdiff_t>(i),
                   tokens.begin() + static_cast<std::ptrdiff_t>(i + whole));
    i += whole;
  }
  end_run();
  return sampled;
}

std::size_t SubwordSampler::unchanged_tokens(std::span<const TokenId> tokens) const {
  if (texts_[static_cast<std::size_t>(tokens.front())].empty()) return 1;
  if (tokenizer_->facts().escapes == Escapes::None || tokens.size() < kSpaceMark.size()) return 0;
  for (std::size_t i = 0; i < kSpaceMark.size(); ++i)
    if (tokens[i] != bytes_[static_cast<unsigned char>(kSpaceMark[i])]) return 0;
  return kSpaceMark.size();
}

void SubwordSampler::append_sample(std::string_view text, RandomStream& random,
                                   std::vector<TokenId>& tokens) const {
  for (const std::string_view part : bpe_ ? bpe_with_dropout(pieces_, text, strength_, random)
                                          : unigram_sample(pieces_, text, strength_, random)) {
    if (const auto id = pieces_.trie.find(part))
      tokens.push_back(*id);
    else if (!bytes_.empty())
      for (const char byte : part) tokens.push_back(bytes_[static_cast<unsigned char>(byte)]);
    else
      tokens.push_back(tokenizer_->unk_id());
  }
}

}  // namespace dragoman
