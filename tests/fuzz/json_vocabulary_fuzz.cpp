#include <cstddef>
#include <cstdint>

#include "tests/extras/formats/exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  dragoman::exercise_json_vocabulary({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
