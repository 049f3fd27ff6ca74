// The pairs that a model was trained on, as a filter of their hashes (Bloom 1970). It takes two and
// a half bytes for each pair. Of pairs that it has not seen it finds one in ten thousand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// The same for pairs that are nearly the same: the letters and digits of both lines, whatever
/// their case, their accents, and the signs and white space between them. Of two lines without
/// letters and digits their text, as folded(). The lines must be valid UTF-8.
std::uint64_t likeness_hash(std::string_view source, std::string_view target);

class HashFilter {
 public:
  /// For so many hashes. With more it finds more that it has not seen.
  explicit HashFilter(std::int64_t hashes);
  /// The filter that bytes() has written. Throws Error that begins with `name` for other bytes.
  HashFilter(std::string_view bytes, const std::string& name);

  /// Returns whether the hash was there.
  bool add(std::uint64_t hash);
  bool contains(std::uint64_t hash) const;
  std::string bytes() const;

 private:
  template <class Visit>
  void for_each_bit(std::uint64_t hash, Visit&& visit) const;

  std::vector<std::uint64_t> words_;
};

}  // namespace dragoman
