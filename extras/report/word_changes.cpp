#include "extras/report/word_changes.h"

#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "base/utf8.h"
#include "base/word_characters.h"
#include "extras/report/html.h"

namespace dragoman {

namespace {

struct Word {
  std::string_view word, with_space;
};

/// A vowel or tone sign that belongs to the letter before it.
bool is_mark(char32_t c) { return general_category(c).front() == 'M'; }

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  std::size_t begin = 0, end = 0;  // the current word; equal: none
  bool closed = true;              // no character may be added to the last word
  for (std::size_t next = 0; next < text.size();) {
    const std::size_t at = next;
    const char32_t c = next_code_point(text, next);
    if (is_space(c)) {
      closed = true;
    } else {
      const bool goes_on = is_mark(c) && end == at && !words.empty();
      if (!goes_on && (closed || is_unspaced(c))) {
        begin = at;
        words.push_back({});
      }
      end = next;
      closed = goes_on ? closed : is_unspaced(c);
    }
    if (words.empty()) continue;  // white space at the start belongs to no word
    words.back() = {text.substr(begin, end - begin), text.substr(begin, next - begin)};
  }
  return words;
}

/// [a + 1][b + 1]: the length of the longest common subsequence of a's words from i and b's from j.
std::vector<std::uint32_t> common_lengths(const std::vector<Word>& a, const std::vector<Word>& b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::uint32_t> lengths((a.size() + 1) * width);
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      lengths[i * width + j] = a[i].word == b[j].word ? lengths[(i + 1) * width + j + 1] + 1
                                                      : std::max(lengths[(i + 1) * width + j],
                                                                 lengths[i * width + j + 1]);
  return lengths;
}

}  // namespace

std::vector<WordRun> word_changes(std::string_view before, std::string_view now) {
  const std::vector<Word> old_words = words_of(before), words = words_of(now);
  const auto lengths = common_lengths(old_words, words);
  const std::size_t width = words.size() + 1;
  std::vector<WordRun> runs;
  std::size_t i = 0;
  for (std::size_t j = 0; j < words.size(); ++j) {
    const std::uint32_t common = lengths[i * width + j];
    // Skips old words as long as no common word is lost.
    while (i < old_words.size() && old_words[i].word != words[j].word &&
           lengths[(i + 1) * width + j] == common)
      ++i;
    const bool kept = i < old_words.size() && old_words[i].word == words[j].word;
    if (kept) ++i;
    if (runs.empty() || runs.back().changed == kept) runs.push_back({.text = "", .changed = !kept});
    runs.back().text += words[j].with_space;
  }
  return runs;
}

std::string marked_changes(std::string_view before, std::string_view now) {
  std::string html;
  for (const WordRun& run : word_changes(before, now)) {
    const std::string_view words = strip(run.text);
    if (run.changed)
      html += join_text("<mark>", escaped(words), "</mark>", run.text.substr(words.size()));
    else
      html += escaped(run.text);
  }
  return html;
}

}  // namespace dragoman
