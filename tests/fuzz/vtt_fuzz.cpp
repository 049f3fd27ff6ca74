#include "tests/fuzz/translate_markup.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  dragoman::translate_markup(dragoman::MarkupFormat::Vtt, bytes, size);
  return 0;
}
