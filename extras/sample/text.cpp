#include "extras/sample/text.h"

namespace dragoman {
namespace {

void capitalise(std::string& text) {
  if (text.empty()) return;
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  // ä, ö, ü are C3 A4, C3 B6, C3 BC; the capitals lie 0x20 below.
  if (text[0] == '\xC3') text[1] = static_cast<char>(text[1] & ~0x20);
}

}  // namespace

std::string join_words(std::initializer_list<std::string_view> words) {
  std::string text;
  for (std::string_view word : words) {
    if (word.empty()) continue;
    if (!text.empty()) text += ' ';
    text += word;
  }
  return text;
}

std::string sentence_of(std::string_view words, char closing_mark) {
  std::string text;
  for (char letter : words) {
    if (letter == ',') {
      while (!text.empty() && text.back() == ' ') text.pop_back();
      if (!text.empty() && text.back() == ',') continue;
    }
    text += letter;
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == ',')) text.pop_back();
  capitalise(text);
  const bool closed = closing_mark == '.' && text.ends_with(closing_mark);  // "5 a.m."
  return closed ? text : text + closing_mark;
}

}  // namespace dragoman
