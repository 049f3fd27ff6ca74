#include "data/word_alignment.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace dragoman {

namespace {

constexpr std::string_view kWhitespace = " \t\v\f\r";

bool contains(const WordRange& words, std::int64_t word) {
  const auto number = static_cast<std::size_t>(word);
  return words.first <= number && number < words.last;
}

WordLink parse_link(std::string_view text) {
  WordLink link{};
  const char* end = text.data() + text.size();
  const auto source = std::from_chars(text.data(), end, link.source);
  const bool dash = source.ec == std::errc() && source.ptr != end && *source.ptr == '-';
  const auto target = dash ? std::from_chars(source.ptr + 1, end, link.target) : source;
  if (!dash || target.ec != std::errc() || target.ptr != end || link.source < 0 || link.target < 0)
    throw Error("'", text, "' is not a pair of word numbers like 0-2");
  return link;
}

}  // namespace

std::vector<WordPlace> word_places(std::string_view line) {
  std::vector<WordPlace> words;
  for (std::size_t begin = line.find_first_not_of(kWhitespace); begin < line.size();) {
    const std::size_t end = std::min(line.find_first_of(kWhitespace, begin), line.size());
    words.push_back({begin, end});
    begin = line.find_first_not_of(kWhitespace, end);
  }
  return words;
}

std::vector<WordLink> parse_links(std::string_view line) {
  std::vector<WordLink> links;
  for (const WordPlace& word : word_places(line))
    links.push_back(parse_link(line.substr(word.begin, word.end - word.begin)));
  return links;
}

std::vector<WordRange> words_of_pieces(std::span<const PieceSpan> pieces, std::string_view line) {
  const std::vector<WordPlace> words = word_places(line);
  std::vector<WordRange> ranges;
  std::size_t first = 0;  // the first word that does not end before the current piece
  for (const PieceSpan& piece : pieces) {
    while (first < words.size() && words[first].end <= piece.begin) ++first;
    std::size_t last = first;
    while (last < words.size() && words[last].begin < piece.end) ++last;
    const std::size_t next = std::min(first + 1, words.size());
    ranges.push_back({first, std::max(last, next)});
  }
  return ranges;
}

std::vector<PieceLink> piece_links(std::span<const WordLink> links,
                                   std::span<const WordRange> source,
                                   std::span<const WordRange> target) {
  std::vector<PieceLink> result;
  for (std::size_t t = 0; t < target.size(); ++t) {
    const std::size_t begin = result.size();
    for (std::size_t s = 0; s < source.size(); ++s) {
      const bool linked = std::any_of(links.begin(), links.end(), [&](const WordLink& link) {
        return contains(target[t], link.target) && contains(source[s], link.source);
      });
      if (linked) result.push_back({static_cast<std::int32_t>(s), static_cast<std::int32_t>(t), 1});
    }
    const auto count = static_cast<float>(result.size() - begin);
    for (std::size_t i = begin; i < result.size(); ++i) result[i].weight = 1 / count;
  }
  return result;
}

}  // namespace dragoman
