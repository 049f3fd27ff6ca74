// Marian's decoder.yml.
#include <cstddef>
#include <cstdint>

#include "extras/formats/foreign_options.h"
#include "tests/fuzz/read_or_refused.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  dragoman::read_or_refused([&] {
    const dragoman::ForeignOptions options =
        dragoman::yaml_options("decoder.yml", {reinterpret_cast<const char*>(bytes), size});
    for (const char* name : {"models", "vocabs", "beam-size", "normalize", "skip"}) {
      dragoman::read_or_refused([&] { options.text(name, ""); });
      dragoman::read_or_refused([&] { options.number(name, 0); });
      dragoman::read_or_refused([&] { options.integer(name, 0); });
      dragoman::read_or_refused([&] { options.flag(name, false); });
      dragoman::read_or_refused([&] { options.list(name); });
    }
  });
  return 0;
}
