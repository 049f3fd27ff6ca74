#include "extras/markup/aligned_text.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/utf8.h"

namespace dragoman {

namespace {

constexpr double kLeastWeight = 0.05;

std::vector<SourceLink> links_of(const std::vector<float>& attention) {
  std::vector<SourceLink> links;
  double sum = 0;
  for (const float weight : attention) sum += static_cast<double>(weight) * weight;
  for (std::size_t word = 0; word < attention.size(); ++word) {
    const double weight = static_cast<double>(attention[word]) * attention[word] / sum;
    if (weight >= kLeastWeight) links.push_back({word, weight});  // never where sum is 0
  }
  return links;
}

bool overlap(const ByteRange& a, const ByteRange& b) { return a.begin < b.end && b.begin < a.end; }

}  // namespace

std::vector<ByteRange> words_of(std::string_view text) {
  std::vector<ByteRange> words;
  bool in_word = false;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t begin = offset;
    const bool space = is_space(next_code_point(text, offset));
    if (!space && !in_word) words.push_back({begin, begin});
    if (!space) words.back().end = offset;
    in_word = !space;
  }
  return words;
}

AlignedText aligned_text(const TranslatedText& translation) {
  AlignedText aligned{.text = translation.text};
  std::size_t from = 0;
  for (const TranslatedWord& word : translation.words) {
    const std::size_t begin = aligned.text.find(word.text, from);
    if (begin == std::string::npos || word.attention.empty()) continue;
    from = begin + word.text.size();
    aligned.words.push_back({.place = {begin, from}, .links = links_of(word.attention)});
  }
  return aligned;
}

AlignedText through_pivot(const AlignedText& first, AlignedText second) {
  const std::vector<ByteRange> pivots = words_of(first.text);
  for (AlignedWord& word : second.words) {
    std::map<std::size_t, double> weights;
    for (const SourceLink& link : word.links) {
      if (link.source_word >= pivots.size()) continue;
      for (const AlignedWord& pivot : first.words)
        if (overlap(pivot.place, pivots[link.source_word]))
          for (const SourceLink& origin : pivot.links)
            weights[origin.source_word] += link.weight * origin.weight;
    }
    word.links.clear();
    for (const auto& [source_word, weight] : weights)
      if (weight >= kLeastWeight) word.links.push_back({source_word, weight});
  }
  return second;
}

}  // namespace dragoman
