// Words in fragments, between which tags may stand, and the links between the fragments of a
// translation and those of its source.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "extras/markup/document.h"

namespace dragoman {

/// Letters, digits, or a sign: "(Haus)," has the fragments "(", "Haus", ")" and ",".
struct WordFragment {
  ByteRange place;   ///< in the text
  std::size_t word;  ///< its number among the words
  bool has_letters;  ///< letters, digits and marks; otherwise signs
};

/// A sign is a fragment by itself. So is a character of a script without spaces, such as Chinese. A
/// word has up to 32 fragments. `words` and `cuts` are in order; at each of `cuts`, an offset, a
/// fragment ends. The text is valid UTF-8.
std::vector<WordFragment> fragments_of(std::string_view text, std::span<const ByteRange> words,
                                       std::span<const std::size_t> cuts = {});

class FragmentLinks {
 public:
  /// Further offsets at which a fragment ends, ascending.
  struct Cuts {
    std::vector<std::size_t> source, target;
  };

  /// Within linked words, equal fragments belong together most, then letters with letters. A sign
  /// without a counterpart has no link. If `translation` has no words, words are linked by their
  /// places in the texts. Both texts must outlive the links.
  FragmentLinks(std::string_view source, const AlignedText& translation, const Cuts& cuts);

  const std::vector<WordFragment>& source() const { return source_; }
  const std::vector<WordFragment>& target() const { return target_; }

  /// Fragments of the target, [begin, end).
  struct Stretch {
    std::size_t begin, end;
    double gain;  ///< how well it fits
  };
  /// The stretch that translates the bytes `text` of the source best, among the fragments whose
  /// owner is `owner`: the sum over its fragments of the weight inside `text` less the weight
  /// outside is the largest. If no sum is above 0, it is the one fragment with the most weight
  /// inside. Nothing if there is none.
  std::optional<Stretch> best_stretch(const ByteRange& text, const std::vector<std::size_t>& owners,
                                      std::size_t owner) const;

  /// The target's fragment with the strongest link to a fragment of the source.
  std::optional<std::size_t> best_target(std::size_t source_fragment) const;

 private:
  struct Link {
    std::size_t fragment;
    double weight;
  };
  void link(std::size_t target_fragment, const SourceLink& word);
  double affinity(const WordFragment& target, const WordFragment& source) const;

  std::string_view source_text_, target_text_;
  std::vector<WordFragment> source_, target_;
  std::vector<std::size_t> first_of_word_;  // of source_, and its size at the end
  std::vector<std::vector<Link>> targets_;  // of each source fragment, in order
  std::vector<double> weights_;             // of each target fragment, over all its links
};

/// Finds a text in another one where fragments begin.
class FragmentSearch {
 public:
  /// Searches only at `places`: numbers of fragments of `text`. Both must outlive the search.
  FragmentSearch(std::string_view text, const std::vector<WordFragment>& fragments,
                 std::vector<std::size_t> places);

  /// All places at which `wanted` occurs, ascending. Takes the time of a few comparisons and of
  /// sorting the places that begin with the first kCompared bytes of `wanted`.
  std::vector<std::size_t> places_of(std::string_view wanted) const;

  static constexpr std::size_t kCompared = 256;

 private:
  /// At most `size` bytes.
  std::string_view text_at(std::size_t place, std::size_t size) const;

  const std::string_view text_;
  const std::vector<WordFragment>& fragments_;
  std::vector<std::size_t> sorted_;  // by the first kCompared bytes of their text
};

}  // namespace dragoman
