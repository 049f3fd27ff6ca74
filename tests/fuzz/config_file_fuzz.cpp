#include <cstddef>
#include <cstdint>

#include "app/frame/config_file.h"
#include "tests/fuzz/read_or_refused.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  dragoman::read_or_refused([&] {
    dragoman::parse_config({reinterpret_cast<const char*>(bytes), size}, "config.toml");
  });
  return 0;
}
