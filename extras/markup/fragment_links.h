// Links between the fragments of a translation and those of its source.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "extras/markup/aligned_text.h"
#include "extras/markup/byte_range.h"
#include "extras/markup/word_fragments.h"

namespace dragoman {

class FragmentLinks {
 public:
  /// Offsets, ascending, at which a fragment ends besides.
  struct Cuts {
    std::vector<std::size_t> source, target;
  };

  /// Within linked words, equal fragments belong together most, then letters with letters. A sign
  /// without a counterpart has no link. Where `translation` has no words, place i of n goes to
  /// place i of n. Both texts must outlive the links.
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
  /// outside is the largest. Where no sum is above 0, it is the one fragment of most weight inside.
  /// Nothing where there is none.
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
  std::vector<std::vector<Link>> targets_;  // of each source fragment, in their order
  std::vector<double> weights_;             // of each target fragment, over all its links
};

}  // namespace dragoman
