// translate MODEL [OPTION...]: translates the lines of the standard input, as in: translate run/
// beam-size=1
#include <dragoman/translator.h>

#include <exception>
#include <iostream>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: translate MODEL [OPTION...]\n";
    return 2;
  }
  try {
    const dragoman::Translator translator(argv[1], {"threads=2"});
    std::vector<std::string> lines;
    for (std::string line; std::getline(std::cin, line);) lines.push_back(line);
    for (const dragoman::Translator::Result& result :
         translator.translate(lines, {argv + 2, argv + argc}))
      std::cout << result.text() << '\n';
  } catch (const std::exception& error) {
    std::cerr << "translate: " << error.what() << '\n';
    return 1;
  }
}
