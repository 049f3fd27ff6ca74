#include "formats/exported_search.h"

#include <limits>

#include "base/error.h"
#include "base/fields.h"

namespace dragoman {

namespace {

/// Other systems hold whole numbers in 32 bits.
void check_range(const char* name, double value, double least) {
  constexpr double kMost = std::numeric_limits<std::int32_t>::max() - 1.0;
  if (value < least || value > kMost) throw UsageError("--", name, ": cannot be ", value);
}

}  // namespace

ExportedSearch exported_search(const DecodeDefaults& defaults) {
  ExportedSearch settings;
  try {
    for (const Field& field : fields_of(settings))
      if (const auto text = defaults.find(std::string(field.info.name)); text != defaults.end())
        field.assign({text->second});
    check_range("beam-size", static_cast<double>(settings.beam_size), 1);
    check_range("length-penalty", settings.length_penalty, 0);
    check_range("no-repeat-ngram-size", static_cast<double>(settings.no_repeat_ngram_size), 0);
    check_range("max-length", static_cast<double>(settings.max_length), 0);
    check_range("max-length-ratio", settings.max_length_ratio, 0);
  } catch (const UsageError& error) {  // of the model file, not of the command line
    throw Error("the model's search settings: ", error.what());
  }
  return settings;
}

}  // namespace dragoman
