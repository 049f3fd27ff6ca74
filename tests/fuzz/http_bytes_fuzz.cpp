// The bytes of a connection: heads, bodies and what is left for the next request. A head that is
// taken has none of the bytes that programs read in two ways.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "extras/server/request_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string received(reinterpret_cast<const char*>(bytes), size);
  while (const std::size_t head = dragoman::head_size(received)) {
    dragoman::RequestParser parser;
    const bool is_refused = parser.read_head(received.substr(0, head)).has_value();
    if (is_refused) break;
    for (const auto& [name, value] : parser.request.headers)
      if ((name + value).find_first_of(std::string("\0\r\n", 3)) != std::string::npos) std::abort();
    received.erase(0, head);
    // In two parts, as they may come.
    std::string rest = received.substr(received.size() / 2);
    received.resize(received.size() / 2);
    if (!parser.is_done() && parser.read_body(received)) break;
    received += rest;
    if (!parser.is_done() && (parser.read_body(received) || !parser.is_done())) break;
  }
  return 0;
}
