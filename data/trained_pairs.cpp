#include "data/trained_pairs.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/folded_text.h"
#include "base/hash.h"
#include "base/random.h"

namespace dragoman {

namespace {

// 20 bits a hash, and 12 of them looked at: (1 - e^(-12/20))^12 is 6.6e-5.
constexpr std::uint64_t kBits = 20, kBitsOfHash = 12;
constexpr std::string_view kFilterMagic = "dragpair";

/// The upper half of a product: a number from 0 to `end` - 1 for a hash.
std::uint64_t scaled(std::uint64_t hash, std::uint64_t end) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(hash) * end) >> 64);
}

}  // namespace

std::uint64_t likeness_hash(std::string_view source, std::string_view target) {
  const std::string source_text = letters_and_digits(source);
  const std::string target_text = letters_and_digits(target);
  if (source_text.empty() && target_text.empty()) return xxh3(folded(target), xxh3(folded(source)));
  return xxh3(target_text, xxh3(source_text));
}

HashFilter::HashFilter(std::int64_t hashes)
    : words_((static_cast<std::size_t>(std::max<std::int64_t>(hashes, 1)) * kBits + 63) / 64) {}

HashFilter::HashFilter(std::string_view bytes, const std::string& name) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const std::size_t around = kFilterMagic.size() + kWord;
  std::uint64_t checksum = 0;
  const bool is_long = bytes.size() > around && (bytes.size() - around) % kWord == 0;
  if (is_long) std::memcpy(&checksum, bytes.data() + bytes.size() - kWord, kWord);
  if (!is_long || !bytes.starts_with(kFilterMagic) ||
      checksum != xxh3(bytes.substr(0, bytes.size() - kWord)))
    throw Error(name, ": is damaged, or no filter of trained pairs");
  words_.resize((bytes.size() - around) / kWord);
  std::memcpy(words_.data(), bytes.data() + kFilterMagic.size(), words_.size() * kWord);
}

template <class Visit>
void HashFilter::for_each_bit(std::uint64_t hash, Visit&& visit) const {
  const std::uint64_t step = mix64(hash) | 1;
  for (std::uint64_t i = 0; i < kBitsOfHash; ++i) {
    const std::uint64_t bit = scaled(hash + i * step, words_.size() * 64);
    visit(static_cast<std::size_t>(bit / 64), std::uint64_t{1} << (bit % 64));
  }
}

bool HashFilter::add(std::uint64_t hash) {
  bool was_there = true;
  for_each_bit(hash, [&](std::size_t word, std::uint64_t bit) {
    was_there = was_there && (words_[word] & bit) != 0;
    words_[word] |= bit;
  });
  return was_there;
}

bool HashFilter::contains(std::uint64_t hash) const {
  bool is_there = true;
  for_each_bit(hash, [&](std::size_t word, std::uint64_t bit) {
    is_there = is_there && (words_[word] & bit) != 0;
  });
  return is_there;
}

std::string HashFilter::bytes() const {
  std::string bytes(kFilterMagic);
  bytes.append(reinterpret_cast<const char*>(words_.data()), words_.size() * sizeof words_[0]);
  const std::uint64_t checksum = xxh3(bytes);
  return bytes.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
}

}  // namespace dragoman
