#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/file/model_file.h"
#include "tests/fuzz/read_or_refused.h"

namespace {

volatile unsigned long sink;

void touch(const dragoman::TensorData& tensor) {
  unsigned long sum = 0;
  for (const char c : tensor.raw()) sum += static_cast<unsigned char>(c);
  sink = sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const dragoman::MemoryFile file({reinterpret_cast<const char*>(bytes), size});
  dragoman::read_or_refused([&] {
    const dragoman::SafetensorsFile read(file.path());
    for (const dragoman::TensorData& tensor : read.tensors()) touch(tensor);
  });
  dragoman::read_or_refused([&] {
    const dragoman::ModelFileReader model(file.path());
    for (const std::string& name : model.names()) touch(model.tensor(name));
  });
  return 0;
}
