#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "app/commands/json_requests.h"
#include "tests/fuzz/read_or_refused.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  dragoman::JsonRequests requests([](const dragoman::TranslationRequest&) { return nullptr; }, {},
                                  {});
  requests.read({reinterpret_cast<const char*>(bytes), size});
  const std::string answer = requests.answer({.line = 0, .n_best = {{.text = "one"}}}).text;
  if (!nlohmann::json::accept(answer) || answer.find('\n') != std::string::npos) std::abort();
  return 0;
}
