// What a model file says about its model, and the sizes that follow from it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/file/model_config.h"
#include "model/file/model_file.h"
#include "tests/fuzz/read_or_refused.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  dragoman::read_or_refused([&] { dragoman::provenance_from_json(text); });
  dragoman::read_or_refused([&] {
    const dragoman::ModelConfig config = dragoman::model_config_from_json(text);
    if (dragoman::parameter_shapes(config).empty()) std::abort();
  });
  return 0;
}
