// Unicode's normal forms of a text (UAX #15), forms for comparisons, and sets of characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

// ---- forms; all texts must be valid UTF-8 ----

/// Characters and their marks are composed (Nfc) or decomposed (Nfd). Nfkc is Nfc with each variant
/// replaced by the character that it is a variant of.
enum class NormalForm { Nfc, Nfd, Nfkc };
std::string normalised(std::string_view text, NormalForm form);

/// The text for comparisons: in NFKC and without case; each run of white space is one space, and
/// there is none at the ends.
std::string folded(std::string_view text);
/// The letters and digits of the text alone, in NFKC, without case and accents.
std::string letters_and_digits(std::string_view text);

// ---- characters ----

/// Unicode's canonical combining class; 0 for characters that do not combine.
int combining_class(char32_t code_point);

/// The code point as Unicode writes it after "U+", but without leading zeros: "41", "20AC".
std::string hexadecimal(char32_t code_point);

/// A set of characters, for example those of a training text: a bit for each code point up to the
/// largest one in the set.
class CharacterSet {
 public:
  void add(char32_t c);
  void add_all(std::string_view text);  ///< valid UTF-8
  void join(const CharacterSet& other);
  void intersect(const CharacterSet& other);

  bool contains(char32_t c) const {
    const std::size_t word = c / 64;
    return word < words_.size() && (words_[word] >> (c % 64) & 1) != 0;
  }
  bool contains_all(std::string_view text) const;  ///< valid UTF-8
  std::int64_t count() const;
  std::u32string characters() const;  ///< in the order of their code points
  bool operator==(const CharacterSet&) const = default;

  /// Ranges of code points in hexadecimal: "20-7E,E9,4E00-4E0F".
  std::string ranges() const;
  /// Throws Error if the text is not as ranges() writes it.
  static CharacterSet from_ranges(std::string_view text);

 private:
  std::vector<std::uint64_t> words_;  // the last one is not 0
};

/// The characters of the two sides of a training text.
struct SeenCharacters {
  CharacterSet source, target;
  bool operator==(const SeenCharacters&) const = default;
};

}  // namespace dragoman
