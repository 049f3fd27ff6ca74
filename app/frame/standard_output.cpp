#include "app/frame/standard_output.h"

#include <unistd.h>

#include <iostream>
#include <streambuf>

#include "base/line_stream.h"

namespace dragoman {

namespace {

class StandardOutput : public std::streambuf {
 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    writer_.write({text, static_cast<std::size_t>(size)});
    return size;
  }
  int_type overflow(int_type c) override {
    if (c == traits_type::eof()) return 0;
    const char byte = traits_type::to_char_type(c);
    writer_.write({&byte, 1});
    return c;
  }
  int sync() override {
    writer_.flush();
    return 0;
  }

 private:
  LineWriter writer_{STDOUT_FILENO, "standard output"};
};

}  // namespace

void install_standard_output() {
  // Never destroyed: std::cout is flushed after main's static objects have gone.
  static auto* const buffer = new StandardOutput;
  std::cout.rdbuf(buffer);
  std::cout.exceptions(std::ios::badbit);  // rethrows exceptions of the buffer
}

}  // namespace dragoman
