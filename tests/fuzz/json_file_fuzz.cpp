#include <cstddef>
#include <cstdint>

#include "extras/formats/foreign_options.h"
#include "tests/fuzz/read_or_refused.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const dragoman::MemoryFile file({reinterpret_cast<const char*>(bytes), size});
  dragoman::read_or_refused([&] {
    const dragoman::ForeignOptions json = dragoman::json_options(file.path());
    for (const char* name : {"d_model", "vocab_size", "architectures"}) {
      json.has(name);
      dragoman::read_or_refused([&] { json.integer(name, 0); });
      dragoman::read_or_refused([&] { json.number(name, 0); });
      dragoman::read_or_refused([&] { json.flag(name, false); });
      dragoman::read_or_refused([&] { json.text(name, ""); });
    }
  });
  return 0;
}
