#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "app/commands/json_requests.h"
#include "tests/fuzz/read_or_refused.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  dragoman::JsonRequests requests([](const dragoman::TranslationRequest&) { return nullptr; }, {},
                                  {});
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  requests.read(std::string(text.substr(0, text.find('\n'))));  // a request is a line
  const std::string answer = requests.answer({.line = 0, .n_best = {{.text = "one"}}}).text;
  if (answer.find('\n') != std::string::npos) std::abort();
  try {
    [[maybe_unused]] const auto parsed = nlohmann::json::parse(answer);
  } catch (const nlohmann::json::out_of_range&) {  // a member that is passed on: 1e999 is JSON
  }
  return 0;
}
