#include "extras/sample/english.h"

namespace dragoman {

std::string with_indefinite_article(std::string_view words) {
  const bool vowel = std::string_view("aeiou").find(words.front()) != std::string_view::npos;
  return std::string(vowel ? "an " : "a ").append(words);
}

std::string third_person(std::string_view base) {
  if (base == "have") return "has";
  std::string word(base);
  const char last = word.back(), before = word[word.size() - 2];
  if (last == 'y' && std::string_view("aeiou").find(before) == std::string_view::npos) {
    word.pop_back();
    return word + "ies";
  }
  const bool hiss = last == 's' || last == 'x' || last == 'o' ||
                    (last == 'h' && (before == 's' || before == 'c'));
  return word + (hiss ? "es" : "s");
}

std::string present_of_be(Agreement subject) {
  if (subject == Agreement::FirstSingular) return "am";
  return subject == Agreement::ThirdSingular ? "is" : "are";
}

std::string past_of_be(Agreement subject) {
  const bool singular = subject == Agreement::FirstSingular || subject == Agreement::ThirdSingular;
  return singular ? "was" : "were";
}

}  // namespace dragoman
