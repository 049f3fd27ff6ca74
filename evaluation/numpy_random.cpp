#include "evaluation/numpy_random.h"

#include <array>
#include <bit>

namespace dragoman {

namespace {

constexpr unsigned __int128 kMultiplier =
    (static_cast<unsigned __int128>(0x2360ED051FC65DA4) << 64) | 0x4385DF649FCCF645;

/// numpy's SeedSequence(seed).generate_state(4, uint64).
std::array<std::uint64_t, 4> seed_state(std::uint32_t seed) {
  std::uint32_t constant = 0x43B0D7E5;
  const auto hash = [&constant](std::uint32_t value) {
    value ^= constant;
    constant *= 0x931E8875;
    value *= constant;
    return value ^ (value >> 16);
  };
  const auto mix = [](std::uint32_t x, std::uint32_t y) {
    const std::uint32_t result = 0xCA01F9DD * x - 0x4973F715 * y;
    return result ^ (result >> 16);
  };
  std::array<std::uint32_t, 4> pool = {hash(seed), hash(0), hash(0), hash(0)};
  for (std::size_t from = 0; from < pool.size(); ++from)
    for (std::size_t to = 0; to < pool.size(); ++to)
      if (from != to) pool[to] = mix(pool[to], hash(pool[from]));

  std::array<std::uint64_t, 4> state{};
  constant = 0x8B51F9DD;
  for (std::size_t i = 0; i < 2 * state.size(); ++i) {
    std::uint32_t value = pool[i % pool.size()] ^ constant;
    constant *= 0x58F38DED;
    value *= constant;
    value ^= value >> 16;
    state[i / 2] |= static_cast<std::uint64_t>(value) << (32 * (i % 2));
  }
  return state;
}

unsigned __int128 joined(std::uint64_t high, std::uint64_t low) {
  return (static_cast<unsigned __int128>(high) << 64) | low;
}

}  // namespace

NumpyRandom::NumpyRandom(std::uint32_t seed) {
  const auto words = seed_state(seed);
  increment_ = (joined(words[2], words[3]) << 1) | 1;
  state_ = (increment_ + joined(words[0], words[1])) * kMultiplier + increment_;
}

std::uint64_t NumpyRandom::next64() {
  state_ = state_ * kMultiplier + increment_;
  const auto folded = static_cast<std::uint64_t>(state_ >> 64) ^ static_cast<std::uint64_t>(state_);
  return std::rotr(folded, static_cast<int>(state_ >> 122));
}

std::uint32_t NumpyRandom::next32() {
  has_upper_half_ = !has_upper_half_;
  if (!has_upper_half_) return upper_half_;
  const std::uint64_t both = next64();
  upper_half_ = static_cast<std::uint32_t>(both >> 32);
  return static_cast<std::uint32_t>(both);
}

std::uint32_t NumpyRandom::below(std::uint32_t count) {
  if (count == 1) return 0;  // draws no number
  std::uint64_t product = static_cast<std::uint64_t>(next32()) * count;
  if (static_cast<std::uint32_t>(product) < count) {
    const std::uint32_t threshold = (0xFFFFFFFF - (count - 1)) % count;
    while (static_cast<std::uint32_t>(product) < threshold)
      product = static_cast<std::uint64_t>(next32()) * count;
  }
  return static_cast<std::uint32_t>(product >> 32);
}

}  // namespace dragoman
