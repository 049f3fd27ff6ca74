#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "app/commands/json_requests.h"
#include "tests/fuzz/read_or_refused.h"

namespace {

/// The answer has members of the request as they were. JSON's grammar allows numbers beyond fp64,
/// and halves of surrogate pairs as escapes; nlohmann::json takes neither.
void require_json(std::string answer) {
  for (std::size_t at = 0; (at = answer.find("\\u", at)) != std::string::npos; at += 2)
    if (at + 2 < answer.size() && (answer[at + 2] | 0x20) == 'd') answer[at + 2] = '0';
  try {
    [[maybe_unused]] const auto parsed = nlohmann::json::parse(answer);
  } catch (const nlohmann::json::out_of_range&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  dragoman::JsonRequests requests([](const dragoman::TranslationRequest&) { return nullptr; }, {},
                                  {});
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  requests.read(std::string(text.substr(0, text.find('\n'))));  // a request is a line
  const std::string answer = requests.answer({.line = 0, .n_best = {{.text = "one"}}}).text;
  if (answer.find('\n') != std::string::npos) std::abort();
  require_json(answer);
  return 0;
}
