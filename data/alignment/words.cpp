#include "data/alignment/words.h"

#include <algorithm>

#include "base/unicode.h"

namespace dragoman {

namespace {

constexpr std::string_view kWhitespace = " \t\v\f\r";

/// The runs of letters and digits, and the characters of scripts without spaces between words;
/// if there are none, all characters but spaces.
std::vector<std::string_view> parts_of(std::string_view word) {
  std::vector<std::string_view> parts, others;
  bool is_in_run = false;
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(word, at);
    const std::string_view character = word.substr(begin, at - begin);
    const bool belongs = is_word_character(c);
    if (belongs && is_in_run)
      parts.back() = {parts.back().data(), parts.back().size() + character.size()};
    else if (belongs || (is_unspaced(c) && general_category(c)[0] == 'L'))
      parts.push_back(character);
    else if (!is_space(c))
      others.push_back(character);
    is_in_run = belongs;
  }
  return parts.empty() ? others : parts;
}

/// `id_of` gives the number of a part.
template <class IdOf>
NumberedLine numbered(std::string_view line, IdOf&& id_of) {
  NumberedLine result;
  std::uint32_t number = 0;
  for (const ByteRange& place : word_places(line)) {
    const std::string word = folded(place.of(line));
    for (const std::string_view part : parts_of(word)) {
      result.ids.push_back(id_of(part));
      result.words.push_back(number);
    }
    ++number;
  }
  return result;
}

}  // namespace

std::vector<ByteRange> word_places(std::string_view line) {
  std::vector<ByteRange> words;
  for (std::size_t begin = line.find_first_not_of(kWhitespace); begin < line.size();) {
    const std::size_t end = std::min(line.find_first_of(kWhitespace, begin), line.size());
    words.push_back({begin, end});
    begin = line.find_first_not_of(kWhitespace, end);
  }
  return words;
}

NumberedLine WordNumbers::add(std::string_view line) {
  return numbered(line, [this](std::string_view part) {
    if (const auto found = ids_.find(part); found != ids_.end()) return found->second;
    const auto id = static_cast<WordId>(texts_.size());
    texts_.push_back(&ids_.emplace(part, id).first->first);
    return id;
  });
}

NumberedLine WordNumbers::find(std::string_view line) const {
  return numbered(line, [this](std::string_view part) {
    const auto found = ids_.find(part);
    return found == ids_.end() ? kUnknownWord : found->second;
  });
}

}  // namespace dragoman
