// Translators whose alignment is known.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/utf8.h"
#include "extras/markup/document.h"

namespace dragoman {

/// The words in reverse order.
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

/// Pieces that formats read as their own, in any number and order, with any links.
inline AlignedText adversarial_translation(std::string_view text, RandomStream& random) {
  static const std::vector<std::string> kPieces = {"**",     "*",    "_",      "`",
                                                   "```",    "~~",   "</p>",   "<b>",
                                                   "</i>",   "|",    "|-|",    "%d",
                                                   "%s",     "%",    "{0}",    "{",
                                                   "}",      "{{",   "{%",     "%}",
                                                   "$",      "$$",   "\\",     "\"",
                                                   "-->",    "[",    "](",     "]",
                                                   "[^1]",   "#",    "---",    "===",
                                                   "1.",     "- ",   "> ",     ":::",
                                                   ":",      "&",    "&amp;",  "<!--",
                                                   "WEBVTT", "NOTE", "\u266A", "00:00:01,000",
                                                   "eins",   "zwei"};
  const std::size_t words = words_between_spaces(text).size();
  AlignedText translation;
  for (std::size_t n = random.below(2 * words + 2); n-- > 0;) {
    if (!translation.text.empty() && random.chance(0.7)) translation.text += ' ';
    const std::size_t begin = translation.text.size();
    translation.text += random.choice(kPieces);
    AlignedWord word{.place = {begin, translation.text.size()}, .links = {}};
    if (words > 0) word.links.push_back({random.below(words), 1});
    if (random.chance(0.9)) translation.words.push_back(std::move(word));
  }
  translation.text = strip(translation.text);
  for (AlignedWord& word : translation.words)
    word.place.end = std::min(word.place.end, translation.text.size());
  return translation;
}

inline std::vector<std::string> texts_of(const MarkupDocument& document) {
  std::vector<std::string> texts;
  for (const Passage& passage : document.passages) texts.push_back(passage.text);
  return texts;
}

template <class Translate>
std::string translated(const MarkupDocument& document, Translate&& translate) {
  std::vector<AlignedText> translations;
  for (const Passage& passage : document.passages) translations.push_back(translate(passage.text));
  return translated_document(document, translations).bytes;
}

}  // namespace dragoman
