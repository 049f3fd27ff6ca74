// Prints the sentences of each line of standard input, one on a line, and a blank line after each
// line's sentences. For bench/compare_sentence_ends.
#include <iostream>
#include <string>

#include "tokenizer/sentence_splitter.h"

int main() {
  for (std::string line; std::getline(std::cin, line); std::cout << '\n')
    for (const std::string_view sentence : dragoman::split_sentences(line))
      std::cout << sentence << '\n';
}
