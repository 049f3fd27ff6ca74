#include "inference/decode_defaults.h"

#include <string>

#include "base/fields.h"

namespace dragoman {

void take_decode_defaults(DecodeConfig& config, const DecodeDefaults& defaults,
                          const std::function<bool(std::string_view)>& is_given) {
  for (const Field& field : fields_of(config)) {
    const auto value = defaults.find(std::string(field.info.name));
    if (value != defaults.end() && !is_given(field.info.name)) assign_text(field, value->second);
  }
}

}  // namespace dragoman
