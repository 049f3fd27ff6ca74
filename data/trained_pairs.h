// The pairs that a model is trained on: a filter of their hashes, by which a pair is found again,
// and a survey of their text, which counts those that may not be meant for training.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/formatted_text.h"
#include "data/corpus.h"
#include "data/parallel_text.h"

namespace dragoman {

/// Equal for pairs that are nearly the same: their letters and digits are, whatever the case and
/// the accents, and the signs and white space between them. If neither line has letters or digits,
/// the lines count as folded() makes them. The lines must be valid UTF-8.
std::uint64_t likeness_hash(std::string_view source, std::string_view target);

/// The script of letters, by their block. Scripts that one language mixes count as one.
using Script = std::uint8_t;
inline constexpr Script kLatinScript = 1, kGreekScript = 2, kCyrillicScript = 3;
Script script_of(char32_t letter);
/// The script of most letters of a line; 0 if it has fewer than three.
Script script_of(std::string_view line);

/// A set of hashes (Bloom 1970) that takes two and a half bytes for each. It finds one in ten
/// thousand hashes that were never added.
class HashFilter {
 public:
  /// `hashes`: how many will be added. If there are more, it finds more that were never added.
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

/// Pairs of one kind.
struct PairsFound {
  std::int64_t pairs = 0;
  std::vector<std::int64_t> lines = {};  ///< the first of them, kListedLines at most, from 1

  void add(std::int64_t line) {
    ++pairs;
    if (lines.size() < kListedLines) lines.push_back(line);
  }
  bool operator==(const PairsFound&) const = default;
};

struct TextSurvey {
  std::int64_t pairs = 0;  ///< in all
  PairsFound copies = {};  ///< both sides are the same text
  /// Most letters of the side are in another script than those of most of its lines.
  PairsFound other_script_source = {}, other_script_target = {};
  /// The ratio of the sides' characters is more than 2.5 times the usual one, or less than
  /// 1 / 2.5 of it; one side has 20 characters or more.
  PairsFound odd_length = {};
  PairsFound near_copies = {};  ///< an earlier pair has the same likeness_hash()
  /// Among `language_pairs` pairs, evenly spaced, those with a longer line that is certainly in
  /// another language than most of its side (other_language).
  std::int64_t language_pairs = 0;
  PairsFound other_language_source = {}, other_language_target = {};
  /// The side is that of an earlier pair, but the other side is not, nor nearly so.
  PairsFound repeated_source = {}, repeated_target = {};

  bool operator==(const TextSurvey&) const = default;
};

struct SurveyedText {
  TextSurvey survey;
  HashFilter trained;  ///< likeness_hash() of the pairs
};

/// Surveys the corpus' pairs in their text. Throws PreparationStopped.
SurveyedText survey_text(const ParallelText& text, const Corpus& corpus,
                         const WorkContext& context);

/// The two as bytes, with a checksum.
std::string to_bytes(const SurveyedText& surveyed);

/// Throws Error that begins with `name` for other bytes.
SurveyedText surveyed_from_bytes(std::string_view bytes, const std::string& name);

}  // namespace dragoman
