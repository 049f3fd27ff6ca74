#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/read_or_refused.h"
#include "tokenizer/sentencepiece_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view model(reinterpret_cast<const char*>(bytes), size);
  dragoman::read_or_refused([&] { dragoman::tokenizer_facts(model, "spiece.model"); });
  static const std::vector<std::string> pieces = {"<unk>", "</s>", "a", ">>fra<<"};
  dragoman::read_or_refused([&] {
    dragoman::tokenizer_facts(dragoman::renumbered_tokenizer(model, pieces, "spiece.model"),
                              "renumbered");
  });
  return 0;
}
