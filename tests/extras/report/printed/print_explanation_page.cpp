// Writes the page of an explanation: print_explanation_page EXPLANATION.json > PAGE.html
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "extras/report/translation_pages.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::string json(std::istreambuf_iterator<char>(file), {});
  std::cout << dragoman::explanation_page(json);
  return file.bad() || json.empty() ? 1 : 0;
}
