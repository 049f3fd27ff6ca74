#include "formats/exported_search.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/fields.h"
#include "base/joined.h"

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
        assign_text(field, text->second);
    check_range("beam-size", static_cast<double>(settings.beam_size), 1);
    check_range("length-penalty", settings.length_penalty, 0);
    check_range("repetition-penalty", settings.repetition_penalty, 0.01);
    check_range("min-length", static_cast<double>(settings.min_length), 0);
    check_range("no-repeat-ngram-size", static_cast<double>(settings.no_repeat_ngram_size), 0);
    check_range("max-length", static_cast<double>(settings.max_length), 0);
    check_range("max-length-ratio", settings.max_length_ratio, 0);
  } catch (const UsageError& error) {  // of the model file, not of the command line
    throw Error("the model's search settings: ", error.what());
  }
  return settings;
}

std::vector<std::string> unheld_settings(const DecodeDefaults& defaults,
                                         const FormatSearch& format) {
  ExportedSearch asked = exported_search(defaults), usual;
  const std::vector<Field> fields = fields_of(asked), usual_fields = fields_of(usual);
  std::vector<std::string> unheld;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string name(fields[i].info.name), text = fields[i].text();
    if (!defaults.contains(name)) continue;
    const bool is_stop = name == "stop";
    const auto& held = is_stop ? format.stops : format.flags;
    if (std::ranges::find(held, is_stop ? text : name) != held.end()) continue;
    if (is_stop || text != usual_fields[i].text())
      unheld.push_back(join_text("--", name, " ", text));
  }
  return unheld;
}

void check_unheld(const std::vector<std::string>& settings, const FormatSearch& format,
                  Unheld unheld) {
  if (settings.empty() || unheld == Unheld::LeftOut) return;
  throw Error("the model's search settings: ", format.system, " has no ", joined(settings, ", "),
              "; --drop-search exports the model without such settings");
}

}  // namespace dragoman
