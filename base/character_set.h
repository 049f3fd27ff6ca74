// Sets of Unicode characters, for example those of a training text, and the forms in which a
// character may be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// A bit for each code point up to the largest one in the set.
class CharacterSet {
 public:
  void add(char32_t c);
  void add_all(std::string_view text);  ///< valid UTF-8
  void join(const CharacterSet& other);

  bool contains(char32_t c) const {
    const std::size_t word = c / 64;
    return word < words_.size() && (words_[word] >> (c % 64) & 1) != 0;
  }
  bool contains_all(std::string_view text) const;  ///< valid UTF-8
  std::int64_t count() const;
  std::u32string characters() const;  ///< in the order of their code points
  bool operator==(const CharacterSet&) const = default;

  /// Ranges of code points in hexadecimal numbers: "20-7E,E9,4E00-4E0F".
  std::string ranges() const;
  /// Throws Error where the text is not as ranges() writes it.
  static CharacterSet from_ranges(std::string_view text);

 private:
  std::vector<std::uint64_t> words_;  // the last one is not 0
};

/// The characters of the two sides of a training text.
struct SeenCharacters {
  CharacterSet source, target;
  bool operator==(const SeenCharacters&) const = default;
};

/// Unicode's forms of a text (UAX #15): characters and their marks are composed (Nfc) or decomposed
/// (Nfd), or also variants are replaced by the character that they are variants of (Nfkc).
enum class NormalForm { Nfc, Nfd, Nfkc };
/// `text` must be valid UTF-8.
std::string normalised(std::string_view text, NormalForm form);

/// Unicode's canonical combining class; 0 of characters that do not combine.
int combining_class(char32_t code_point);

}  // namespace dragoman
