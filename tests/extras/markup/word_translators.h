// Translators whose alignment is known.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "extras/markup/document.h"

namespace dragoman {

/// The words in the other order.
inline AlignedText reversed(std::string_view text) {
  const std::vector<ByteRange> words = words_between_spaces(text);
  AlignedText translation;
  for (std::size_t w = words.size(); w-- > 0;) {
    if (!translation.text.empty()) translation.text += ' ';
    const std::size_t begin = translation.text.size();
    translation.text += words[w].of(text);
    translation.words.push_back({.place = {begin, translation.text.size()}, .links = {{w, 1}}});
  }
  return translation;
}

/// Each word is its own translation.
inline AlignedText in_order(std::string_view text) {
  AlignedText translation{.text = std::string(text)};
  for (const ByteRange& word : words_between_spaces(text))
    translation.words.push_back({.place = word, .links = {{translation.words.size(), 1}}});
  return translation;
}

/// Other words in any number, each linked to any words of the source, with any weights.
inline AlignedText random_translation(std::string_view text, RandomStream& random) {
  const std::size_t words = words_between_spaces(text).size();
  static const std::vector<std::string> kWords = {"eins", "(zwei)", "drei,",  "&",
                                                  "a<b",  "\"x\"",  "\u00E9."};
  AlignedText translation;
  for (std::size_t n = random.below(2 * words + 2); n-- > 0;) {
    if (!translation.text.empty()) translation.text += ' ';
    const std::size_t begin = translation.text.size();
    translation.text += random.choice(kWords);
    AlignedWord word{.place = {begin, translation.text.size()}, .links = {}};
    for (std::size_t s = 0; s < words; ++s)
      if (random.chance(0.3)) word.links.push_back({s, random.uniform()});
    if (random.chance(0.9)) translation.words.push_back(std::move(word));
  }
  return translation;
}

template <class Translate>
std::string translated(const MarkupDocument& document, Translate&& translate) {
  std::vector<AlignedText> translations;
  for (const Passage& passage : document.passages) translations.push_back(translate(passage.text));
  return translated_document(document, translations).bytes;
}

}  // namespace dragoman
