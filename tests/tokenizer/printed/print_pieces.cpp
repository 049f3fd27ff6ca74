// Prints the numbers of the pieces of each line of standard input, for hf_marian.py.
//
// Usage: print_pieces TOKENIZER
#include <iostream>
#include <string>

#include "base/error.h"
#include "tokenizer/tokenizer.h"

int main(int count, char** words) {
  if (count != 2) return 2;
  try {
    const dragoman::Tokenizer tokenizer = dragoman::Tokenizer::from_file(words[1]);
    for (std::string line; std::getline(std::cin, line);) {
      for (const dragoman::TokenId id : tokenizer.encode(line)) std::cout << id << ' ';
      std::cout << '\n';
    }
  } catch (const dragoman::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
