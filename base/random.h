// Counter-based random numbers. A draw is a pure function of its keys (seed, update, sentence,
// ...), and does not depend on earlier draws. So it is the same for any number of threads, ranks
// and batches, and after a resume.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace dragoman {

/// SplitMix64's finalizer (Steele, Lea, Flood 2014): a bijection whose every output bit depends on
/// every input bit.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// One 64-bit value for a tuple: random_bits(seed, epoch, sentence, ...).
template <class... Keys>
constexpr std::uint64_t random_bits(std::uint64_t seed, Keys... keys) {
  std::uint64_t state = mix64(seed);
  ((state = mix64(state ^ static_cast<std::uint64_t>(keys))), ...);
  return state;
}

/// Uniform in [0, 1), 53 bits.
constexpr double uniform_of(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

/// A stream of draws with the interface of a standard generator, for code that needs many in a row.
class RandomStream {
 public:
  using result_type = std::uint64_t;
  template <class... Keys>
  explicit constexpr RandomStream(std::uint64_t seed, Keys... keys)
      : key_(random_bits(seed, keys...)) {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }
  constexpr result_type operator()() { return mix64(key_ + 0x632BE59BD9B4E019u * ++draws_); }

  /// Uniform in [0, bound), bound > 0 (multiplication, bias below 2^-32 for bounds below 2^32).
  constexpr std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>((*this)()) * bound >> 64);
  }
  constexpr double uniform() { return uniform_of((*this)()); }
  constexpr bool chance(double probability) { return uniform() < probability; }
  template <class T>
  const T& choice(const std::vector<T>& items) {
    return items[below(items.size())];
  }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t key_;
  std::uint64_t draws_ = 0;
};

}  // namespace dragoman
